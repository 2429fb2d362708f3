/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Snapshots of other moments, derived from one of the present. A derived snapshot has the owner
 * and the call stacks of its base, and holds a reference to it. Main thread.
 */
#ifndef SRC_MODEL_MOMENT_H
#define SRC_MODEL_MOMENT_H

#include "src/model/snapshot.h"

/* A copy of `base` with `nsites` sites, all zeros, to be filled in at *sites; one reference, the
 * caller's. NULL: no memory. */
struct snapshot *moment_derive(struct snapshot *base, size_t nsites, struct snap_site **sites);
/* The same with `more` further bytes, at *room, aligned as sites are, that live as long. */
struct snapshot *moment_derive_room(
	struct snapshot *base, size_t nsites, struct snap_site **sites, size_t more, void **room);
/* Clears what is true only now: rates, ages, leaks, shares. */
void moment_clear_present(struct snapshot *s);
/*
 * `base` as of the program's peak: live bytes and blocks of sites and totals are at_peak_*; sites
 * that had none are left out; rates, trends, growth and ages are cleared. NULL and errno: ENODATA
 * without totals.has_at_peak, ENOMEM.
 */
struct snapshot *moment_peak(struct snapshot *base);
/* The peak of a program in a file, where there is no present: it ran then, however it ended. */
struct snapshot *moment_peak_of_file(struct snapshot *base);
/* The peak with allocations, frees and all other figures of its time: `then` is a snapshot of that
 * time or shortly before it, of the same program. */
struct snapshot *moment_peak_then(struct snapshot *base, struct snapshot *then);
/* `base` as of a mark, which has the live blocks of the heap's sites, and their allocations, as
 * they were then. What else is known is of `then`, the last snapshot before it. NULL and errno
 * ENOMEM. The mark must live as long as the result. */
struct snapshot *moment_mark(
	struct snapshot *base, struct snapshot *then, const struct snap_mark *mark);
/*
 * Makes a copy of such a snapshot, whose other figures are of now, one that stands alone: as if its
 * blocks were all that was ever allocated, with a notice that says so. `sites` gets its sites,
 * s->nsites of them; they and `notice` must live as long as it.
 */
#define MOMENT_NOTICE_MAX 96
void moment_alone(struct snapshot *s, struct snap_site *sites, char notice[MOMENT_NOTICE_MAX]);

#endif
