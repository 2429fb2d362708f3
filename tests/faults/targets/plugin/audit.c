/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For LD_AUDIT: takes part in all that the loader does, and allocates (in its own copy of libc).
 */
#include <link.h>
#include <stdlib.h>

static __thread char buffer[64];

unsigned la_version(unsigned version)
{
	buffer[0] = (char)version;
	return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t id, uintptr_t *cookie)
{
	(void)map, (void)id, (void)cookie;
	free(malloc(100));
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
