/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints what a segment's header and thread slots hold that no report tells, as one JSON object.
 * Looks at a running program's, too. Usage: inside FILE
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "shm/layout.h"

#define SHOW(field) printf("\"" #field "\": %llu, ", (unsigned long long)h->field)

static void threads_show(const struct ht_header *h)
{
	const struct ht_thread *t =
		(const void *)((const char *)h + h->region[HT_REGION_THREADS].offset);
	unsigned long long used = 0, owners = 0;

	for (uint32_t i = 1; i < h->threads; i++) {
		used += t[i].tid != 0;
		owners += t[i].owners;
	}
	printf("\"threads_used\": %llu, \"threads_owners\": %llu", used, owners);
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	off_t bytes = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	const struct ht_header *h = MAP_FAILED;

	if (bytes >= (off_t)sizeof(*h))
		h = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (h == MAP_FAILED)
		return 1;
	printf("{");
	SHOW(unwinds_checked);
	SHOW(unwinds_wrong);
	SHOW(unwinds_shorter);
	SHOW(unwinds_longer);
	SHOW(missed_frees);
	SHOW(untracked_blocks);
	SHOW(untracked_busy);
	SHOW(nodes_refused);
	SHOW(sites_refused);
	SHOW(modules_refused);
	SHOW(threads);
	threads_show(h);
	printf("}\n");
	return 0;
}
