/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a run without a screen waits for an agent that sends nothing. Pure. */
#ifndef SRC_RUN_FAR_SILENCE_H
#define SRC_RUN_FAR_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

/* An agent that works sends something every FAR_ALIVE_NS (src/far/wire.h). */
#define FAR_SILENCE_MOST_NS UINT64_C(30000000000)
#define FAR_SILENCE_LAST_NS UINT64_C(3000000000) /* once a signal asks us to end */

/* Zeroed, nothing is awaited. */
struct far_silence {
	uint64_t heard; /* when the agent's last bytes came; only compared with later ones */
	uint64_t since_ns; /* CLOCK_MONOTONIC: since when it has been awaited without sending */
	bool given_up; /* it was silent for too long, and has sent nothing since */
};

/* Another answer is awaited. An agent that was given up is not awaited again until it sends. */
void far_silence_begin(struct far_silence *s, uint64_t heard, uint64_t now_ns);
/* Whether the wait is over: the agent has been silent for too long. */
bool far_silence_is_over(struct far_silence *s, uint64_t heard, uint64_t now_ns, bool signalled);

#endif
