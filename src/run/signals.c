/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals of a run without a screen (signals.h). */
#include "src/run/signals.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t pending;
static atomic_bool *also_set;

static const int caught[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT };
#define CAUGHT	  (sizeof(caught) / sizeof(caught[0]))
#define SIGINT_AT 2
static struct sigaction before[CAUGHT];

static void on_signal(int signal)
{
	pending = signal;
	if (also_set)
		*also_set = true;
}

void signals_catch(bool launched, atomic_bool *cancelled)
{
	struct sigaction note = { .sa_handler = on_signal }, ignore = { .sa_handler = SIG_IGN };

	also_set = cancelled;
	sigaction(SIGPIPE, &ignore, NULL);
	for (size_t i = 0; i < CAUGHT; i++) {
		bool terminal = caught[i] == SIGINT || caught[i] == SIGQUIT;

		sigaction(caught[i], NULL, &before[i]);
		if (before[i].sa_handler == SIG_IGN || (caught[i] == SIGQUIT && !launched))
			continue;
		sigaction(caught[i], terminal && launched ? &ignore : &note, NULL);
	}
}

void signals_restore(void)
{
	for (size_t i = 0; i < CAUGHT; i++)
		sigaction(caught[i], &before[i], NULL);
}

int signals_pending(void)
{
	return pending;
}

void signals_clear(void)
{
	pending = 0;
	if (also_set)
		*also_set = false;
}

bool signals_interrupt_ignored(void)
{
	return before[SIGINT_AT].sa_handler == SIG_IGN;
}
