/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asking a terminal for its background (background.h). The request is followed by one that every
 * terminal answers (DA1), so that one without an answer to the first costs no waiting. Called once,
 * before the first frame, on the main thread.
 */
#include "tui/background.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tui/curses_api.h"
#include "tui/term.h"
#include "src/util/clock.h"

#define ANSWER_MS   100
#define ANSWER_MOST 512

static const char request[] = "\033]11;?\033\\\033[c";

enum draw_background background_parse(const char *text)
{
	const char *at = strstr(text, "]11;rgb:");
	unsigned part[3], digits = 0;
	double light;

	if (!at || sscanf(at + 8, "%4x/%4x/%4x", &part[0], &part[1], &part[2]) != 3)
		return DRAW_UNKNOWN;
	digits = (unsigned)strspn(at + 8, "0123456789abcdefABCDEF");
	light = (0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2]) /
		(double)((1u << 4 * (digits ? digits : 1)) - 1);
	return light < 0.5 ? DRAW_DARK : DRAW_LIGHT;
}

enum draw_background background_of_colorfgbg(const char *value)
{
	const char *back = value ? strrchr(value, ';') : NULL;
	char *end;
	unsigned long color;

	if (!back)
		return DRAW_UNKNOWN;
	color = strtoul(back + 1, &end, 10);
	if (end == back + 1 || *end || color > 15)
		return DRAW_UNKNOWN;
	return color < COLOR_WHITE || color == 8 ? DRAW_DARK : DRAW_LIGHT;
}

/* The end of the answer to DA1, "Esc [ ? ... c"; NULL: it has not come. */
static const char *answer_end(const char *text)
{
	const char *at = strstr(text, "\033[?");

	return at ? strchr(at, 'c') : NULL;
}

/* Gives back what is no answer: keys that were typed. */
static void keys_return(const char *text, size_t len)
{
	const char *osc = strstr(text, "\033]11;"), *end = answer_end(text);
	const char *first = osc ? osc : strstr(text, "\033[?");

	for (size_t i = len; end && i > (size_t)(end + 1 - text); i--)
		ungetch((unsigned char)text[i - 1]);
	for (const char *at = first ? first : text + len; at > text; at--)
		ungetch((unsigned char)at[-1]);
}

enum draw_background background_ask(void)
{
	uint64_t until = clock_monotonic_ns() + ANSWER_MS * UINT64_C(1000000), now;
	struct pollfd ready = { .fd = term_fd(), .events = POLLIN };
	char text[ANSWER_MOST] = "";
	size_t len = 0;

	term_write(request, sizeof(request) - 1);
	while (!answer_end(text) && len < sizeof(text) - 1) {
		ssize_t n;

		now = clock_monotonic_ns();
		if (now >= until || poll(&ready, 1, (int)((until - now) / 1000000) + 1) <= 0 ||
			!(ready.revents & POLLIN))
			break;
		n = read(ready.fd, text + len, sizeof(text) - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
		text[len] = '\0';
	}
	keys_return(text, len);
	return background_parse(text);
}
