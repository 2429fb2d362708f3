/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recording state (state.h). Off until lifecycle.c starts recording. */
#include "preload/state.h"

#include <sys/syscall.h>
#include <unistd.h>

static const struct own own_off;
const struct own *state_own = &own_off;
struct segment state_segment;
__thread struct state_thread state_thread;

uint32_t state_pid(void)
{
	return (uint32_t)syscall(SYS_getpid);
}

void state_way(enum own_way way)
{
	/* Ours and writable while it is on; not the constant one that stands for off. */
	if (state_own->on != OWN_OFF && state_own->on != (uint32_t)way)
		ht_store_relaxed_32(&((struct own *)(uintptr_t)state_own)->on, way);
}
