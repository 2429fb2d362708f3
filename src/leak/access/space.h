/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory of another process, which stands still: its mappings, and their words. Only pages that
 * are there are read, so that none comes into being by it, nor do page tables for one, nor does one
 * that it shares with another process since a fork come to be there twice; and only what the
 * process itself may read. Of shared mappings the rest is read from their files (backing.h). One
 * thread.
 */
#ifndef SRC_LEAK_ACCESS_SPACE_H
#define SRC_LEAK_ACCESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/leak/access/mapped_file.h"
#include "src/leak/access/pages.h"
#include "src/leak/access/map.h"
#include "src/leak/access/progress.h"
#include "src/leak/access/words.h"
#include "src/proc/proc.h"
#include "src/read/cooperation.h"

#define LEAK_BUFFER_BYTES (1u << 20) /* fits the second cache; larger reads gain nothing */

/* Pages that were read before the process went on. */
struct leak_piece {
	uint64_t start, end;
	uint64_t *words;
};

/* Mappings of a process that a copy of it would have empty (madvise(2): MADV_WIPEONFORK). */
struct leak_wiped {
	uint64_t *start; /* of each */
	size_t count;
	const char
		*unfit; /* why there must be no copy for its mappings' sake; NULL: none; static */
};

struct leak_space {
	pid_t pid;
	int pagemap; /* -1: which pages are there is not known */
	bool by_file; /* leak_space_by_file */
	bool has_mem; /* /proc/PID/mem may be read */
	int mem; /* then */
	bool shared_seen; /* it has pages that it shares with others since a fork */
	bool seekless; /* the kernel cannot tell where the next page is: each is looked at */
	struct leak_holes *holes; /* leak_space_still; NULL: nothing is remembered */
	struct read_coop *lent; /* leak_space_open_lent */
	enum ht_coop_server server;
	struct leak_map *map;
	size_t maps;
	uint64_t last_start, last_end; /* the mapping that leak_space_first looked up last */
	enum leak_word_kind last_first;
	char *text; /* paths point into it */
	uint64_t *buffer;
	uint64_t scanned_bytes; /* read so far */
	uint64_t unread_bytes; /* of those that should have been */
	uint64_t absent_bytes; /* the same, of shared mappings where it has no page */
	struct leak_mapped_file backing;
	bool is_copy; /* leak_space_copied */
	struct leak_piece *piece; /* by address */
	size_t pieces, piece_capacity;
	uint64_t kept_bytes;
	struct leak_progress *progress; /* told of what is read; NULL: nobody waits */
};

/* Reads the mappings. 0 or -errno. */
int leak_space_open(struct leak_space *s, pid_t pid);
/*
 * From now on words come from /proc/PID/mem, which takes the same rights, but no system call that a
 * sandbox may kill for. Of memory that the process may read itself.
 */
void leak_space_by_file(struct leak_space *s);
/* From now on none of its pages comes or goes, so that what is seen of them can be remembered. */
void leak_space_freeze(struct leak_space *s);
void leak_space_close(struct leak_space *s);
/* The same of a process that is asked for it, or of its copy. */
int leak_space_open_lent(struct leak_space *s, struct read_coop *coop, enum ht_coop_server server);
/*
 * Another reader of the same memory, for one more thread, while `of` is not closed: what it has
 * read is added to `of` when it is joined, which frees it. Not of one that is asked. 0 or -ENOMEM.
 */
int leak_space_share(struct leak_space *s, const struct leak_space *of);
void leak_space_join(struct leak_space *s, struct leak_space *of);
/* Takes as long as it takes to walk all page tables: not while the process stands still. 0 or
 * -errno. */
int leak_space_wiped(struct leak_wiped *w, pid_t pid);
void leak_space_wiped_free(struct leak_wiped *w);
/*
 * Of a process of which `copy` is a copy: reads mappings that are shared with the program, or that
 * a copy does not have, or has empty, and of which `wanted` is true, and keeps their words. 0 or
 * -errno; -E2BIG: that would be more than `most` bytes.
 */
struct leak_keep {
	bool (*wanted)(const struct leak_map *m);
	const struct leak_wiped *wiped;
	uint64_t most;
};
int leak_space_keep(
	struct leak_space *s, const struct leak_space *copy, const struct leak_keep *keep);
/* From now on all other words come from the copy, which has the same mappings. */
void leak_space_become(struct leak_space *s, struct leak_space *copy);
/* All this for a copy that is read like the process itself. */
int leak_space_copied(struct leak_space *s, pid_t copy, bool (*wanted)(const struct leak_map *m),
	const struct leak_wiped *wiped);
/* The mapping that `addr` is in, or NULL. */
const struct leak_map *leak_space_map(const struct leak_space *s, uint64_t addr);
/*
 * Gives all words of [start, end) that are there to `visit`, in order and in pieces. `start` is
 * rounded up to a word, `end` down. Once nobody waits for the result any more, there are no more.
 */
typedef void leak_visit(void *ctx, uint64_t addr, const uint64_t *words, size_t count);
void leak_space_stream(
	struct leak_space *s, uint64_t start, uint64_t end, leak_visit *visit, void *ctx);
/*
 * So many bytes, fewer, or -1. `shared`: of pages that may be shared since a fork. Of private
 * memory that was never touched: zeros, and it stays untouched; but not by_file, whose caller
 * looks.
 */
ssize_t leak_space_read(struct leak_space *s, uint64_t addr, void *buf, size_t bytes, bool shared);
/* Whether any page may be. */
bool leak_space_has_shared(const struct leak_space *s);
/* The entries of `count` pages from that of `addr` on, as in pagemap. False: it cannot be told. */
bool leak_space_pages(const struct leak_space *s, uint64_t addr, uint64_t *entries, size_t count);
#define LEAK_PAGE_THERE (PROC_PAGE_PRESENT | PROC_PAGE_SWAPPED)
/* Whether nobody waits for what is read any more. */
bool leak_space_cancelled(const struct leak_space *s);
/* So many bytes more were read. */
void leak_space_count(struct leak_space *s, uint64_t bytes);
/* One word. False: it cannot be read. */
bool leak_space_word(struct leak_space *s, uint64_t addr, uint64_t *value);
/* What the word `addr` is that begins a block. */
enum leak_word_kind leak_space_word_kind(struct leak_space *s, uint64_t addr);

#endif
