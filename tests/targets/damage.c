/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a stray pointer in a program may do to its segment: says that a thread has allocated COUNT
 * blocks more. Usage: damage SEGMENT COUNT */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include "shm/layout.h"

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR) : -1;
	uint64_t count = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	struct ht_region threads;
	off_t at;

	if (fd < 0 || pread(fd, &threads, sizeof(threads),
			      offsetof(struct ht_header, region[HT_REGION_THREADS])) !=
			      (ssize_t)sizeof(threads))
		return 2;
	at = (off_t)(threads.offset + offsetof(struct ht_thread, size[0].allocs));
	return pwrite(fd, &count, sizeof(count), at) != (ssize_t)sizeof(count);
}
