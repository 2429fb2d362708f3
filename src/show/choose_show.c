/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process is chosen on the screen (choose_show.h). Main thread. */
#include "src/show/choose_show.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/run/attach_choice.h"
#include "src/run/failure.h"
#include "tui/chooser.h"
#include "tui/term.h"

static int choose(
	void *ctx, struct candidates *candidates, const char *title, pid_t *pids, size_t max)
{
	const struct options *o = ctx;
	const struct chooser_source source = {
		.ctx = candidates, .rows = candidates_rows, .title = title
	};
	const struct tui_options t = {
		.delay_ns = o->delay_ns, .color = (enum tui_color)o->color, .ascii = o->ascii
	};
	int signal, n = chooser_run(&source, &t, pids, max, &signal);

	if (n == -EINTR)
		return -(128 + signal);
	if (n < 0)
		return -failure_print_errno("cannot show processes to choose from", n);
	return n;
}

/* Output that is not for a person's eyes gets a list. */
static bool has_screen(const struct options *o)
{
	struct winsize size;

	return !o->batch && !o->report && !o->headless && !o->script && isatty(STDOUT_FILENO) &&
	       term_probe(&size) && term_can_draw();
}

int choose_show(struct options *o)
{
	return attach_choice_make(o, has_screen(o) ? choose : NULL, o);
}
