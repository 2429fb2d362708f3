/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks whose contents are known: copies of each other, zeros, zeros at their ends, and others. It
 * prints "ready" and ends at its input's end. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))

static void *kept[4000];
static unsigned count;

KEEP static void same(void)
{
	for (unsigned i = 0; i < 1001; i++)
		kept[count++] = memset(malloc(1000), 'x', 1000);
}

/* Each begins with a number of its own. */
KEEP static void different(void)
{
	for (uint32_t i = 0; i < 500; i++) {
		kept[count++] = memset(malloc(1000), 'y', 1000);
		memcpy(kept[count - 1], &i, sizeof(i));
	}
}

KEEP static void zeros(void)
{
	for (unsigned i = 0; i < 300; i++)
		kept[count++] = memset(malloc(2000), 0, 2000);
}

KEEP static void half(void)
{
	for (uint32_t i = 1; i <= 200; i++) {
		kept[count++] = memset(malloc(4000), 0, 4000);
		memset(kept[count - 1], (int)i, 2000);
		memcpy(kept[count - 1], &i, sizeof(i));
	}
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	setvbuf(stdin, NULL, _IONBF, 0);
	same();
	different();
	zeros();
	half();
	puts("ready");
	while (getchar() != EOF)
		;
	for (unsigned i = 0; i < count; i++)
		free(kept[i]);
	return 0;
}
