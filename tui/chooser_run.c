/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of a process on the terminal (chooser.h): waits for keys, signals and time. Main
 * thread. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "tui/chooser.h"
#include "tui/curses_api.h"
#include "tui/draw.h"
#include "tui/term.h"
#include "tui/term_keys.h"

#define EMPTY_READS_MAX 3 /* in a row: the terminal is gone (loop.c) */

struct choosing {
	struct chooser chooser;
	int empty_reads, result, signal;
	bool over;
};

static void end(struct choosing *c, int result)
{
	c->over = true;
	c->result = result;
}

static void resized(struct choosing *c)
{
	int height, width;

	term_measure(&height, &width);
	chooser_resize(&c->chooser, width, height);
}

static void signals_take(struct choosing *c)
{
	struct term_signals s = term_signals_take();

	if (s.quit) {
		c->signal = s.quit;
		end(c, -EINTR);
	} else if (s.suspend) {
		term_suspend();
	} else if (s.resume) {
		term_resume();
	}
	if (!s.quit && (s.suspend || s.resume || s.resized)) {
		clearok(curscr, TRUE);
		resized(c);
	}
}

static void keys_take(struct choosing *c)
{
	int key, keys = 0;

	while (c->chooser.end == CHOOSER_OPEN && (key = term_keys_next()) != ERR) {
		keys++;
		if (key == '\x1a')
			term_suspend();
		else if (key != KEY_RESIZE && key != KEY_MOUSE)
			chooser_key(&c->chooser, key);
		if (key == '\x1a')
			resized(c);
	}
	c->empty_reads = keys ? 0 : c->empty_reads + 1;
	if (c->empty_reads >= EMPTY_READS_MAX)
		end(c, -EIO);
	else if (c->chooser.end != CHOOSER_OPEN)
		end(c, 0);
}

static void turn(struct choosing *c, int wait_ms)
{
	struct pollfd fds[] = { { term_fd(), POLLIN, 0 }, { term_wake_fd(), POLLIN, 0 } };
	int n;

	chooser_draw(&c->chooser);
	doupdate();
	n = poll(fds, 2, wait_ms);
	if (n == 0)
		chooser_refresh(&c->chooser);
	if (n <= 0)
		return;
	if (fds[1].revents)
		signals_take(c);
	if (!c->over && fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		end(c, -EIO);
	else if (!c->over && fds[0].revents)
		keys_take(c);
}

int chooser_run(const struct chooser_source *source, const struct tui_options *o, pid_t *pids,
	size_t max, int *signal)
{
	struct choosing *c = calloc(1, sizeof(*c));
	int height, width, rc = c ? term_open(false) : -ENOMEM;

	*signal = 0;
	if (rc == 0) {
		draw_init(o->color, o->ascii);
		term_measure(&height, &width);
		chooser_init(&c->chooser, source, width, height);
		while (!c->over)
			turn(c, (int)(o->delay_ns / 1000000));
		rc = c->result;
		*signal = c->signal;
		if (rc == 0 && c->chooser.end == CHOOSER_TAKEN)
			rc = (int)chooser_taken(&c->chooser, pids, max);
		term_close();
	}
	free(c);
	return rc;
}
