/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread's own data (tls.h), as glibc and the ABI of x86-64 lay them out. */
#include "src/leak/analysis/tls.h"

/* ELF Handling For Thread-Local Storage, variant II: the variables end at the thread pointer, where
 * struct pthread begins: {itself, dtv, itself, ...}. */
#define WORD	     sizeof(uint64_t)
#define THREAD_BYTES 2304u /* size of struct pthread, glibc 2.17 to 2.41 */
/* The dtv has two words for each object, first the address of its variables; before entry 0 is the
 * number of entries. A program hardly has more. */
#define ENTRY_BYTES (2 * WORD)
#define ENTRIES_MAX 4096u

struct search {
	uint64_t dtv; /* address of its first entry */
	uint64_t start; /* start of the thread's mapping */
	uint64_t lowest;
};

static void dtv_visit(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
	struct search *s = ctx;

	for (size_t i = 0; i < count; i++)
		if ((addr + i * WORD - s->dtv) % ENTRY_BYTES == 0 && words[i] >= s->start &&
			words[i] < s->lowest)
			s->lowest = words[i];
}

/* Objects that were loaded later have blocks of their own, in other mappings. */
static uint64_t lowest_variable(struct leak_space *s, const struct leak_map *m, uint64_t pointer)
{
	struct search search = { .start = m->start, .lowest = pointer };
	uint64_t dtv, count;

	if (!leak_space_word(s, pointer + WORD, &dtv) ||
		!leak_space_word(s, dtv - ENTRY_BYTES, &count) || count > ENTRIES_MAX)
		return pointer;
	search.dtv = dtv + ENTRY_BYTES;
	leak_space_stream(s, search.dtv, search.dtv + count * ENTRY_BYTES, dtv_visit, &search);
	return search.lowest & ~(uint64_t)(WORD - 1);
}

struct leak_range leak_tls_of(struct leak_space *s, uint64_t thread_pointer)
{
	const struct leak_map *m = thread_pointer ? leak_space_map(s, thread_pointer) : NULL;
	uint64_t self, again, end = thread_pointer + THREAD_BYTES;

	if (!m || !leak_space_word(s, thread_pointer, &self) || self != thread_pointer ||
		!leak_space_word(s, thread_pointer + 2 * WORD, &again) || again != thread_pointer)
		return (struct leak_range){ 0, 0 };
	return (struct leak_range){ lowest_variable(s, m, thread_pointer),
		end < m->end ? end : m->end };
}
