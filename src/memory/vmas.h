/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process's mappings in the form that a map takes, and which part of its anonymous memory is
 * the .bss of an object. Any thread.
 */
#ifndef SRC_MEMORY_VMAS_H
#define SRC_MEMORY_VMAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/leak/access/space.h"
#include "src/model/map.h"

/* Anonymous memory that follows the mappings of a file without a gap. */
struct vmas_tail {
	size_t vma;
	uint64_t image; /* where the file's first byte is mapped */
	bool is_own; /* heaptop's library */
};

struct vmas {
	struct map_vma *vma;
	size_t count;
	struct vmas_tail *tail; /* in the order of `vma` */
	size_t tails;
	bool is_foreign; /* another allocator's library is mapped */
};

/* Reads smaps. 0 or -errno, -ESRCH if the process is ending; vmas_free in any case. */
int vmas_read(struct vmas *v, pid_t pid);
/* The same from text that is at hand. Pure. */
int vmas_parse(struct vmas *v, const char *smaps, size_t len);
void vmas_free(struct vmas *v);
/*
 * The end of the .bss that the `vma`-th mapping begins with, rounded up to a page, as the object's
 * program headers in memory say; its start if there is none. *is_own: of heaptop's library.
 */
uint64_t vmas_bss_end(const struct vmas *v, size_t vma, struct leak_space *space, bool *is_own);

#endif
