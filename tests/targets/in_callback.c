/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waits in a function that libc has called, and allocates nothing: no thread of it can be borrowed.
 * Says when it is there; a line on standard input ends it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int compare(const void *a, const void *b)
{
	static int waited;
	char byte;

	if (!waited) {
		waited = 1;
		if (write(1, "waits\n", 6) != 6 || read(0, &byte, 1) < 0)
			_exit(1);
	}
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	int numbers[] = { 3, 1, 2 };

	qsort(numbers, 3, sizeof(numbers[0]), compare);
	return numbers[0] == 1 && numbers[2] == 3 ? 7 : 1;
}
