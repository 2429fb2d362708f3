/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: one site under a recursion of a given depth, so that the report's stack must have
 * that many frames of descend() under site_bottom(). Usage: stack_depth DEPTH [BLOCKS]
 */
#include "tests/targets/truth.h"

static NOINLINE void site_bottom(void)
{
	truth_got(0, malloc(100), 100);
	KEEP_FRAME();
}

static NOINLINE void descend(int depth)
{
	if (depth > 1)
		descend(depth - 1);
	else
		site_bottom();
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	int blocks = argc > 2 ? atoi(argv[2]) : 10;

	truth_strict = 1;
	truth_name(0, "site_bottom", "malloc");
	for (int i = 0; i < blocks; i++)
		descend(argc > 1 ? atoi(argv[1]) : 10);
	return 0;
}
