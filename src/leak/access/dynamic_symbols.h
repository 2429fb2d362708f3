/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dynamic symbols of an object file that is mapped in a process, read from there. One thread.
 */
#ifndef SRC_LEAK_ACCESS_DYNAMIC_SYMBOLS_H
#define SRC_LEAK_ACCESS_DYNAMIC_SYMBOLS_H

#include <elf.h>

#include "src/leak/access/space.h"

struct leak_dynamic_symbols {
	const Elf64_Sym *symbol; /* owned, with `names` behind */
	size_t count;
	const char *names; /* the last byte is 0 */
	size_t name_bytes;
};

/* The file is mapped from `base`. False: it has none, one of the two tables is larger than `most`
 * bytes, or they cannot be read. */
bool leak_dynamic_symbols_read(
	struct leak_space *s, uint64_t base, size_t most, struct leak_dynamic_symbols *out);
void leak_dynamic_symbols_free(struct leak_dynamic_symbols *y);

#endif
