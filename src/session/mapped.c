/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mapped memory of a tick (mapped.h). Main thread. */
#include "src/session/mapped.h"

#include <errno.h>
#include <stdlib.h>

#include "shm/layout.h"
#include "src/session/totals.h"
#include "src/util/shortage.h"

void mapped_free(struct mapped *m)
{
	free(m->sites);
	free(m->raw);
	*m = (struct mapped){ 0 };
}

static int room_make(struct mapped *m, uint32_t count)
{
	if (count <= m->room)
		return 0;
	mapped_free(m);
	count += count / 2 + 64;
	m->sites = calloc(count, sizeof(*m->sites));
	m->raw = calloc(count, sizeof(*m->raw));
	m->room = m->sites && m->raw ? count : 0;
	return m->room ? 0 : -ENOMEM;
}

enum snap_kind mapped_kind(uint32_t function)
{
	if (function == HT_FN_BRK || function == HT_FN_SBRK)
		return SNAP_BRK;
	if (function == HT_FN_POOL)
		return SNAP_POOL;
	return function == HT_FN_SHMAT ? SNAP_SHM : SNAP_MMAP;
}

static struct model_site site_of(const struct read_mapped *in, uint32_t function)
{
	return (struct model_site){ .id = in->site,
		.kind = mapped_kind(function),
		.live_bytes = totals_rest(in->map_bytes, in->unmap_bytes),
		.allocs = in->maps,
		.frees = in->unmaps,
		.alloc_bytes = in->map_bytes,
		.peak_bytes = in->peak_bytes };
}

/* Returns the number of sites. */
static size_t sites_read(struct mapped *m, struct read_segment *segment,
	struct stack_registration *registration, uint32_t count)
{
	ssize_t got = read_mapped(segment, 1, m->raw, count);
	uint32_t function;
	size_t found = 0;

	shortage_note(got < 0 ? (int)got : 0);
	for (ssize_t i = 0; i < got; i++)
		if (m->raw[i].site != 0 && m->raw[i].maps > 0 &&
			stack_registration_register_mapped(registration, m->raw[i].site, &function))
			m->sites[found++] = site_of(&m->raw[i], function);
	return found;
}

void mapped_read(struct mapped *m, struct read_segment *segment,
	struct stack_registration *registration, const struct read_totals *t,
	struct model_input *in)
{
	int rc = room_make(m, t->mapped.sites);

	shortage_note(rc);
	in->mapped = m->sites;
	in->nmapped = rc == 0 && t->mapped.sites > 1
			      ? sites_read(m, segment, registration, t->mapped.sites - 1)
			      : 0;
}
