/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory of another process that stands still: its mappings and their words. Only populated
 * pages are read, so that reading creates no page, no page table, and no second copy of a page that
 * is shared since a fork; and only what the process itself may read. The absent pages of shared
 * mappings are read from their files (mapped_file.h). One thread.
 */
#ifndef SRC_LEAK_ACCESS_SPACE_H
#define SRC_LEAK_ACCESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/core/core.h"
#include "src/leak/access/map.h"
#include "src/leak/access/mapped_file.h"
#include "src/leak/access/pages.h"
#include "src/leak/access/progress.h"
#include "src/leak/access/words.h"
#include "src/proc/proc.h"
#include "src/read/cooperation.h"

/* Words that were read before the process was resumed. */
struct leak_piece {
	uint64_t start, end;
	uint64_t *words;
};

struct leak_space {
	pid_t pid;
	int pagemap; /* -1: which pages are populated is unknown */
	bool by_file; /* leak_space_by_file */
	bool has_mem; /* `mem` is open: /proc/PID/mem */
	int mem;
	bool shared_seen; /* it has pages that it shares with other processes since a fork */
	bool pinless; /* process_vm_readv is not available: all is read by `mem` */
	bool seekless; /* the kernel cannot seek the next populated page: each entry is read */
	struct leak_pages_cache *pages; /* leak_space_freeze; NULL: nothing is cached */
	const struct core *core; /* leak_space_open_core */
	struct read_coop *lent; /* leak_space_open_lent */
	enum ht_coop_server server;
	struct leak_map *map;
	size_t maps;
	uint64_t last_start, last_end; /* the mapping of the last leak_space_word_kind */
	enum leak_word_kind last_kind;
	char *text; /* paths point into it */
	uint64_t *buffer;
	uint64_t scanned_bytes; /* read so far */
	uint64_t unread_bytes; /* could not be read */
	uint64_t absent_bytes; /* could not be read from the files of shared mappings */
	struct leak_mapped_file file;
	bool is_copy; /* leak_space_become */
	struct leak_piece *piece; /* kept words, by address */
	size_t pieces, piece_capacity;
	uint64_t kept_bytes;
	struct leak_progress *progress; /* counts what is read; may be NULL */
};

/* Reads the mappings. 0 or -errno. */
int leak_space_open(struct leak_space *s, pid_t pid);
/* The same for a process whose library reads for us, or for its copy. */
int leak_space_open_lent(struct leak_space *s, struct read_coop *coop, enum ht_coop_server server);
/* The same for a core file, which must outlive it. */
int leak_space_open_core(struct leak_space *s, const struct core *core);
void leak_space_close(struct leak_space *s);
/*
 * From now on words come from /proc/PID/mem. It takes the same rights, but no system call that a
 * sandbox may kill us for. For memory that the process may read itself.
 */
void leak_space_by_file(struct leak_space *s);
/* From now on no page comes or goes, so that page entries may be cached. */
void leak_space_freeze(struct leak_space *s);
/*
 * Another reader of the same memory, for another thread, while `of` is open. Joining adds its
 * counts to `of` and frees it. Not for memory that the library reads. 0 or -ENOMEM.
 */
int leak_space_share(struct leak_space *s, const struct leak_space *of);
void leak_space_join(struct leak_space *s, struct leak_space *of);
/* From now on all words but the kept ones come from `copy`, which has the same mappings. */
void leak_space_become(struct leak_space *s, struct leak_space *copy);
/* The mapping that `addr` is in, or NULL. */
const struct leak_map *leak_space_map(const struct leak_space *s, uint64_t addr);
/*
 * Gives all words of [start, end) in populated pages to `visit`, in order and in pieces. `start` is
 * rounded up to a word, `end` down. Ends early when the scan is cancelled.
 */
void leak_space_stream(
	struct leak_space *s, uint64_t start, uint64_t end, leak_visit *visit, void *ctx);
/*
 * The number of bytes read, or -1. `shared`: pages may be shared since a fork. Private memory that
 * was never touched reads as zeros, and stays untouched; with by_file the caller checks that.
 */
ssize_t leak_space_read(struct leak_space *s, uint64_t addr, void *buf, size_t bytes, bool shared);
/* One word. False: it cannot be read. */
bool leak_space_word(struct leak_space *s, uint64_t addr, uint64_t *value);
/* The kind of the word `addr`, the first of a block. */
enum leak_word_kind leak_space_word_kind(struct leak_space *s, uint64_t addr);
/* Whether any page may be shared since a fork. */
bool leak_space_has_shared(const struct leak_space *s);
/* The entries of `count` pages from that of `addr` on, as in pagemap. False: they are unknown. */
bool leak_space_pages(const struct leak_space *s, uint64_t addr, uint64_t *entries, size_t count);
/* Whether the page of `addr` is private, of no file, and was never touched. False where that is
 * unknown, too. */
bool leak_space_is_untouched(struct leak_space *s, uint64_t addr);
/*
 * The first address in [addr, end), `addr` being a page's, that may hold data; *pages: how many
 * pages from there on are worth reading at once. `addr` itself where seeking takes no less time
 * than reading each entry.
 */
uint64_t leak_space_skip_untouched(
	struct leak_space *s, uint64_t addr, uint64_t end, size_t *pages);
/* Whether the scan's result is no longer wanted. */
bool leak_space_cancelled(const struct leak_space *s);

#endif
