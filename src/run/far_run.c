/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program on another machine (far_run.h). */
#include "src/run/far_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/far/desk.h"
#include "src/read/read.h"
#include "src/run/failure.h"
#include "src/run/far_token.h"
#include "src/sym/elsewhere.h"
#include "src/util/text.h"
#include "src/util/units.h"

#define CONNECT_MS  30000 /* without a byte; a password may have to be typed */
#define TICK_MS	    30000
#define PIECE_MS    30000
#define OBJECT_MOST (UINT64_C(512) << 20)

struct far_run {
	struct far_desk *desk;
	char url[OPTIONS_URL_MAX], token[FAR_TOKEN_MAX];
	struct far_place place;
	struct sym_elsewhere elsewhere;
	char objects[PATH_MAX]; /* of elsewhere */
	char part[PATH_MAX + 16]; /* of a file that is being copied there */
	struct read_segment *segment; /* the copy, for its modules */
	struct read_module module; /* the one being searched for */
	uint32_t modules; /* the next one to search files for; they begin at 1 */
	bool waits, fetches;
	struct scan_far scans;
	char scan_why[FAR_PEER_MESSAGE + 64];
	char notice[FAR_PEER_MESSAGE + 64];
};

/* ---- where ---- */

static int place_of_url(struct far_run *f, const struct options *o, const char **why)
{
	char *at = f->url + sizeof("tcp://") - 1, *port;

	snprintf(f->url, sizeof(f->url), "%s", o->far.url);
	if (strncmp(f->url, "unix:", 5) == 0) {
		f->place.socket = f->url + 5;
		*why = "the path of the socket is missing: unix:PATH";
		return f->url[5] ? 0 : -EINVAL;
	}
	if (strncmp(f->url, "tcp://", 6) != 0)
		return far_place_parse(f->url, &f->place, why);
	port = strrchr(at, ':');
	*why = "a socket on another machine is tcp://ADDRESS:PORT";
	if (!port || port == at || !port[1])
		return -EINVAL;
	*port = 0;
	if (*at == '[' && port[-1] == ']') { /* an address of IPv6 */
		at++;
		port[-1] = 0;
	}
	f->place.address = at;
	f->place.service = port + 1;
	return 0;
}

static int place_make(struct far_run *f, const struct options *o)
{
	const char *why = NULL;

	f->place.steer = o->far.steer;
	f->place.agent = o->far.agent ? o->far.agent : "heaptop";
	if (o->far.token_file) {
		if (far_token_read(o->far.token_file, f->token) != 0)
			return FAILURE_EXIT;
		f->place.token = f->token;
	}
	if (o->far.via) {
		f->place.via = o->far.via;
		f->place.process = o->attach.text;
		return 0;
	}
	return place_of_url(f, o, &why) == 0 ? 0 : failure_print_reason(o->far.url, why);
}

/* XDG_CACHE_HOME/heaptop/objects, made if it is not there. */
static void objects_find(struct far_run *f)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	bool own = cache && cache[0] == '/';
	char *at;

	if (!own && (!home || home[0] != '/'))
		return;
	if (snprintf(f->objects, sizeof(f->objects), "%s%s/heaptop/objects", own ? cache : home,
		    own ? "" : "/.cache") >= (int)sizeof(f->objects))
		return;
	for (at = f->objects + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		mkdir(f->objects, 0700);
		*at = '/';
	}
	if (mkdir(f->objects, 0700) == 0 || errno == EEXIST)
		f->elsewhere.objects = f->objects;
}

/* ---- object files ---- */

static void progress(const struct far_run *f, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	char name[64];

	text_clean(name, sizeof(name), base, strlen(base));
	if (f->waits && isatty(STDERR_FILENO))
		fprintf(stderr, "heaptop: copying %s from the other side for its names\n", name);
}

/* Written under another name, so that a file by its build-id is whole, and has that build-id. A
 * side that does not answer is not asked for other files. */
static int object_fetch(struct far_run *f, uint32_t module, const struct sym_module *m)
{
	char path[PATH_MAX];
	int fd, rc;

	if (!elsewhere_object(m, &f->elsewhere, path, sizeof(path)))
		return -ENOENT;
	snprintf(f->part, sizeof(f->part), "%s.%d", path, (int)getpid());
	fd = open(f->part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	progress(f, m->path);
	rc = far_desk_file(f->desk, module, fd, OBJECT_MOST, PIECE_MS);
	close(fd);
	if (rc == -ETIMEDOUT)
		f->fetches = false;
	if (rc != 0 || !elsewhere_is_of(m, f->part) || rename(f->part, path) != 0)
		unlink(f->part);
	return rc;
}

/* Before their names are asked for. */
static void modules_look(struct far_run *f)
{
	const struct read_module *m = &f->module;

	while (read_module(f->segment, f->modules, &f->module) == 0) {
		const struct sym_module s = {
			.path = m->path, .build_id = m->build_id, .build_id_len = m->build_id_bytes
		};

		if (f->fetches && m->path[0] == '/' && m->build_id_bytes > 0 &&
			!elsewhere_has(&s, &f->elsewhere) &&
			object_fetch(f, f->modules, &s) == -EINTR)
			return; /* by a signal: the next tick goes on */
		f->modules++;
	}
}

/* ---- leak scans there ---- */

static int scan_begin(void *ctx, const struct bytes *request)
{
	struct far_run *f = ctx;

	return far_desk_scan(f->desk, request);
}

static void scan_cancel(void *ctx)
{
	struct far_run *f = ctx;

	far_desk_scan_end(f->desk);
}

static int scan_take(void *ctx, int timeout_ms, struct leak_progress *progress,
	struct bytes_cursor *answer, const char **why)
{
	struct far_run *f = ctx;
	const struct far_desk_scan *s = far_desk_scanned(f->desk);

	far_desk_listen(f->desk, timeout_ms);
	progress->phase = s->said.phase <= LEAK_EXITING ? (unsigned)s->said.phase : LEAK_FOLLOWING;
	progress->read_bytes = s->said.read_bytes;
	if (s->runs && !far_desk_ended(f->desk))
		return 0;
	if (!s->runs && s->said.state == FAR_SCAN_ENDED) {
		*answer = bytes_begin(&s->found);
		return 1;
	}
	snprintf(f->scan_why, sizeof(f->scan_why), "%s%s",
		s->said.state == FAR_SCAN_REFUSED ? "" : "no leak scan: ",
		s->said.state == FAR_SCAN_REFUSED ? s->said.why : far_desk_ended(f->desk));
	*why = f->scan_why;
	return -EPIPE;
}

static int scan_fd(void *ctx)
{
	const struct far_run *f = ctx;

	return far_desk_fd(f->desk);
}

const struct scan_far *far_run_scans(const struct far_run *f)
{
	return f ? &f->scans : NULL;
}

/* ---- the run ---- */

static int failed(struct far_run *f, int rc)
{
	far_run_close(f);
	return rc;
}

int far_run_open(struct far_run **out, const struct options *o)
{
	struct far_run *f = calloc(1, sizeof(*f));
	char message[READ_MESSAGE_MAX > FAR_PEER_MESSAGE ? READ_MESSAGE_MAX : FAR_PEER_MESSAGE];
	struct far_peer peer;
	int rc;

	*out = NULL;
	if (!f)
		return failure_print_errno("cannot connect", -ENOMEM);
	f->modules = 1;
	f->scans = (struct scan_far){ f, scan_begin, scan_cancel, scan_take, scan_fd };
	f->waits = o->batch || o->report || o->headless;
	f->fetches = !o->far.no_fetch;
	f->elsewhere = o->far.elsewhere;
	objects_find(f);
	rc = place_make(f, o);
	if (rc != 0)
		return failed(f, rc);
	if (far_peer_open(&peer, &f->place, message) != 0 ||
		far_desk_open(&f->desk, &peer, CONNECT_MS, message) != 0)
		return failed(f, failure_print(message));
	f->segment = read_open(far_desk_path(f->desk), message);
	if (!f->segment)
		return failed(f, failure_print(message));
	modules_look(f);
	*out = f;
	return 0;
}

void far_run_close(struct far_run *f)
{
	if (!f)
		return;
	read_close(f->segment);
	far_desk_close(f->desk);
	free(f);
}

const char *far_run_path(const struct far_run *f)
{
	return far_desk_path(f->desk);
}

void far_run_opened(struct far_run *f)
{
	far_desk_opened(f->desk);
}

const struct far_moment *far_run_moment(const struct far_run *f)
{
	return far_desk_moment(f->desk);
}

const struct sym_elsewhere *far_run_elsewhere(const struct far_run *f)
{
	return &f->elsewhere;
}

void far_run_tick(struct far_run *f)
{
	if (f && far_desk_tick(f->desk, f->waits ? TICK_MS : 0))
		modules_look(f);
}

bool far_run_is_open(const struct far_run *f)
{
	return !f || (!far_desk_ended(f->desk) && !far_desk_moment(f->desk)->tick.replaced);
}

const char *far_run_notice(const struct far_run *f)
{
	struct far_run *own = (struct far_run *)(uintptr_t)f;

	if (!f)
		return NULL;
	if (far_desk_moment(f->desk)->tick.replaced)
		return "the program called exec: its new image is not followed from here (connect "
		       "again)";
	if (!far_desk_ended(f->desk))
		return NULL;
	snprintf(own->notice, sizeof(own->notice), "these are the last figures: %s",
		far_desk_ended(f->desk));
	return own->notice;
}
