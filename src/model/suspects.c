/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suspects by age (suspects.h). */
#include "src/model/suspects.h"

#include <string.h>

bool suspects_wanted(const struct snap_leaks *l)
{
	return l && l->failed && l->refused;
}

static bool is_suspect(const struct snap_site *site)
{
	return site->stack && site->frees == 0 && site->allocs > 1 && site->live_bytes > 0;
}

size_t suspects_find(const struct snapshot *s, uint32_t index[SUSPECTS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < s->nsites; i++) {
		size_t at = n;

		if (!is_suspect(&s->sites[i]))
			continue;
		while (at > 0 && s->sites[index[at - 1]].live_bytes < s->sites[i].live_bytes)
			at--;
		if (at == SUSPECTS_MAX)
			continue;
		n += n < SUSPECTS_MAX;
		memmove(index + at + 1, index + at, (n - at - 1) * sizeof(*index));
		index[at] = (uint32_t)i;
	}
	return n;
}
