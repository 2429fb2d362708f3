/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a hasty viewer does: writes another rate into a segment every few milliseconds, until its
 * input ends; then exact. Usage: switcher SEGMENT MILLISECONDS
 */
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "shm/layout.h"

static const uint64_t rates[] = { 1 << 12, 0, 1 << 16, 1 << 10, 1 << 20, 0, 1 << 14, 12345 };

static int put(int fd, uint64_t bytes, uint32_t measure)
{
	return pwrite(fd, &bytes, sizeof(bytes), offsetof(struct ht_header, sample_bytes)) ==
				       sizeof(bytes) &&
			       pwrite(fd, &measure, sizeof(measure),
				       offsetof(struct ht_header, measure)) == sizeof(measure)
		       ? 0
		       : -1;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_WRONLY) : -1, wait = argc == 3 ? atoi(argv[2]) : 0;
	struct pollfd input = { 0, POLLIN, 0 };
	unsigned i = 0;

	if (fd < 0)
		return 2;
	while (poll(&input, 1, wait) == 0) {
		if (put(fd, rates[i % 8], i % 3 == 0) != 0)
			return 1;
		i++;
	}
	printf("%u\n", i);
	return put(fd, 0, 0) != 0;
}
