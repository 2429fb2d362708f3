/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cuts a core file shorter and shorter, and opens and scans it each time as heaptop -r CORE
 * --leak-check does: for tests.
 *
 *	cut_core CORE STEP [SEGMENT]
 *
 * The file is consumed. It opens and says that it is cut short, and has the same account; or one
 * line says why it does not open. Prints a line of JSON with how often which; ends 1 after the
 * first length at which it was otherwise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/core/account.h"
#include "src/core/missing.h"
#include "src/core/open.h"
#include "src/leak/scan.h"
#include "src/read/read.h"

#define CUT "cut short"

struct tries {
	const char *path, *segment; /* segment: NULL: what the core names */
	uint64_t bytes; /* live, in the whole core */
	unsigned opened, no_core, no_account, unscanned;
	char why[600]; /* what is wrong; empty: nothing */
};

static bool is_reason(const char *message)
{
	return *message && !strchr(message, '\n');
}

static void scan_try(struct tries *t, const struct core *c, struct read_segment *s)
{
	struct leak_scan_options options = { .pid = c->pid,
		.core = c,
		.roots = ~0u,
		.heuristics = ~0u,
		.why = true,
		.holders = true };
	struct leak_result result = { 0 };
	char message[READ_MESSAGE_MAX + TRACE_MESSAGE_MAX];

	*message = '\0';
	if (leak_scan(s, &options, &result, message) == 0) {
		leak_result_free(&result);
		return;
	}
	t->unscanned++;
	if (!is_reason(message))
		snprintf(t->why, sizeof(t->why), "no scan, and no reason: %s", message);
}

static void account_try(struct tries *t, const struct core *c, const char *account)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *s = read_open(account, message);
	struct read_totals totals;

	if (!s || read_totals(s, &totals) != 0)
		snprintf(t->why, sizeof(t->why), "no account: %s", message);
	else if (t->bytes != 0 && totals.live_bytes != t->bytes)
		snprintf(t->why, sizeof(t->why), "%llu live bytes",
			(unsigned long long)totals.live_bytes);
	else if (t->bytes == 0)
		t->bytes = totals.live_bytes;
	if (s && !*t->why)
		scan_try(t, c, s);
	read_close(s);
}

static void core_try(struct tries *t, const struct core *c)
{
	struct core_account account = { .fd = -1 };
	char text[512], message[CORE_MESSAGE_MAX];

	core_missing_text(c, text, sizeof(text));
	if (c->file_bytes < c->whole_bytes && !strstr(text, CUT)) {
		snprintf(t->why, sizeof(t->why), "it opens, and says only: %s", text);
	} else if (core_account_open(&account, c, t->segment, message) == 0) {
		t->opened++;
		account_try(t, c, account.path);
	} else {
		t->no_account++;
		if (!is_reason(message) || !strstr(message, CUT))
			snprintf(t->why, sizeof(t->why), "no account: %s", message);
	}
	core_account_close(&account);
}

static void length_try(struct tries *t)
{
	char message[CORE_MESSAGE_MAX];
	struct core *c = core_open(t->path, message);

	if (c) {
		core_try(t, c);
	} else {
		t->no_core++;
		if (!is_reason(message) || !strstr(message, CUT))
			snprintf(t->why, sizeof(t->why), "it does not open: %s", message);
	}
	core_close(c);
}

/* False: it does not go on. */
static bool cut_to(struct tries *t, off_t bytes)
{
	if (truncate(t->path, bytes) != 0) {
		perror(t->path);
		return false;
	}
	length_try(t);
	if (*t->why)
		printf("{ \"length\": %lld, \"why\": \"%s\" }\n", (long long)bytes, t->why);
	return !*t->why;
}

int main(int argc, char **argv)
{
	struct tries t = { .path = argv[1], .segment = argc > 3 ? argv[3] : NULL };
	long long step = argc > 2 ? atoll(argv[2]) : 0;
	struct stat st;

	if (step <= 0 || stat(t.path, &st) != 0) {
		fprintf(stderr, "usage: cut_core CORE STEP [SEGMENT]\n");
		return 2;
	}
	length_try(&t);
	if (t.opened != 1 || *t.why) {
		printf("{ \"length\": %lld, \"why\": \"whole, it does not open: %s\" }\n",
			(long long)st.st_size, t.why);
		return 1;
	}
	for (off_t bytes = (st.st_size - 1) / step * step; bytes >= 0; bytes -= step)
		if (!cut_to(&t, bytes))
			return 1;
	printf("{ \"opened\": %u, \"no_core\": %u, \"no_account\": %u, \"unscanned\": %u }\n",
		t.opened, t.no_core, t.no_account, t.unscanned);
	return 0;
}
