/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classifies a mapping by its name and its rights (map.h). */
#include "src/leak/access/map.h"

#include <string.h>

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

bool leak_map_is_device(const struct leak_map *m)
{
	if (begins(m->path, "anon_inode:"))
		return true;
	return begins(m->path, "/dev/") && !begins(m->path, "/dev/shm/") &&
	       !begins(m->path, "/dev/zero") && !begins(m->path, "/dev/hugepages/");
}

bool leak_map_is_segment(const struct leak_map *m)
{
	return m->shared && m->inode != 0 && begins(file_name(m->path), "heaptop-");
}

bool leak_map_is_segment_of(const struct leak_map *m, const char *path)
{
	const char *mapped = file_name(m->path), *name = file_name(path);
	size_t len = strlen(name);

	/* The kernel appends " (deleted)" to a name that was unlinked. */
	return leak_map_is_segment(m) && strncmp(mapped, name, len) == 0 &&
	       (mapped[len] == '\0' || mapped[len] == ' ');
}

bool leak_map_holds_pointers(const struct leak_map *m)
{
	return m->readable && m->writable && !leak_map_is_segment(m) && !leak_map_is_device(m);
}
