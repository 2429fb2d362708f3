/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The progress of attaching (attach_progress.h). Main thread. */
#include "src/run/attach_progress.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/run/signals.h"
#include "src/util/clock.h"
#include "src/util/text.h"

/* An idle server is attached to before that, and nothing flickers. */
#define QUIET_NS UINT64_C(300000000)
/* A file gets no more than a line in this time. */
#define LINES_NS UINT64_C(2000000000)

static atomic_bool cancelled;

void attach_progress_begin(struct attach_progress *p, pid_t pid)
{
	*p = (struct attach_progress){
		.pid = pid, .terminal = isatty(STDERR_FILENO), .begin_ns = clock_monotonic_ns()
	};
	signals_catch(false, &cancelled);
}

static bool is_due(const struct attach_progress *p, uint64_t now, const char *text)
{
	if (now - p->begin_ns < QUIET_NS || !strcmp(p->last, text))
		return false;
	return p->terminal || !p->said_ns || now - p->said_ns >= LINES_NS;
}

bool attach_progress_say(void *progress, const char *text)
{
	struct attach_progress *p = progress;
	uint64_t now = clock_monotonic_ns();
	char clean[sizeof(p->last)];

	text_clean(clean, sizeof(clean), text, strlen(text));
	if (is_due(p, now, clean)) {
		fprintf(stderr, "%sheaptop: attaching to process %d: %s%s",
			p->terminal ? "\r\033[K" : "", (int)p->pid, clean, p->terminal ? "" : "\n");
		p->written = true;
		p->said_ns = now;
		memcpy(p->last, clean, sizeof(clean));
	}
	return signals_pending() == 0;
}

void attach_progress_end(struct attach_progress *p)
{
	if (p->written && p->terminal)
		fputs("\r\033[K", stderr);
	signals_restore();
}
