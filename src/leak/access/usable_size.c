/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that ask for the size of blocks (usable_size.h). */
#include "src/leak/access/usable_size.h"

#include <string.h>

#include "src/leak/access/dynamic_symbols.h"

#define TABLE_MOST ((size_t)64 << 20)

static const char wanted[] = "malloc_usable_size";

static bool is_undefined(const struct leak_dynamic_symbols *y, size_t name)
{
	for (size_t i = 0; i < y->count; i++)
		if (y->symbol[i].st_name == name && y->symbol[i].st_shndx == SHN_UNDEF)
			return true;
	return false;
}

/* The name may be the end of a longer one, such as je_malloc_usable_size. */
static bool imports(const struct leak_dynamic_symbols *y)
{
	const char *at = y->names, *end = y->names + y->name_bytes;

	while ((at = memmem(at, (size_t)(end - at), wanted, sizeof(wanted))) != NULL) {
		if (is_undefined(y, (size_t)(at - y->names)))
			return true;
		at += sizeof(wanted);
	}
	return false;
}

static bool object_imports(struct leak_space *s, uint64_t base)
{
	struct leak_dynamic_symbols y;
	bool does;

	if (!leak_dynamic_symbols_read(s, base, TABLE_MOST, &y))
		return false;
	does = imports(&y);
	leak_dynamic_symbols_free(&y);
	return does;
}

bool leak_usable_size_is_asked(pid_t pid)
{
	struct leak_space s;
	bool asked = false;

	if (leak_space_open(&s, pid) != 0)
		return false;
	for (size_t i = 0; i < s.maps && !asked; i++)
		asked = s.map[i].offset == 0 && s.map[i].readable && s.map[i].path[0] == '/' &&
			object_imports(&s, s.map[i].start);
	leak_space_close(&s);
	return asked;
}
