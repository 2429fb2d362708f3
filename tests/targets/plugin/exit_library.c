/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library that holds two blocks until its destructor: one is freed there, the other's pointer is
 * dropped. */
#include <stdlib.h>

void library_hold(void);

static void *volatile freed_at_end, *volatile dropped_at_end;

void library_hold(void)
{
	freed_at_end = malloc(4321);
	dropped_at_end = malloc(1234);
}

__attribute__((destructor)) static void library_end(void)
{
	free(freed_at_end);
	freed_at_end = NULL;
	dropped_at_end = NULL;
}
