/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Silent agents (far_silence.h). */
#include "src/run/far_silence.h"

static void hear(struct far_silence *s, uint64_t heard, uint64_t now_ns)
{
	if (heard == s->heard)
		return;
	s->heard = heard;
	s->since_ns = now_ns;
	s->given_up = false;
}

void far_silence_begin(struct far_silence *s, uint64_t heard, uint64_t now_ns)
{
	hear(s, heard, now_ns);
	if (!s->given_up)
		s->since_ns = now_ns;
}

bool far_silence_is_over(struct far_silence *s, uint64_t heard, uint64_t now_ns, bool signalled)
{
	hear(s, heard, now_ns);
	s->given_up = s->given_up || now_ns >= s->since_ns + (signalled ? FAR_SILENCE_LAST_NS
									: FAR_SILENCE_MOST_NS);
	return s->given_up;
}
