/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The main loop: waits for a key, the clock, a signal or the source, handles all that is ready, and
 * draws one frame. It never spins: a terminal that hangs up, or is readable without data, ends it.
 * Main thread, from tui_run until the user leaves.
 */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "src/util/clock.h"
#include "tui/curses_api.h"
#include "tui/background.h"
#include "tui/draw.h"
#include "tui/editor.h"
#include "tui/refresh.h"
#include "tui/screen.h"
#include "tui/term.h"
#include "tui/term_keys.h"
#include "tui/tui.h"
#include "tui/ui.h"
#include "tui/view_output.h"

#define SOURCE_FDS_MAX	12
#define EMPTY_READS_MAX 3 /* reads without a key, in a row, that mean the terminal is gone */
/* At most one frame in this time for output and names that arrive; keys do not wait. */
#define FRAME_GAP_NS 50000000ull
/* Another program may write on our terminal (wall); a repaint after this time removes that. */
#define REPAINT_NS 60000000000ull

/* The first frames come earlier than the delay, so that the screen fills soon: at these times after
 * the start, if the delay is longer. */
static const uint64_t early_ns[] = { 100000000, 300000000, 1000000000, 3000000000, 10000000000,
	30000000000 };
#define EARLY (sizeof(early_ns) / sizeof(early_ns[0]))

struct loop {
	struct ui ui;
	int timer;
	unsigned early; /* early frames drawn so far */
	uint64_t start_ns;
	bool early_over; /* the user chose a delay */
	int empty_reads;
	bool dirty, urgent; /* a frame is due; and at once */
	uint64_t drawn_ns, painted_ns;
	int result, signal;
};

enum { FD_TERM, FD_TIMER, FD_WAKE, FD_SOURCE };

static uint64_t loop_delay_ns(const struct loop *l)
{
	return l->ui.options.delay_ns ? l->ui.options.delay_ns : 1000000000ull;
}

static bool loop_is_early(const struct loop *l)
{
	return !l->early_over && l->early < EARLY && early_ns[l->early] < loop_delay_ns(l);
}

static struct timespec loop_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u),
		.tv_nsec = (long)(ns % 1000000000u) };
}

/* Ticks `first_ns` from now, and then after each delay. */
static int loop_arm(struct loop *l, uint64_t first_ns)
{
	struct itimerspec every = { .it_interval = loop_timespec(loop_delay_ns(l)),
		.it_value = loop_timespec(first_ns ? first_ns : 1) };

	return timerfd_settime(l->timer, 0, &every, NULL) ? -errno : 0;
}

/* At the start, and after each early frame. */
static int loop_arm_early(struct loop *l)
{
	uint64_t passed = clock_monotonic_ns() - l->start_ns;
	uint64_t due = loop_is_early(l) ? early_ns[l->early] : loop_delay_ns(l);

	return loop_arm(l, due > passed ? due - passed : 0);
}

static void loop_resized(struct loop *l)
{
	int height, width;

	term_measure(&height, &width);
	screen_resize(&l->ui, height, width);
	l->urgent = true;
}

static void loop_end(struct loop *l, int result)
{
	l->ui.quit = true;
	l->result = result;
}

/* ---- what can happen ---------------------------------------------------------------------- */

static void loop_mouse(struct loop *l)
{
	MEVENT e;

	if (getmouse(&e) == ERR)
		return;
	if (e.bstate & BUTTON4_PRESSED)
		screen_mouse(&l->ui, SCREEN_WHEEL_UP, e.y, e.x);
	else if (e.bstate & BUTTON5_PRESSED)
		screen_mouse(&l->ui, SCREEN_WHEEL_DOWN, e.y, e.x);
	else if (e.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED))
		screen_mouse(&l->ui, SCREEN_CLICK, e.y, e.x);
	else if (e.bstate & (BUTTON3_PRESSED | BUTTON3_CLICKED))
		screen_mouse(&l->ui, SCREEN_CLICK_RIGHT, e.y, e.x);
	else if (e.bstate & BUTTON1_RELEASED)
		screen_mouse(&l->ui, SCREEN_RELEASE, e.y, e.x);
	else if (e.bstate & REPORT_MOUSE_POSITION)
		screen_mouse(&l->ui, SCREEN_DRAG, e.y, e.x);
}

/* What the user types to the program is not looked into. */
static int next_key(const struct loop *l)
{
	bool types = view_output_types(&l->ui);

	term_raw(types);
	return types ? term_keys_byte() : term_keys_next();
}

/* Handles all waiting keys before a frame is drawn, so that a held key cannot outrun us. */
static void loop_keys(struct loop *l)
{
	int key, keys = 0;

	while (!l->ui.quit && !l->ui.suspend && !l->ui.edit_line && (key = next_key(l)) != ERR) {
		keys++;
		if (key == KEY_MOUSE)
			loop_mouse(l);
		else if (key > 0 && key & TERM_KEYS_PASTED)
			screen_pasted(&l->ui, key & ~TERM_KEYS_PASTED);
		else if (key != KEY_RESIZE)
			screen_key(&l->ui, key);
	}
	term_raw(view_output_types(&l->ui));
	l->urgent |= keys > 0;
	l->empty_reads = keys ? 0 : l->empty_reads + 1;
	if (l->empty_reads >= EMPTY_READS_MAX)
		loop_end(l, -EIO);
	if (l->ui.delay_changed) {
		l->early_over = true;
		loop_arm(l, loop_delay_ns(l));
	} else if (!loop_is_early(l) && refresh_is_due(&l->ui)) {
		loop_arm(l, 0); /* data that a key asks for is fetched at once */
	}
	l->ui.delay_changed = false;
}

static void loop_terminal(struct loop *l, short events)
{
	if (events & (POLLHUP | POLLERR | POLLNVAL))
		loop_end(l, -EIO);
	else if (events & POLLIN)
		loop_keys(l);
}

static void loop_tick(struct loop *l)
{
	uint64_t times;

	if (read(l->timer, &times, sizeof(times)) < 0)
		return;
	refresh_tick(&l->ui);
	l->urgent = true;
	if (loop_is_early(l)) {
		l->early++;
		loop_arm_early(l);
	}
	/* Early frames are not counted. */
	if (l->ui.options.frames && l->ui.ticks - l->early >= l->ui.options.frames)
		loop_end(l, 0);
}

static void loop_suspend(struct loop *l)
{
	l->ui.suspend = false;
	term_suspend();
	loop_resized(l);
}

static void loop_signals(struct loop *l)
{
	struct term_signals s = term_signals_take();

	if (s.quit) {
		l->signal = s.quit;
		loop_end(l, -EINTR);
		return;
	}
	if (s.suspend)
		l->ui.suspend = true;
	else if (s.resume)
		term_resume();
	/* A terminal that was made smaller and larger again between two frames has lost what it cut
	 * off. */
	if (s.resized)
		l->ui.repaint = true;
	if (s.resume || s.resized)
		loop_resized(l);
}

static void loop_source(struct loop *l, const struct pollfd *fds, int count)
{
	for (int i = 0; i < count; i++) {
		if (!fds[i].revents)
			continue;
		if (l->ui.source->ready(l->ui.source->ctx))
			l->dirty = true;
		return;
	}
}

/* ---- the editor --------------------------------------------------------------------------- */

#define EDITOR_LOOK_MS 200 /* how often to check for its end without a pidfd */
#define EDITOR_LAST_NS 500000000ull /* its time to end when we must */

/* The program keeps running meanwhile: its output is read, and snapshots are taken. */
static void lent_wait(struct loop *l, int ended)
{
	struct pollfd fds[FD_SOURCE + SOURCE_FDS_MAX] = {
		[FD_TERM] = { ended, POLLIN, 0 },
		[FD_TIMER] = { l->timer, POLLIN, 0 },
		[FD_WAKE] = { term_wake_fd(), POLLIN, 0 },
	};
	const struct tui_source *source = l->ui.source;
	int more = source->fds ? source->fds(source->ctx, fds + FD_SOURCE, SOURCE_FDS_MAX) : 0;

	if (poll(fds, (nfds_t)(FD_SOURCE + more), EDITOR_LOOK_MS) <= 0)
		return;
	if (fds[FD_TIMER].revents)
		loop_tick(l);
	if (source->ready)
		loop_source(l, fds + FD_SOURCE, more);
}

/* Waits for the editor, which gets the terminal's signals. Returns its wait status. */
static int lent_until_end(struct loop *l, pid_t pid)
{
	int ended = pidfd_open(pid, 0), status = 0;
	uint64_t last = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct term_signals s;

		lent_wait(l, ended);
		s = term_signals_take();
		if (s.quit && s.quit != SIGINT && s.quit != SIGQUIT && !last) {
			l->signal = s.quit;
			loop_end(l, -EINTR);
			kill(pid, s.quit);
			last = clock_monotonic_ns() + EDITOR_LAST_NS;
		}
		if (last && clock_monotonic_ns() > last)
			break;
	}
	if (ended >= 0)
		close(ended);
	return status;
}

static void loop_edit(struct loop *l)
{
	struct ui *ui = &l->ui;
	int status = 0;
	pid_t pid;

	term_lend();
	pid = editor_start(ui->editor, ui->edit_path, ui->edit_line, term_fd(), term_out_fd());
	ui->edit_line = 0;
	if (pid > 0)
		status = lent_until_end(l, pid);
	term_take_back();
	loop_resized(l);
	if (ui->source->source_forget)
		ui->source->source_forget(ui->source->ctx);
	if (pid < 0)
		ui_message(ui, "%s: %s", ui->editor, strerror(-(int)pid));
	else if (WIFEXITED(status) && WEXITSTATUS(status))
		ui_message(ui, "%s exited with status %d%s", ui->editor, WEXITSTATUS(status),
			WEXITSTATUS(status) == 127 ? ": command not found" : "");
	else if (WIFSIGNALED(status))
		ui_message(ui, "%s was killed by signal %d", ui->editor, WTERMSIG(status));
	else
		ui_message(ui, "back from %s", ui->editor);
}

static void loop_clipboard(struct loop *l)
{
	term_write(l->ui.clipboard.data, l->ui.clipboard.len);
	strbuf_reset(&l->ui.clipboard);
}

/* ---- one turn ----------------------------------------------------------------------------- */

static void loop_draw(struct loop *l)
{
	uint64_t now = clock_monotonic_ns();

	if (l->ui.repaint)
		clearok(curscr, TRUE);
	else if (now - l->painted_ns > REPAINT_NS)
		redrawwin(stdscr);
	if (l->ui.repaint || now - l->painted_ns > REPAINT_NS)
		l->painted_ns = now;
	l->ui.repaint = false;
	screen_draw(&l->ui);
	doupdate();
	l->dirty = l->urgent = false;
	l->drawn_ns = now;
}

/* Milliseconds until a frame is due; -1: none is. */
static int loop_due_ms(const struct loop *l)
{
	uint64_t since = clock_monotonic_ns() - l->drawn_ns;

	if (l->urgent)
		return 0;
	if (!l->dirty)
		return -1;
	return since >= FRAME_GAP_NS ? 0 : (int)((FRAME_GAP_NS - since) / 1000000u) + 1;
}

static void loop_turn(struct loop *l)
{
	struct pollfd fds[FD_SOURCE + SOURCE_FDS_MAX] = {
		[FD_TERM] = { term_fd(), POLLIN, 0 },
		[FD_TIMER] = { l->timer, POLLIN, 0 },
		[FD_WAKE] = { term_wake_fd(), POLLIN, 0 },
	};
	const struct tui_source *source = l->ui.source;
	int more = source->fds ? source->fds(source->ctx, fds + FD_SOURCE, SOURCE_FDS_MAX) : 0;
	int due = loop_due_ms(l);

	if (due == 0) {
		loop_draw(l);
		due = -1;
	}
	if (poll(fds, (nfds_t)(FD_SOURCE + more), due) < 0)
		return; /* EINTR: the wake descriptor is readable now */
	if (fds[FD_WAKE].revents)
		loop_signals(l);
	if (!l->ui.quit && fds[FD_TERM].revents)
		loop_terminal(l, fds[FD_TERM].revents);
	if (!l->ui.quit && fds[FD_TIMER].revents)
		loop_tick(l);
	if (!l->ui.quit && source->ready)
		loop_source(l, fds + FD_SOURCE, more);
	if (l->ui.suspend && !l->ui.quit)
		loop_suspend(l);
	if (l->ui.clipboard.len)
		loop_clipboard(l);
	if (l->ui.edit_line && !l->ui.quit)
		loop_edit(l);
}

static void loop_run(struct loop *l)
{
	loop_resized(l);
	l->painted_ns = clock_monotonic_ns();
	refresh_tick(&l->ui);
	if (l->ui.options.frames == 1) {
		loop_draw(l);
		return;
	}
	while (!l->ui.quit)
		loop_turn(l);
	/* With --frames the last frame is drawn, too. */
	if (l->urgent && l->ui.options.frames && !l->result)
		loop_draw(l);
}

/* Not asked where nothing depends on it. */
static void loop_background(const struct tui_options *options)
{
	enum draw_background on = DRAW_UNKNOWN;
	bool known = options->settings && (options->settings->theme == SETTINGS_THEME_DARK ||
						  options->settings->theme == SETTINGS_THEME_LIGHT);

	if (!known && options->color != TUI_COLOR_NEVER && term_has_modes() && has_colors())
		on = background_ask();
	if (on == DRAW_UNKNOWN)
		on = background_of_colorfgbg(getenv("COLORFGBG"));
	draw_background_set(on);
}

static int loop_all(
	struct loop *l, const struct tui_source *source, const struct tui_options *options)
{
	int err = term_open(!options->no_mouse);

	if (err)
		return err;
	loop_background(options);
	draw_init(options->color, options->ascii);
	screen_init(&l->ui, source, options);
	l->ui.has_terminal = true;
	l->ui.editor = editor_name();
	l->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	l->start_ns = clock_monotonic_ns();
	err = l->timer < 0 ? -errno : loop_arm_early(l);
	if (!err)
		loop_run(l);
	screen_free(&l->ui);
	if (l->timer >= 0)
		close(l->timer);
	term_close();
	return err ? err : l->result;
}

int tui_run(const struct tui_source *source, const struct tui_options *options, int *signal)
{
	struct loop *l = calloc(1, sizeof(*l)); /* too large for the stack */
	int err;

	*signal = 0;
	if (!l)
		return -ENOMEM;
	setlocale(LC_CTYPE, "");
	err = loop_all(l, source, options);
	*signal = l->signal;
	free(l);
	return err;
}
