/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --serve, on the program's machine (serve_command.h). */
#include "src/run/serve_command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
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
#include "src/run/attach_choice.h"
#include "src/run/failure.h"
#include "src/run/far_token.h"
#include "src/run/run.h"
#include "src/run/signals.h"

#define LOOK_MS	 500 /* whether the program has ended */
#define TOKEN_MS 10000

struct serve {
	struct options *options;
	struct run *run;
	struct far_listener listener;
	const atomic_bool *cancelled;
	int in, out; /* of the first desk */
	bool sends_files;
	struct agent_scans *scans; /* NULL: it only reads */
	struct agent_maps *maps;
	struct agent_walks *walks;
	struct agent_events *events;
	struct agent_contents contents;
	char token[FAR_TOKEN_MAX]; /* "": none is asked for */
};

/* What comes from the desk is no input of the program, and what the program writes is nothing for
 * the desk. */
static int standard_take(struct serve *s)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	s->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	s->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	s->sends_files = true;
	if (null < 0 || s->in < 0 || s->out < 0 || dup2(null, STDIN_FILENO) < 0 ||
		dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return failure_print_errno("cannot serve on standard input and output", -errno);
	close(null);
	return 0;
}

static int listen_open(struct serve *s)
{
	const char *where = s->options->far.serve;
	bool is_unix = strncmp(where, "unix:", 5) == 0;
	char what[160];
	int rc;

	if (!is_unix && !s->options->far.token_file)
		return failure_print_reason("--serve",
			"anyone who reaches the port could connect: --token-file FILE is required");
	if (s->options->far.token_file && far_token_read(s->options->far.token_file, s->token) != 0)
		return FAILURE_EXIT;
	rc = is_unix ? far_listen_unix(&s->listener, where + 5)
		     : far_listen_tcp(&s->listener, where);
	if (rc != 0) {
		snprintf(what, sizeof(what), "cannot listen on %.140s", where);
		return failure_print_errno(what, rc);
	}
	fprintf(stderr, "heaptop: serving on %s%s\n", s->listener.said,
		is_unix ? "" : "; the connection is not encrypted (ssh://HOST/PID is)");
	return 0;
}

/* A desk on a port first says what both know. */
static bool is_trusted(const struct serve *s, int fd)
{
	char line[FAR_TOKEN_MAX];

	return !s->token[0] || (far_line_read(fd, line, sizeof(line), TOKEN_MS) == 0 &&
				       far_token_equal(line, s->token));
}

/* A desk, or -ETIMEDOUT, -EINTR or another error. */
static int desk_accept(struct serve *s, int timeout_ms)
{
	int fd = far_listen_accept(&s->listener, timeout_ms);

	if (fd < 0 || is_trusted(s, fd))
		return fd;
	close(fd);
	return -EACCES;
}

static bool desk_await(struct serve *s)
{
	int fd;

	do
		fd = desk_accept(s, LOOK_MS);
	while (fd < 0 && fd != -EBADF && !signals_pending());
	s->in = s->out = fd;
	return fd >= 0;
}

/* From here on this is that user's process, which is all that the program's needs. */
static int user_become(const char *name)
{
	const struct passwd *p = getpwnam(name);

	if (!p)
		return failure_print_reason(name, "no such user");
	if (initgroups(name, p->pw_gid) != 0 || setgid(p->pw_gid) != 0 || setuid(p->pw_uid) != 0)
		return failure_print_errno("cannot run as another user", -errno);
	return 0;
}

static int desk_serve(struct serve *s)
{
	struct session *session = run_session(s->run);
	struct agent_images images;
	struct agent_processes processes;
	const struct far_agent a = {
		.first = { session_segment(session), session_pid(session), agent_images_next,
			&images },
		.others = &processes.others,
		.stop = s->cancelled,
		.children = agent_children_list,
		.worker = { [FAR_LEAKS] = s->scans ? agent_scans_worker(s->scans) : NULL,
			[FAR_MAP] = agent_maps_worker(s->maps),
			[FAR_CONTENTS] = s->scans ? &s->contents.worker : NULL,
			[FAR_WALKS] = agent_walks_worker(s->walks),
			[FAR_EVENTS] = agent_events_worker(s->events) },
		.sends_files = s->sends_files,
		.exits = s->scans && s->options->mode == OPTIONS_RUN && !s->options->no_exit_scan,
	};
	int rc = agent_images_open(&images, session_segment(session), session_pid(session));

	if (rc == 0)
		rc = agent_processes_open(
			&processes, session_segment(session), session_pid(session));
	if (rc == 0) {
		rc = far_agent_serve(&a, s->in, s->out);
		agent_processes_close(&processes);
	}
	agent_images_close(&images);
	close(s->in);
	if (s->out != s->in)
		close(s->out);
	s->in = s->out = -1;
	return rc;
}

static bool is_over(struct serve *s)
{
	struct snapshot *last = run_tick(s->run);

	snapshot_unref(last);
	return !run_alive(s->run) || signals_pending() != 0;
}

static int desks_serve(struct serve *s)
{
	int rc = s->in >= 0 ? desk_serve(s) : 0;

	while (s->listener.fd >= 0 && !is_over(s)) {
		int fd = desk_accept(s, LOOK_MS);

		if (fd < 0)
			continue;
		s->in = s->out = fd;
		rc = desk_serve(s);
	}
	/* That a desk leaves is no failure. */
	return rc == 0 || rc == -EPIPE || rc == -EINTR
		       ? 0
		       : failure_print_errno("the connection failed", rc);
}

static int serve_open(struct serve *s)
{
	struct options *o = s->options;
	bool standard = strcmp(o->far.serve, "-") == 0;
	int rc = standard ? standard_take(s) : listen_open(s);

	if (rc == 0 && o->far.wait_client && !desk_await(s))
		rc = FAILURE_EXIT;
	if (rc == 0 && o->far.user)
		rc = user_become(o->far.user);
	if (rc == 0)
		rc = run_open(&s->run, o, NULL);
	if (rc != 0)
		return rc;
	agent_contents_init(&s->contents);
	s->scans = o->far.steers ? agent_scans_new() : NULL;
	s->maps = agent_maps_new();
	s->walks = agent_walks_new();
	s->events = agent_events_new();
	return s->maps && s->walks && s->events && (s->scans || !o->far.steers)
		       ? 0
		       : failure_print_errno("cannot serve", -ENOMEM);
}

int serve_command_run(struct options *o)
{
	static atomic_bool cancelled;
	struct serve s = {
		.options = o, .in = -1, .out = -1, .listener = { .fd = -1 }, .cancelled = &cancelled
	};
	int rc = o->mode == OPTIONS_ATTACH ? attach_choice_make(o, NULL, NULL) : -1, status;

	if (rc >= 0)
		return rc;
	signal(SIGPIPE, SIG_IGN);
	signals_catch(false, &cancelled);
	rc = serve_open(&s);
	if (rc == 0)
		rc = desks_serve(&s);
	far_listen_close(&s.listener);
	agent_scans_free(s.scans);
	agent_maps_free(s.maps);
	agent_walks_free(s.walks);
	agent_events_free(s.events);
	agent_contents_free(&s.contents);
	status = s.run ? run_close(s.run) : 0;
	return rc ? rc : status;
}
