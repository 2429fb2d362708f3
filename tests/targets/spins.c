/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Uses a second of processor time, and allocates nothing. Usage: spins [SECONDS] */
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	clock_t end = (argc > 1 ? atoi(argv[1]) : 1) * CLOCKS_PER_SEC;

	while (clock() < end)
		;
	return 0;
}
