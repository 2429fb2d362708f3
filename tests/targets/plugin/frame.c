/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plugin whose one function has a frame of FRAME bytes, and is otherwise always the same. */
#include <stdlib.h>

void plugin_frame(void);

void plugin_frame(void)
{
	char frame[FRAME];
	void *p;

	__asm__ volatile("" : : "r"(frame) : "memory");
	p = malloc(24);
	__asm__ volatile("" : : "r"(frame), "r"(p) : "memory");
	free(p);
}
