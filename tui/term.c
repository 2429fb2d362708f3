/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Takes the terminal and restores it. Called by loop.c on the main thread. The signal handlers only
 * set flags and write to a descriptor. On a crash they restore the terminal with async-signal-safe
 * calls: the bytes and modes are prepared beforehand, and endwin is not called.
 */
#include "tui/term.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>
#include "tui/curses_api.h"
#include <term.h> /* needs what curses declares */

#define ESC_DELAY_MS 25 /* after this, Esc was a key; sequences arrive faster, even over ssh */
#define CRASH_STACK  65536

static struct {
	bool open;
	SCREEN *screen;
	FILE *in, *out;
	bool own_files; /* /dev/tty, opened by us */
	struct termios modes; /* as we found them */
	char leave[512]; /* what makes the terminal usable again */
	size_t leave_bytes;
	bool mouse; /* it is reported */
	bool raw; /* term_raw */
	int stderr_was, stderr_now; /* -1: not redirected */
	int wake;
	void *crash_stack;
} term = { .stderr_was = -1, .stderr_now = -1, .wake = -1 };

static volatile sig_atomic_t flag_quit, flag_suspend, flag_resume, flag_resized;

/* ---- signals ------------------------------------------------------------------------------ */

static const int crash_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
#define CRASH_COUNT (sizeof(crash_signals) / sizeof(crash_signals[0]))
static struct sigaction crash_before[CRASH_COUNT];

static void term_on_signal(int sig)
{
	int saved = errno;
	uint64_t one = 1;

	switch (sig) {
	case SIGTSTP:
		flag_suspend = 1;
		break;
	case SIGCONT:
		flag_resume = 1;
		break;
	case SIGWINCH:
		flag_resized = 1;
		break;
	default:
		flag_quit = sig;
	}
	if (write(term.wake, &one, sizeof(one)) < 0) {
		/* The counter is full: the loop will wake anyway. */
	}
	errno = saved;
}

static const int loop_signals[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH };
#define LOOP_COUNT (sizeof(loop_signals) / sizeof(loop_signals[0]))
static struct sigaction loop_before[LOOP_COUNT];

/* Copies what was written to our stderr meanwhile. Only read and write, for the crash path. */
static void stderr_replay(void)
{
	char buf[4096];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(term.stderr_now, buf, sizeof(buf), at)) > 0) {
		at += n;
		if (write(term.stderr_was, buf, (size_t)n) < 0)
			return;
	}
}

static void stderr_restore(void)
{
	if (term.stderr_now < 0)
		return;
	dup2(term.stderr_was, STDERR_FILENO);
	stderr_replay();
}

static void term_leave_raw(void)
{
	int fd = fileno(term.out);

	if (write(fd, term.leave, term.leave_bytes) < 0) {
		/* The terminal is gone, and so is what had to be restored. */
	}
	tcsetattr(fd, TCSANOW, &term.modes);
	stderr_restore();
}

/* Restores the terminal, then leaves the signal to its previous handler (of a sanitizer, or none).
 */
static void term_on_crash(int sig, siginfo_t *info, void *context)
{
	(void)context;
	for (size_t i = 0; i < CRASH_COUNT; i++)
		sigaction(crash_signals[i], &crash_before[i], NULL);
	if (term.open)
		term_leave_raw();
	/* A fault happens again when we return; a signal that was sent must be sent again. */
	if (info->si_code <= 0)
		raise(sig);
}

static void term_catch(void)
{
	struct sigaction loop = { .sa_handler = term_on_signal };
	struct sigaction crash = { .sa_sigaction = term_on_crash,
		.sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t stack = { .ss_size = CRASH_STACK };

	term.crash_stack = stack.ss_sp = malloc(CRASH_STACK);
	if (stack.ss_sp)
		sigaltstack(&stack, NULL);
	for (size_t i = 0; i < LOOP_COUNT; i++) {
		sigaction(loop_signals[i], &loop, &loop_before[i]);
		/* Signals that our parent made us ignore (nohup) stay ignored. */
		if (loop_before[i].sa_handler == SIG_IGN)
			sigaction(loop_signals[i], &loop_before[i], NULL);
	}
	for (size_t i = 0; i < CRASH_COUNT; i++)
		sigaction(crash_signals[i], &crash, &crash_before[i]);
}

/* SIGHUP stays ignored: it may come more than once, and must not interrupt the clean-up after the
 * first. */
static void term_uncatch(void)
{
	stack_t none = { .ss_flags = SS_DISABLE };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	for (size_t i = 0; i < LOOP_COUNT; i++)
		sigaction(loop_signals[i], loop_signals[i] == SIGHUP ? &ignore : &loop_before[i],
			NULL);
	for (size_t i = 0; i < CRASH_COUNT; i++)
		sigaction(crash_signals[i], &crash_before[i], NULL);
	sigaltstack(&none, NULL);
	free(term.crash_stack);
	term.crash_stack = NULL;
}

/* ---- files -------------------------------------------------------------------------------- */

static int term_files(void)
{
	int fd;

	term.own_files = false;
	term.in = stdin;
	term.out = stdout;
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return 0;
	fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -ENOTTY;
	term.in = fdopen(fd, "r");
	term.out = fdopen(fcntl(fd, F_DUPFD_CLOEXEC, 3), "w");
	if (!term.in || !term.out)
		return -ENOTTY;
	term.own_files = true;
	return 0;
}

static void term_files_close(void)
{
	if (!term.own_files)
		return;
	fclose(term.in);
	fclose(term.out);
}

/* Messages on stderr would damage the screen. A stderr that is not a terminal is left alone. */
static void stderr_take(void)
{
	if (!isatty(STDERR_FILENO))
		return;
	term.stderr_now = memfd_create("heaptop-stderr", MFD_CLOEXEC);
	if (term.stderr_now < 0)
		return;
	fflush(stderr);
	term.stderr_was = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (term.stderr_was < 0) { /* it could not be given back, and what it says would be lost */
		close(term.stderr_now);
		term.stderr_now = -1;
		return;
	}
	dup2(term.stderr_now, STDERR_FILENO);
}

static void stderr_give(void)
{
	if (term.stderr_now < 0)
		return;
	fflush(stderr);
	stderr_restore();
	close(term.stderr_now);
	close(term.stderr_was);
	term.stderr_now = term.stderr_was = -1;
}

/* ---- curses ------------------------------------------------------------------------------- */

/* Appends a capability without its padding ("$<5>"). */
static void leave_add(const char *capability)
{
	const char *text = tigetstr(capability);

	if (!text || text == (char *)-1)
		return;
	while (*text && term.leave_bytes < sizeof(term.leave)) {
		if (text[0] == '$' && text[1] == '<' && strchr(text, '>'))
			text = strchr(text, '>') + 1;
		else
			term.leave[term.leave_bytes++] = *text++;
	}
}

/*
 * Curses scrolls within a region, and afterwards sets one of the height that it knows. If the
 * terminal was resized meanwhile, that is less than the screen, and the next program would scroll
 * only there. This sequence sets the whole screen, whatever its height, and moves the cursor home.
 * NULL: unknown.
 */
static const char *whole_region(void)
{
	const char *region = tigetstr("csr");

	return region && region != (char *)-1 && !strcmp(region, "\033[%i%p1%d;%p2%dr") ? "\033[r"
											: NULL;
}

static bool mouse_is_there(void)
{
	const char *sequence = tigetstr("kmous");

	return sequence && sequence != (char *)-1;
}

/* Terminals with an alternate screen know how to mark pasted text, or ignore the request. */
bool term_has_modes(void)
{
	const char *alternate = tigetstr("rmcup");

	return alternate && alternate != (char *)-1;
}

static const char pastes_on[] = "\033[?2004h", pastes_off[] = "\033[?2004l";

/*
 * Whole screen scrolls, colours off, keypad off, cursor on, the previous screen back, mouse reports
 * off. The cursor is switched on once more: with the previous screen, terminals made with libvterm
 * bring it back as it was when curses last saved its place, which was hidden.
 */
static void leave_prepare(bool mouse)
{
	static const char *const capabilities[] = { "sgr0", "op", "rmkx", "cnorm", "rmcup",
		"cnorm" };
	static const char mouse_off[] = "\033[?1002l\033[?1000l\033[?1006l";
	const char *region = whole_region();

	term.leave_bytes = 0;
	while (region && *region)
		term.leave[term.leave_bytes++] = *region++;
	if (mouse && mouse_is_there()) {
		memcpy(term.leave + term.leave_bytes, mouse_off, sizeof(mouse_off) - 1);
		term.leave_bytes += sizeof(mouse_off) - 1;
	}
	if (term_has_modes()) {
		memcpy(term.leave + term.leave_bytes, pastes_off, sizeof(pastes_off) - 1);
		term.leave_bytes += sizeof(pastes_off) - 1;
	}
	for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
		leave_add(capabilities[i]);
}

/* Arrow keys as terminals send them outside keypad mode; terminfo knows only the other form. */
static void keys_define(void)
{
	static const struct {
		const char *sequence;
		int key;
	} keys[] = {
		{ "\033[A", KEY_UP },
		{ "\033[B", KEY_DOWN },
		{ "\033[C", KEY_RIGHT },
		{ "\033[D", KEY_LEFT },
		{ "\033[H", KEY_HOME },
		{ "\033[F", KEY_END },
		{ "\033[1~", KEY_HOME },
		{ "\033[4~", KEY_END },
		{ "\033OP", KEY_F(1) },
		{ "\033[11~", KEY_F(1) },
		{ "\033[Z", KEY_BTAB },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		define_key(keys[i].sequence, keys[i].key);
}

#define MOUSE_EVENTS                                                                               \
	(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_RELEASED | BUTTON3_PRESSED |                  \
		BUTTON3_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED | REPORT_MOUSE_POSITION)

/*
 * Asks for the mouse's position while a button is held, too (xterm's mode 1002): curses asks for
 * presses and releases only. After curses has asked, since the last request holds.
 */
static void mouse_drags(bool on)
{
	static const char off[] = "\033[?1002l", request[] = "\033[?1002h";

	if (term.mouse)
		term_write(on ? request : off, sizeof(off) - 1);
}

/* Asks that pasted text is marked (bracketed paste), so that it does not run as commands. */
static void pastes(bool on)
{
	if (term_has_modes())
		term_write(on ? pastes_on : pastes_off, sizeof(pastes_on) - 1);
}

void term_mouse(bool ours)
{
	if (!term.screen || ours == term.mouse)
		return;
	mouse_drags(false);
	mousemask(ours ? MOUSE_EVENTS : 0, NULL);
	if (ours)
		mouseinterval(0);
	leave_prepare(ours);
	term.mouse = ours && mouse_is_there();
	mouse_drags(true);
}

static void curses_set_up(bool mouse)
{
	set_term(term.screen);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESC_DELAY_MS);
	curs_set(0);
	keys_define();
	if (mouse) {
		mousemask(MOUSE_EVENTS, NULL);
		mouseinterval(0);
	}
	leave_prepare(mouse);
	term.mouse = mouse && mouse_is_there();
	mouse_drags(true);
	pastes(true);
}

/* A terminal that terminfo does not know most likely understands vt100. */
static SCREEN *curses_new(void)
{
	SCREEN *s = newterm(NULL, term.out, term.in);

	if (!s && setenv("TERM", "vt100", 1) == 0)
		s = newterm("vt100", term.out, term.in);
	return s;
}

/* Our stdin and stdout may be pipes or files while there is a terminal (`make | heaptop -- app
 * >log`). */
bool term_probe(struct winsize *size)
{
	bool ours = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	int fd = ours ? STDOUT_FILENO : open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return false;
	ioctl(fd, TIOCGWINSZ, size);
	if (!ours)
		close(fd);
	return true;
}

bool term_can_draw(void)
{
	const char *address;
	int found;

	if (setupterm(NULL, STDOUT_FILENO, &found) != OK)
		return found != 1; /* 1: a hardcopy terminal */
	address = tigetstr("cup");
	found = address && address != (char *)-1;
	del_curterm(cur_term);
	return found;
}

int term_open(bool mouse)
{
	if (term_files())
		return -ENOTTY;
	term.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	flag_quit = flag_suspend = flag_resume = flag_resized = 0;
	if (term.wake < 0 || tcgetattr(fileno(term.out), &term.modes))
		goto no_files;
	/* Before newterm: curses leaves alone what is handled already. */
	term_catch();
	term.screen = curses_new();
	if (!term.screen)
		goto no_signals;
	curses_set_up(mouse);
	stderr_take();
	term.open = true;
	return 0;

no_signals:
	term_uncatch();
no_files:
	if (term.wake >= 0)
		close(term.wake);
	term_files_close();
	return -ENOTTY;
}

/* Curses has flushed its output, and positions the cursor before it writes again. */
static void region_reset(void)
{
	const char *region = whole_region();

	if (region)
		term_write(region, strlen(region));
}

/* Again, after the previous screen is back (leave_prepare). */
static void cursor_show(void)
{
	const char *on = tigetstr("cnorm");

	if (on && on != (char *)-1 && !strchr(on, '$'))
		term_write(on, strlen(on));
}

static void curses_end(void)
{
	region_reset();
	mouse_drags(false);
	pastes(false);
	endwin();
	cursor_show();
}

void term_close(void)
{
	if (!term.open)
		return;
	curses_end();
	term.open = false;
	delscreen(term.screen);
	term_uncatch();
	close(term.wake);
	stderr_give();
	term_files_close();
}

int term_fd(void)
{
	return fileno(term.in);
}

int term_wake_fd(void)
{
	return term.wake;
}

struct term_signals term_signals_take(void)
{
	struct term_signals s;
	uint64_t count;

	if (read(term.wake, &count, sizeof(count)) < 0) {
		/* Nothing there: the flags say the same. */
	}
	s = (struct term_signals){ .quit = flag_quit,
		.suspend = flag_suspend,
		.resume = flag_resume,
		.resized = flag_resized };
	flag_quit = flag_suspend = flag_resume = flag_resized = 0;
	return s;
}

/* Curses sets its modes and repaints everything. */
static void curses_back(void)
{
	reset_prog_mode();
	clearok(curscr, TRUE);
	doupdate();
	mouse_drags(true);
	pastes(true);
}

void term_suspend(void)
{
	struct sigaction stop = { .sa_handler = SIG_DFL }, mine;

	def_prog_mode();
	curses_end();
	sigaction(SIGTSTP, &stop, &mine);
	/* Alone (no shell that could continue us), the kernel ignores this and we go on. */
	raise(SIGTSTP);
	sigaction(SIGTSTP, &mine, NULL);
	flag_resume = 0;
	curses_back();
}

static struct sigaction lend_before;

void term_lend(void)
{
	struct sigaction stop = { .sa_handler = SIG_DFL };

	def_prog_mode();
	curses_end();
	sigaction(SIGTSTP, &stop, &lend_before);
}

void term_take_back(void)
{
	sigaction(SIGTSTP, &lend_before, NULL);
	curses_back();
}

int term_out_fd(void)
{
	return fileno(term.out);
}

void term_write(const char *bytes, size_t len)
{
	int fd = fileno(term.out);

	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno != EINTR)
			return; /* the terminal is gone; the loop notices */
		bytes += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
}

void term_resume(void)
{
	curses_end();
	curses_back();
}

void term_measure(int *height, int *width)
{
	struct winsize size;

	if (!ioctl(fileno(term.out), TIOCGWINSZ, &size) && size.ws_row && size.ws_col &&
		(size.ws_row != LINES || size.ws_col != COLS)) {
		resizeterm(size.ws_row, size.ws_col);
		region_reset();
		clearok(curscr, TRUE);
	}
	*height = LINES;
	*width = COLS;
}

void term_raw(bool on)
{
	if (on == term.raw || !term.open)
		return;
	term.raw = on;
	pastes(!on);
	if (on) {
		raw();
		return;
	}
	noraw();
	cbreak();
}
