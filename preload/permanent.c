/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the objects that stay (permanent.h): begins with the executable, the loader, this library
 * and those flagged so, and adds what each of them names as needed (System V gABI, chapter 5), by
 * the name that an object gives itself or the last part of its path. Two objects of one name both
 * count; so what was opened by a path of its own may count wrongly if it has the name of a library
 * of the program. Such a pair does not work in practice.
 */
#include "preload/permanent.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

#include "preload/bulk.h"

#define OBJECTS 512u /* of which this is known; others are asked for each time, which is slower */

struct object {
	uint64_t bias;
	const ElfW(Dyn) * dynamic;
	const char *strings, *name;
	bool stays, is_done;
};

static BULK struct object objects[OBJECTS];
static unsigned count;

static const char *last_part(const char *path)
{
	const char *slash = __builtin_strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Loaders relocate this pointer in place, but not in a section that is read-only. */
static const char *string_table(const struct object *o, uint64_t at)
{
	return (const char *)(uintptr_t)(at < o->bias ? at + o->bias : at);
}

static bool says_so(const ElfW(Dyn) * dynamic)
{
	for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_FLAGS_1 && (d->d_un.d_val & DF_1_NODELETE))
			return true;
	return false;
}

static bool holds_loader(const struct dl_phdr_info *info)
{
	return info->dlpi_addr != 0 && info->dlpi_addr == getauxval(AT_BASE);
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct object *o = &objects[count];

	if (count == OBJECTS)
		return 1;
	*o = (struct object){ .bias = info->dlpi_addr };
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			o->dynamic =
				(const void *)(uintptr_t)(o->bias + info->dlpi_phdr[i].p_vaddr);
	o->name = last_part(info->dlpi_name ? info->dlpi_name : "");
	for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_STRTAB)
			o->strings = string_table(o, d->d_un.d_ptr);
	for (const ElfW(Dyn) *d = o->dynamic; d && o->strings && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_SONAME)
			o->name = o->strings + d->d_un.d_val;
	o->stays = count == 0 || holds_loader(info) || says_so(o->dynamic) ||
		   o->bias == getauxval(AT_SYSINFO_EHDR);
	count++;
	return 0;
}

static bool stay(const char *name)
{
	bool found = false;

	for (unsigned i = 0; i < count; i++)
		if (!objects[i].stays && __builtin_strcmp(objects[i].name, last_part(name)) == 0)
			found = objects[i].stays = true;
	return found;
}

/* Whether that has found any. */
static bool follow(struct object *o)
{
	bool found = false;

	o->is_done = true;
	for (const ElfW(Dyn) *d = o->dynamic; d && o->strings && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && stay(o->strings + d->d_un.d_val))
			found = true;
	return found;
}

void permanent_find(void)
{
	bool again = true;

	count = 0;
	dl_iterate_phdr(visit, NULL);
	while (again) {
		again = false;
		for (unsigned i = 0; i < count; i++)
			if (objects[i].stays && !objects[i].is_done && follow(&objects[i]))
				again = true;
	}
}

bool permanent_is(const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < count; i++)
		if (objects[i].bias == info->dlpi_addr && objects[i].stays)
			return true;
	return false;
}
