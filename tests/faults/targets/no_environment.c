/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clears its environment, forks, and prints how the child ended. */
#include <sys/wait.h>
#include "tests/faults/targets/witness.h"

int main(void)
{
	int status = 0;

	free(witness_malloc(10));
	clearenv();
	if (fork() == 0) {
		free(witness_malloc(10));
		return 7;
	}
	wait(&status);
	printf("signal %d, status %d\n", WTERMSIG(status), WEXITSTATUS(status));
	return 0;
}
