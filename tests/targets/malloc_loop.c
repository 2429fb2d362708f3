/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nothing but malloc and free, for so many seconds of processor time. */
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	clock_t end = (clock_t)(atof(argc > 1 ? argv[1] : "1") * CLOCKS_PER_SEC);

	while (clock() < end)
		for (int i = 0; i < 1000000; i++) {
			void *volatile block = malloc(32);

			free(block);
		}
	return 0;
}
