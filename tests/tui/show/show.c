/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The real screen with canned data that move: to look at, and for the tests in a terminal. No
 * program is watched. Usage: tui-show [-U] [-M] [-n FRAMES] [-d MS] [-s SITES] [-c
 * CRASH-AFTER-TICKS] [-e] [-k: nothing moves] [-t: the past is kept] [-L: a tick ends a scan] [-p
 * SCRIPT: plays it without a terminal or a clock, and without colours unless -C: the pictures of
 * the manual are made so]
 */
#include <signal.h>
#include <unistd.h>
#include "src/util/clock.h"
#include "tests/tui/canned.h"
#include "tui/script.h"

static struct canned canned;
static unsigned crash_after, ticks;
static int lines_fd = -1;
static bool ends_scans;
static bool keep; /* the first snapshot is the only one */
static struct snapshot *kept;

static uint64_t show_now(void *ctx)
{
	return clock_monotonic_ns();
}

static int show_fds(void *ctx, struct pollfd *fds, int max)
{
	if (lines_fd < 0 || max < 1)
		return 0;
	fds[0] = (struct pollfd){ .fd = lines_fd, .events = POLLIN };
	return 1;
}

static bool show_ready(void *ctx)
{
	char buf[256];
	ssize_t n = read(lines_fd, buf, sizeof(buf));

	if (n <= 0)
		lines_fd = -1;
	else
		canned.lines += (size_t)n;
	return true;
}

static struct snapshot *show_tick(void *ctx, const char **error)
{
	if (keep) {
		if (!kept)
			kept = canned_tick(ctx, error);
		snapshot_ref(kept);
		return kept;
	}
	canned.lines += 3;
	if (ends_scans && canned.leaks.state.phase != LEAKS_IDLE)
		cannedleaks_end(&canned.leaks, canned.seconds * CANNED_S);
	if (crash_after && ++ticks > crash_after) {
		fputs("said on stderr while the screen was up\n", stderr);
		raise(SIGSEGV);
	}
	return canned_tick(ctx, error);
}

/* The same pictures each time: frames come at once, and the time is canned. */
static int show_play(const char *path, struct tui_options *options)
{
	struct tui_source source = canned_source(&canned);
	char why[SCRIPT_WHY_MAX];
	struct script *script = script_load(path, why);
	int signal, rc = -EINVAL;

	if (script)
		rc = script_run(script, &source, options, &signal, why);
	script_free(script);
	if (rc)
		fprintf(stderr, "%s\n", why);
	return rc != 0;
}

int main(int argc, char **argv)
{
	struct tui_options options = { .delay_ns = CANNED_S, .version = "0.1.0" };
	enum tui_color played = TUI_COLOR_NEVER;
	struct tui_source source = canned_source(&canned);
	const char *script = NULL;
	int c, sig, rc;

	canned = canned_default();
	source.now_ns = show_now;
	source.tick = show_tick;
	source.fds = show_fds;
	source.ready = show_ready;
	while ((c = getopt(argc, argv, "UCMn:d:s:c:ekLltf:p:")) != -1) {
		if (c == 'U')
			options.ascii = true;
		else if (c == 'C')
			played = TUI_COLOR_ALWAYS;
		else if (c == 'M')
			options.no_mouse = true;
		else if (c == 'n')
			options.frames = (unsigned)atoi(optarg);
		else if (c == 'd')
			options.delay_ns = (uint64_t)atoi(optarg) * 1000000u;
		else if (c == 's')
			canned.nsites = (size_t)atol(optarg);
		else if (c == 'c')
			crash_after = (unsigned)atoi(optarg);
		else if (c == 'e')
			canned.state = SNAP_KILLED;
		else if (c == 'k')
			keep = true;
		else if (c == 'L')
			ends_scans = true;
		else if (c == 'f')
			lines_fd = atoi(optarg);
		else if (c == 'p')
			script = optarg;
		else if (c == 't')
			canned.past = true;
		else if (c == 'l')
			options.launched = true;
		else
			return 2;
	}
	if (script) {
		options.color = played;
		return show_play(script, &options);
	}
	rc = tui_run(&source, &options, &sig);
	snapshot_unref(kept);
	fprintf(stderr, "tui_run: %d, signal %d\n", rc, sig);
	return rc != 0;
}
