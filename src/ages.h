/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How old the live blocks of each call site are: the births of the oldest and the youngest. Nobody
 * counts that as the program runs, so the live table is walked for it, which takes time by the
 * number of blocks; it is done when somebody asked for it, and never for more than a small part of
 * the time. Main thread.
 */
#ifndef SRC_AGES_H
#define SRC_AGES_H

#include "src/model/model.h"
#include "src/read/read.h"

/* Of one session. All zeros: nothing was read. */
struct ages {
	struct ages_site *site; /* by id */
	uint32_t room;
	uint64_t due_ns; /* not to be read again before */
	bool known;
};

/* From now on all sessions read them, or none does. */
void ages_want(bool wanted);
/* Reads them, if they are wanted and it is time to. `sites`: ids are below it. */
void ages_look(struct ages *a, struct read_segment *segment, uint32_t sites);
/* Tells the ages that the sites' blocks have at `uptime_ns`. */
void ages_tell(const struct ages *a, struct model_site *sites, size_t count, uint64_t uptime_ns);
void ages_free(struct ages *a);

#endif
