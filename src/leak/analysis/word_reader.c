/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Single words of memory (word_reader.h). */
#include "src/leak/analysis/word_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/analysis/backlinks.h"
#include "src/proc/proc.h"

#define PAGE	     PROC_PAGE_BYTES
#define WORD	     sizeof(uint64_t)
#define VTABLE_WORDS 21u /* read to find two functions: as many as memcheck reads */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* As below, by the program's library. */
static size_t words_lent(struct leak_word_reader *h, struct leak_word *w, size_t count)
{
	struct leak_space *s = h->space;
	uint64_t *values = h->value;
	size_t n = count < LEAK_WORD_READER_WORDS ? count : LEAK_WORD_READER_WORDS, done;
	ssize_t got;

	for (size_t i = 0; i < n; i++)
		values[i] = w[i].addr;
	got = read_coop_request(s->lent, s->server, HT_COOP_WORDS, 0, values, n * WORD);
	done = got > 0 ? (size_t)got / WORD : 0;
	for (size_t i = 0; i < done; i++) {
		w[i].value = values[i];
		w[i].ok = true;
	}
	return done;
}

/* Reads as many words as one call can. Returns how many. */
static size_t words_read(struct leak_word_reader *h, struct leak_word *w, size_t count)
{
	size_t n = count < LEAK_WORD_READER_WORDS ? count : LEAK_WORD_READER_WORDS, done;
	ssize_t got;

	for (size_t i = 0; i < n; i++) {
		h->here[i] = (struct iovec){ &h->value[i], WORD };
		h->there[i] = (struct iovec){ (void *)(uintptr_t)w[i].addr, WORD };
	}
	got = process_vm_readv(h->space->pid, h->here, n, h->there, n, 0);
	done = got > 0 ? (size_t)got / WORD : 0;
	for (size_t i = 0; i < done; i++) {
		w[i].value = h->value[i];
		w[i].ok = true;
	}
	return done;
}

/* Reads the words on the first one's page, from the lowest to the highest: a call for each word
 * takes long. Returns how many. */
static size_t words_of_page(struct leak_space *s, struct leak_word *w, size_t count)
{
	uint64_t page = w->addr & ~(uint64_t)(PAGE - 1), low = w->addr, end = low + WORD;
	uint64_t words[PAGE / WORD + 1]; /* an unaligned one may reach over */
	size_t n = 1;
	ssize_t got;

	for (; n < count && w[n].addr - page <= PAGE - WORD && w[n].addr % WORD == low % WORD;
		n++) {
		low = least(low, w[n].addr);
		end = w[n].addr + WORD > end ? w[n].addr + WORD : end;
	}
	got = leak_space_read(s, low, words, end - low, true);
	for (size_t i = 0; i < n; i++) {
		w[i].ok = (ssize_t)(w[i].addr + WORD - low) <= got;
		if (w[i].ok)
			w[i].value = words[(w[i].addr - low) / WORD];
	}
	return n;
}

/* How many from the first on may be read: untouched pages may not. */
static size_t words_readable(struct leak_space *s, const struct leak_word *w, size_t count)
{
	size_t n = 0;

	while (n < count && !leak_space_is_untouched(s, w[n].addr) &&
		!leak_space_is_untouched(s, w[n].addr + WORD - 1))
		n++;
	return n;
}

/* Reads as many as one call can, by the way that fits the memory. */
static size_t words_get(struct leak_word_reader *h, struct leak_word *w, size_t count)
{
	if (count == 0)
		return 0;
	if (h->space->lent)
		return words_lent(h, w, count);
	return h->space->core || h->space->pinless || leak_space_has_shared(h->space)
		       ? words_of_page(h->space, w, count)
		       : words_read(h, w, count);
}

static void memory_read(void *ctx, struct leak_word *w, size_t count)
{
	struct leak_space *s = ((struct leak_word_reader *)ctx)->space;
	size_t there = 0; /* how many of the next words may be read */

	while (count > 0 && !leak_space_cancelled(s)) {
		size_t done;

		if (there == 0)
			there = words_readable(s, w, count);
		done = words_get(ctx, w, there);
		there -= done;
		if (done == 0) { /* untouched, or unreadable */
			w->ok = leak_space_word(s, w->addr, &w->value);
			done = 1;
			there -= there > 0;
		}
		w += done;
		count -= done;
	}
}

static bool is_function(const struct leak_space *s, uint64_t addr)
{
	const struct leak_map *m = leak_space_map(s, addr);

	return m && m->inode != 0 && m->executable;
}

/* A vtable lies in a file's mapping: two pointers to code, with nothing but such pointers and zeros
 * before them. */
static bool vtable_check(struct leak_space *s, uint64_t addr)
{
	const struct leak_map *m = leak_space_map(s, addr);
	uint64_t words[VTABLE_WORDS];
	unsigned functions = 0;
	ssize_t got;

	if (!m || m->inode == 0 || !m->readable)
		return false;
	got = leak_space_read(
		s, addr, words, least(sizeof(words), m->end - addr), leak_space_has_shared(s));
	for (ssize_t i = 0; i < got / (ssize_t)WORD && functions < 2; i++) {
		if (words[i] == 0)
			continue;
		if (!is_function(s, words[i]))
			return false;
		functions++;
	}
	return functions == 2;
}

static bool memory_is_vtable(void *ctx, uint64_t addr)
{
	struct leak_word_reader *h = ctx;
	size_t slot = addr / WORD % LEAK_WORD_READER_TABLES;

	if (h->table[slot] != addr) {
		h->is_table[slot] = vtable_check(h->space, addr);
		h->table[slot] = addr;
	}
	return h->is_table[slot];
}

static bool memory_is_function(void *ctx, uint64_t addr)
{
	return is_function(((struct leak_word_reader *)ctx)->space, addr);
}

struct leak_memory leak_word_reader_memory(struct leak_word_reader *h, struct leak_space *s)
{
	memset(h, 0, sizeof(*h));
	h->space = s;
	return (struct leak_memory){ h, memory_read, memory_is_vtable, memory_is_function };
}

int leak_word_reader_explain(struct leak_graph *g, struct leak_space *s)
{
	struct leak_word_reader *h = malloc(sizeof(*h));
	struct leak_memory memory;

	if (!h)
		return -ENOMEM;
	memory = leak_word_reader_memory(h, s);
	leak_graph_explain(g, &memory);
	leak_backlinks_explain(g, &memory);
	free(h);
	return 0;
}
