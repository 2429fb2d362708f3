/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Takes the blocks that a preloaded early.so (tests/faults/targets/plugin) allocated before
 * anything was ready, looks at what is in them, moves half of them and frees all; with "freeres",
 * libc then gives back what it holds, as leak checkers have it do at exit. Prints how many there
 * were. Usage: bootstrap [freeres]
 */
#include <dlfcn.h>
#include "tests/faults/targets/witness.h"

#define ROOM 64

void __libc_freeres(void);

static void look(const unsigned char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		witness_need(p[i] == 0x5a, "an early block has other bytes");
}

int main(int argc, char **argv)
{
	unsigned (*early)(void **, unsigned) = NULL, count = 0;
	void *symbol = dlsym(RTLD_DEFAULT, "early_blocks"), *block[ROOM];

	memcpy(&early, &symbol, sizeof(early));
	if (early)
		count = early(block, ROOM);
	for (unsigned i = 0; i < count; i++) {
		witness_need(block[i] != NULL, "an early block was refused");
		look(block[i], 100);
		if (i % 2) {
			block[i] = realloc(block[i], 5000);
			look(block[i], 100);
		}
		free(block[i]);
	}
	printf("%u early blocks\n", count);
	witness_print("end");
	if (argc > 1 && !strcmp(argv[1], "freeres"))
		__libc_freeres();
	return 0;
}
