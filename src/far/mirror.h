/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The desk's copy of a segment: a sparse file of this user, in the format of segments, without the
 * live table. Its name is removed as soon as it is open. Main thread of the desk.
 */
#ifndef SRC_FAR_MIRROR_H
#define SRC_FAR_MIRROR_H

#include <stddef.h>
#include <stdint.h>

#include "src/util/bytes.h"

#define FAR_MIRROR_MOST (UINT64_C(1) << 30) /* bytes of memory that it may take */
#define FAR_MIRROR_FILE (UINT64_C(1) << 40) /* the file's size, holes included */

struct far_mirror;

/* Makes the file, `bytes` long, in the first directory for segments that takes it. NULL and errno:
 * -EFBIG if it is longer than any segment. */
struct far_mirror *far_mirror_new(uint64_t bytes);
/* Its path, to open it with. */
const char *far_mirror_path(const struct far_mirror *m);
/* Removes the name: who has it open keeps it. */
void far_mirror_unlink(struct far_mirror *m);
void far_mirror_free(struct far_mirror *m);
/* Notes the lines of a frame; the file changes with far_mirror_commit. 0, -EPROTO for lines that
 * are not in the file, -EFBIG over FAR_MIRROR_MOST, -ENOMEM. */
int far_mirror_add(struct far_mirror *m, const uint8_t *data, size_t len);
/* Writes what was noted. 0, -EPROTO or -errno. */
int far_mirror_commit(struct far_mirror *m);

#endif
