/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recording state (state.h). Off until lifecycle.c starts recording. */
#include "preload/state.h"

#include <sys/syscall.h>
#include <unistd.h>

static const struct own own_off;
const struct own *state_own = &own_off;
struct segment state_segment;
__thread struct state_thread state_thread;
uint32_t state_session;

uint32_t state_pid(void)
{
	return (uint32_t)syscall(SYS_getpid);
}

void state_set_mode(enum own_mode way)
{
	const struct own *own = ht_load_acquire_pointer(&state_own); /* START */
	uint32_t now = ht_load_relaxed_32(&own->on);

	/* While it is on, the page is ours and writable; the constant one stands for off. Relaxed:
	 * either path is right, so a thread may see the change late. */
	if (now != OWN_OFF && now != (uint32_t)way)
		ht_store_relaxed_32(&((struct own *)(uintptr_t)own)->on, way);
}
