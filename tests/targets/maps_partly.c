// SPDX-License-Identifier: GPL-3.0-or-later
/* Maps 40 MB and touches 10 of them, shares 4 MB and touches one; then it says "ready" and waits.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

static char *volatile held[2];

__attribute__((noinline)) static void map_forty(void)
{
	held[0] = mmap(NULL, 40 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(held[0], 1, 10 << 20);
}

__attribute__((noinline)) static void map_shared(void)
{
	held[1] = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(held[1], 2, 1 << 20);
}

int main(void)
{
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	map_forty();
	map_shared();
	puts("ready");
	fflush(stdout);
	getchar();
	return 0;
}
