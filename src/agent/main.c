/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heaptop-agent: the agent as a small static program, for machines that have neither curses nor
 * libdw, and little memory. It serves a process that is recorded already; heaptop
 * itself also starts and attaches. Main thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/far/agent.h"
#include "src/far/listen.h"
#include "src/run/agent_children.h"
#include "src/run/agent_contents.h"
#include "src/run/agent_events.h"
#include "src/run/agent_images.h"
#include "src/run/agent_maps.h"
#include "src/run/agent_processes.h"
#include "src/run/agent_scans.h"
#include "src/run/agent_walks.h"
#include "src/target/target.h"
#include "src/util/text.h"

#define FAILED	 125 /* as heaptop's own failures */
#define USAGE	 2
#define LOOK_MS	 500 /* between checks whether the process has ended */
#define WORD_MAX 64u

static atomic_bool stopped;

struct agent {
	const char *where; /* "-" or unix:PATH */
	const char *process; /* a pid or a name */
	bool steers;
	struct target_segment segment;
	struct read_segment *open;
	struct far_agent serves;
	struct agent_images images;
	struct agent_processes processes;
	struct agent_scans *scans;
	struct agent_maps *maps;
	struct agent_walks *walks;
	struct agent_events *events;
	struct agent_contents contents;
};

static int fail(int status, const char *what, const char *why)
{
	fprintf(stderr, "heaptop-agent: %s%s%s\n", what, why ? ": " : "", why ? why : "");
	return status;
}

/* ---- options ---- */

static int help(void)
{
	printf("heaptop-agent " HEAPTOP_VERSION
	       ": show a recorded process to a heaptop elsewhere\n\n"
	       "  heaptop-agent --serve=[steer:]WHERE PID|NAME\n\n"
	       "WHERE is - (standard input and output) or unix:PATH; after steer:, leak scans and\n"
	       "reading contents of blocks are allowed. The process must run with libheaptop.so "
	       "(LD_PRELOAD) of the same "
	       "version.\n"
	       "There: heaptop --agent PATH/heaptop-agent ssh://HOST/PID\n");
	return 0;
}

static int serve_take(struct agent *a, const char *value)
{
	a->steers = strncmp(value, "steer", 5) == 0 && (value[5] == ':' || !value[5]);
	if (a->steers)
		value = value[5] ? value + 6 : "-";
	a->where = value;
	if (strcmp(value, "-") == 0 || (strncmp(value, "unix:", 5) == 0 && value[5]))
		return 0;
	return fail(USAGE, "--serve", "must be -, unix:PATH or steer:WHERE (heaptop has ports)");
}

/* 0; else an exit status. -1: done. */
static int options_take(struct agent *a, int argc, char *argv[])
{
	int rc = 0;

	for (int i = 1; i < argc && rc == 0; i++) {
		if (strcmp(argv[i], "--help") == 0)
			return help() - 1;
		if (strcmp(argv[i], "--version") == 0)
			return printf("heaptop-agent " HEAPTOP_VERSION "\n") < 0 ? FAILED : -1;
		if (strncmp(argv[i], "--serve=", 8) == 0)
			rc = serve_take(a, argv[i] + 8);
		else if (strcmp(argv[i], "--serve") == 0 && i + 1 < argc)
			rc = serve_take(a, argv[++i]);
		else if (argv[i][0] != '-' && !a->process)
			a->process = argv[i];
		else
			rc = fail(USAGE, argv[i], "not an option of this program (--help)");
	}
	if (rc == 0 && (!a->where || !a->process))
		rc = fail(USAGE, "--serve=WHERE and a PID or NAME are required", "--help");
	return rc;
}

/* ---- the process ---- */

struct named {
	const char *name;
	pid_t pid; /* the last one found */
	unsigned count;
};

static bool has_name(const char *command, const char *name)
{
	size_t len = strcspn(command, " ");
	const char *base = memrchr(command, '/', len);
	size_t skip = base ? (size_t)(base + 1 - command) : 0;

	return strlen(name) == len - skip && memcmp(command + skip, name, len - skip) == 0;
}

static int named_visit(void *ctx, const struct target_segment *s)
{
	struct named *n = ctx;

	if (s->state == TARGET_RUNNING && !s->replaced && s->process > 0 &&
		has_name(s->command, n->name)) {
		n->pid = s->process;
		n->count++;
	}
	return 0;
}

static int pid_find(const char *word, pid_t *pid)
{
	struct named n = { .name = word };
	char clean[WORD_MAX];
	char *end;
	long number = strtol(word, &end, 10);

	*pid = (pid_t)number;
	if (!*end && number > 0 && number <= INT32_MAX)
		return 0;
	text_clean(clean, sizeof(clean), word, strlen(word));
	if (target_list(named_visit, &n) < 0 || n.count == 0)
		return fail(FAILED, clean, "no recorded process of this name runs here");
	if (n.count > 1)
		return fail(FAILED, clean, "several recorded processes have this name: give a PID");
	*pid = n.pid;
	return 0;
}

static int process_open(struct agent *a)
{
	char message[READ_MESSAGE_MAX];
	pid_t pid;
	int rc = pid_find(a->process, &pid);

	if (rc != 0)
		return rc;
	if (target_find(pid, &a->segment, message) != 0)
		return fail(FAILED, message, NULL);
	a->open = read_open(a->segment.path, message);
	if (!a->open)
		return fail(FAILED, message, NULL);
	if (a->steers)
		a->scans = agent_scans_new();
	agent_contents_init(&a->contents);
	a->maps = agent_maps_new();
	a->walks = agent_walks_new();
	a->events = agent_events_new();
	if (!a->maps || !a->walks || !a->events || (a->steers && !a->scans))
		return fail(FAILED, "cannot serve", strerror(ENOMEM));
	rc = agent_images_open(&a->images, a->open, pid);
	if (rc == 0)
		rc = agent_processes_open(&a->processes, a->open, pid);
	if (rc != 0)
		return fail(FAILED, "cannot serve", strerror(-rc));
	a->serves = (struct far_agent){
		.first = { a->open, pid, agent_images_next, &a->images },
		.others = &a->processes.others,
		.children = agent_children_list,
		.stop = &stopped,
		.worker = { [FAR_LEAKS] = a->scans ? agent_scans_worker(a->scans) : NULL,
			[FAR_MAP] = agent_maps_worker(a->maps),
			[FAR_CONTENTS] = a->scans ? &a->contents.worker : NULL,
			[FAR_WALKS] = agent_walks_worker(a->walks),
			[FAR_EVENTS] = agent_events_worker(a->events) },
	};
	return 0;
}

static bool is_over(const struct agent *a)
{
	return stopped || target_is_ending(a->serves.first.pid);
}

/* ---- serving ---- */

static int standard_serve(struct agent *a)
{
	int rc;

	a->serves.sends_files = true;
	rc = far_agent_serve(&a->serves, STDIN_FILENO, STDOUT_FILENO);
	return rc == 0 || rc == -EPIPE || rc == -EINTR
		       ? 0
		       : fail(FAILED, "the connection failed", strerror(-rc));
}

static int socket_serve(struct agent *a)
{
	struct read_segment *newest;
	struct far_listener l;
	int rc = far_listen_unix(&l, a->where + 5);

	if (rc != 0)
		return fail(FAILED, a->where, strerror(-rc));
	fprintf(stderr, "heaptop-agent: serving on %s\n", l.said);
	while (!is_over(a)) {
		int fd = far_listen_accept(&l, LOOK_MS);

		if (fd < 0)
			continue;
		newest = agent_images_next(&a->images);
		a->serves.first.segment = newest ? newest : a->open;
		(void)far_agent_serve(&a->serves, fd, fd);
		close(fd);
	}
	far_listen_close(&l);
	return 0;
}

static void on_signal(int number)
{
	(void)number;
	stopped = true;
}

static void signals_set(void)
{
	const struct sigaction stop = { .sa_handler = on_signal },
			       ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

int main(int argc, char *argv[])
{
	static struct agent a;
	int rc = options_take(&a, argc, argv);

	if (rc != 0)
		return rc < 0 ? 0 : rc;
	signals_set();
	rc = process_open(&a);
	if (rc == 0)
		rc = strcmp(a.where, "-") == 0 ? standard_serve(&a) : socket_serve(&a);
	agent_scans_free(a.scans);
	agent_maps_free(a.maps);
	agent_walks_free(a.walks);
	agent_events_free(a.events);
	agent_contents_free(&a.contents);
	agent_processes_close(&a.processes);
	agent_images_close(&a.images);
	read_close(a.open);
	return rc;
}
