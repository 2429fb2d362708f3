/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which process is meant (attach_choice.h). Main thread. */
#include "src/run/attach_choice.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/run/failure.h"
#include "src/run/signals.h"
#include "src/target/processes.h"
#include "src/util/clock.h"
#include "src/util/text.h"
#include "src/util/units.h"

#define COMMAND_CELLS 60u
#define NAME_CELLS    60u
/* A program that starts is found this soon, */
#define WAIT_NS 20000000
/* searched for while the newest process may still call exec, and now and then. */
#define YOUNG_NS  UINT64_C(1000000000)
#define SEARCH_NS UINT64_C(500000000)

static int printable(char out[NAME_CELLS * 4 + 1], const char *name)
{
	return (int)text_clean(out, NAME_CELLS, name, strlen(name));
}

/* ---- text --------------------------------------------------------------------------------- */

static void row_print(FILE *out, bool cut, const struct process_row *row)
{
	char rss[UNITS_MAX], command[COMMAND_CELLS * 4 + 1];

	text_elide(command, sizeof(command), row->command, COMMAND_CELLS, false, true);
	fprintf(out, "%8d %7s  %-9s  %s\n", (int)row->pid, units_bytes(rss, row->rss_bytes),
		row->has_live ? "recorded" : row->state, cut ? command : row->command);
}

static void rows_print(FILE *out, const struct process_row *rows, size_t n, size_t more)
{
	bool cut = isatty(fileno(out));

	fprintf(out, "%8s %7s  %-9s  %s\n", "PID", "RSS", "STATE", "COMMAND");
	for (size_t i = 0; i < n; i++)
		row_print(out, cut, &rows[i]);
	if (more)
		fprintf(out, "and %zu more\n", more);
}

/* Several are meant, and nobody is there to choose. */
static int list_instead(const struct options *o, struct candidates *c)
{
	char name[NAME_CELLS * 4 + 1];
	const struct process_row *rows;
	size_t more, n = candidates_rows(c, &rows, &more);

	if (!o->attach.name) {
		rows_print(stdout, rows, n, more);
		return 0;
	}
	printable(name, o->attach.name);
	fprintf(stderr, "heaptop: %zu processes are called %s: give one, or several as -a %d,%d\n",
		n + more, name, (int)rows[0].pid, (int)rows[n > 1].pid);
	rows_print(stderr, rows, n, more);
	return FAILURE_EXIT;
}

/* ---- choosing ----------------------------------------------------------------------------- */

static int none(const char *name)
{
	char clean[NAME_CELLS * 4 + 1], line[2 * sizeof(clean) + 128];

	printable(clean, name);
	snprintf(line, sizeof(line),
		"no process is called %s (heaptop -a lists yours; heaptop --wait %s waits for one)",
		clean, clean);
	return failure_print(line);
}

static int choose_of(struct options *o, struct candidates *c, attach_choose *choose, void *ctx)
{
	char name[NAME_CELLS * 4 + 1], title[sizeof(name) + 64] = "choose a process to watch";
	int n;

	if (o->attach.name) {
		printable(name, o->attach.name);
		snprintf(title, sizeof(title), "choose one of the processes called %s", name);
	}
	n = choose(ctx, c, title, o->attach.pids, OPTIONS_PIDS_MAX);
	if (n <= 0)
		return -n;
	o->attach.count = (unsigned)n;
	o->pid = o->attach.pids[0];
	return -1;
}

static int find(struct options *o, attach_choose *choose, void *ctx)
{
	struct candidates *c = candidates_new(o->attach.name);
	const struct process_row *rows;
	size_t more, n = c ? candidates_rows(c, &rows, &more) : 0;
	int rc;

	if (!c) {
		rc = failure_print_errno("cannot list processes", -ENOMEM);
	} else if (o->attach.name && n == 0) {
		rc = none(o->attach.name);
	} else if (o->attach.name && n == 1) {
		o->attach.pids[0] = o->pid = rows[0].pid;
		o->attach.count = 1;
		rc = -1;
	} else {
		rc = choose ? choose_of(o, c, choose, ctx) : list_instead(o, c);
	}
	candidates_free(c);
	return rc;
}

/* ---- waiting ------------------------------------------------------------------------------ */

/* The newest pid of our namespace, as the kernel counts them; 0: unknown. */
static long newest_pid(void)
{
	char line[128];
	const char *last;

	if (proc_file_read("/proc/loadavg", line, sizeof(line)) <= 0)
		return 0;
	last = strrchr(line, ' ');
	return last ? atol(last) : 0;
}

struct waiting {
	struct target_process before[PROCESSES_LIST_MAX], now[PROCESSES_LIST_MAX];
	ssize_t nbefore;
	long newest;
	uint64_t changed_ns, searched_ns;
};

static bool was_there(const struct waiting *w, const struct target_process *p)
{
	for (ssize_t i = 0; i < w->nbefore; i++)
		if (w->before[i].pid == p->pid && w->before[i].start_ticks == p->start_ticks)
			return true;
	return false;
}

static pid_t new_one(struct waiting *w, const char *name)
{
	ssize_t n = target_processes(name, w->now, PROCESSES_LIST_MAX);

	for (ssize_t i = 0; i < n; i++)
		if (!was_there(w, &w->now[i]))
			return w->now[i].pid;
	return 0;
}

static bool is_due(struct waiting *w)
{
	uint64_t now = clock_monotonic_ns();
	long newest = newest_pid();

	if (newest != w->newest)
		w->changed_ns = now;
	w->newest = newest;
	if (now - w->changed_ns > YOUNG_NS && now - w->searched_ns < SEARCH_NS)
		return false;
	w->searched_ns = now;
	return true;
}

static void say_waits(const char *name, ssize_t there)
{
	char clean[NAME_CELLS * 4 + 1];

	printable(clean, name);
	if (there > 0)
		fprintf(stderr,
			"heaptop: waiting for another process called %s to start (%zd run: heaptop "
			"-a %s); Ctrl-C ends this\n",
			clean, there, clean);
	else
		fprintf(stderr,
			"heaptop: waiting for a process called %s to start; Ctrl-C ends this\n",
			clean);
}

static int wait_for(struct options *o)
{
	static atomic_bool cancelled;
	const struct timespec pause = { .tv_nsec = WAIT_NS };
	struct waiting *w = calloc(1, sizeof(*w));
	int signal;

	if (!w)
		return failure_print_errno("cannot wait", -ENOMEM);
	w->nbefore = target_processes(o->attach.name, w->before, PROCESSES_LIST_MAX);
	signals_catch(false, &cancelled);
	say_waits(o->attach.name, w->nbefore);
	while (o->pid == 0 && signals_pending() == 0) {
		if (is_due(w))
			o->pid = new_one(w, o->attach.name);
		if (o->pid == 0)
			nanosleep(&pause, NULL);
	}
	signal = signals_pending();
	signals_restore();
	free(w);
	o->attach.pids[0] = o->pid;
	o->attach.count = 1;
	return signal ? 128 + signal : -1;
}

int attach_choice_make(struct options *o, attach_choose *choose, void *ctx)
{
	if (o->pid)
		return -1;
	return o->attach.wait ? wait_for(o) : find(o, choose, ctx);
}
