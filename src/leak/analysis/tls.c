/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread's own data (tls.h), as glibc and the ABI of the architecture lay them out. */
#include "src/leak/analysis/tls.h"

#define THREAD_BYTES 2304u /* size of struct pthread, glibc 2.17 to 2.41, at most */
#define WORD	     sizeof(uint64_t)
/* The dtv has two words for each object, first the address of its variables; before entry 0 is the
 * number of entries. A program hardly has more. */
#define ENTRY_BYTES (2 * WORD)
#define ENTRIES_MAX 4096u

struct search {
	uint64_t dtv; /* address of its first entry */
	uint64_t start, end; /* of the thread's mapping */
	uint64_t lowest, highest; /* variables there */
};

static void dtv_visit(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
	struct search *s = ctx;

	for (size_t i = 0; i < count; i++)
		if ((addr + i * WORD - s->dtv) % ENTRY_BYTES == 0 && words[i] >= s->start &&
			words[i] < s->end) {
			s->lowest = words[i] < s->lowest ? words[i] : s->lowest;
			s->highest = words[i] > s->highest ? words[i] : s->highest;
		}
}

/* Searches the dtv whose address the word at `at` has. Objects that were loaded later have blocks
 * of their own, in other mappings. False: there is no dtv. */
static bool dtv_search(
	struct leak_space *s, const struct leak_map *m, uint64_t at, struct search *out)
{
	uint64_t dtv, count;

	out->start = m->start;
	out->end = m->end;
	if (!leak_space_word(s, at, &dtv) || !leak_space_word(s, dtv - ENTRY_BYTES, &count) ||
		count > ENTRIES_MAX)
		return false;
	out->dtv = dtv + ENTRY_BYTES;
	leak_space_stream(s, out->dtv, out->dtv + count * ENTRY_BYTES, dtv_visit, out);
	return true;
}

#ifdef __aarch64__

#define LAST_BYTES 4096u /* of the variables of the last object: their end is nowhere */

/* ELF Handling For Thread-Local Storage, variant I: at the thread pointer are {dtv, unused}, then
 * the variables; struct pthread ends there. */
struct leak_range leak_tls_of(struct leak_space *s, uint64_t thread_pointer)
{
	const struct leak_map *m = thread_pointer ? leak_space_map(s, thread_pointer) : NULL;
	struct search search = { .lowest = thread_pointer, .highest = thread_pointer };
	uint64_t start = thread_pointer - THREAD_BYTES, end;

	if (!m || !dtv_search(s, m, thread_pointer, &search))
		return (struct leak_range){ 0, 0 };
	end = search.highest + LAST_BYTES;
	return (struct leak_range){ start > m->start ? start : m->start,
		end < m->end ? end : m->end };
}

#else

/* Variant II: the variables end at the thread pointer, where struct pthread begins: {itself, dtv,
 * itself, ...}. */
struct leak_range leak_tls_of(struct leak_space *s, uint64_t thread_pointer)
{
	const struct leak_map *m = thread_pointer ? leak_space_map(s, thread_pointer) : NULL;
	struct search search = { .lowest = thread_pointer };
	uint64_t self, again, end = thread_pointer + THREAD_BYTES;

	if (!m || !leak_space_word(s, thread_pointer, &self) || self != thread_pointer ||
		!leak_space_word(s, thread_pointer + 2 * WORD, &again) || again != thread_pointer)
		return (struct leak_range){ 0, 0 };
	(void)dtv_search(s, m, thread_pointer + WORD, &search);
	return (struct leak_range){ search.lowest & ~(uint64_t)(WORD - 1),
		end < m->end ? end : m->end };
}

#endif
