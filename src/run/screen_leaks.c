/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans of the process on the screen (screen_leaks.h). */
#include "src/run/screen_leaks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/export/text.h"
#include "src/leak/analysis/suppressions.h"
#include "src/proc/proc.h"
#include "src/run/core_target.h"
#include "src/run/leak_scans.h"
#include "src/util/units.h"

#define RULE_FRAMES 499u /* valgrind reads at most 500 lines of a stack */
#define RULE_NAME   256u
#define RULE_LINE   512u /* a message is at most as long */
/* The longest wait for missing function names: the user has pressed a key. */
#define NAMES_NS UINT64_C(1000000000)

struct screen_leaks {
	struct run *run;
	struct scan_control *scans; /* made at first use */
	unsigned retained_version; /* of the result that the session has */
};

struct screen_leaks *screen_leaks_new(struct run *r)
{
	struct screen_leaks *l = calloc(1, sizeof(*l));

	if (l)
		l->run = r;
	return l;
}

void screen_leaks_free(struct screen_leaks *l)
{
	if (l)
		scan_control_free(l->scans);
	free(l);
}

static struct scan_control *control_of(struct screen_leaks *l, struct session *s)
{
	return l->scans = leak_scans_control(l->scans, l->run, s);
}

const struct leaks *screen_leaks_state(struct screen_leaks *l, struct session *s)
{
	static const struct leaks none;
	struct scan_control *scans = control_of(l, s);

	return scans ? scan_control_state(scans) : &none;
}

int screen_leaks_scan(
	struct screen_leaks *l, struct session *session, bool contents, char *msg, size_t cap)
{
	struct scan_control *s = control_of(l, session);
	int rc = -ENOMEM;

	if (s && !session_alive(session) && !core_target_core(run_options(l->run)))
		rc = -ESRCH;
	else if (s)
		rc = contents ? scan_control_start_contents(s) : scan_control_start(s);
	if (rc == -EBUSY && scan_control_state(s)->phase == LEAKS_ENDING)
		snprintf(msg, cap, "the previous scan is still ending: try again");
	else if (rc == -EBUSY)
		snprintf(msg, cap, "a scan is running; Esc cancels it");
	else if (rc == -EALREADY)
		snprintf(msg, cap, "held at exit: this scan is final (E lets the program end)");
	else if (rc == -EPERM && session_far(session))
		snprintf(msg, cap,
			"no scan: the agent there may only read (--steer, or there "
			"--serve=steer)");
	else if (rc == -ESRCH && !scan_control_state(s)->last)
		snprintf(msg, cap, "no scan: the program has ended");
	else if (rc == -ESRCH)
		snprintf(msg, cap, "the program has ended; this is its %s scan",
			scan_control_state(s)->last->at_exit ? "exit" : "last");
	else if (rc != 0)
		snprintf(msg, cap, "no scan: %s", strerror(-rc));
	return rc;
}

void screen_leaks_ask(struct screen_leaks *l, struct session *s)
{
	struct scan_control *scans = control_of(l, s);

	if (scans && session_alive(s))
		scan_control_ask(scans);
}

void screen_leaks_cancel(struct screen_leaks *l)
{
	if (l->scans)
		scan_control_cancel(l->scans);
}

void screen_leaks_every(struct screen_leaks *l, struct session *s, uint64_t ns)
{
	struct scan_control *scans = control_of(l, s);

	if (scans)
		scan_control_every(scans, ns);
}

/* Snapshots say what call sites retained at the last scan. */
static void retained_take(struct screen_leaks *l, struct session *s, const struct leaks *state)
{
	if (l->retained_version == state->version)
		return;
	session_scanned(s, state->last);
	l->retained_version = state->version;
}

void screen_leaks_tick(struct screen_leaks *l, struct session *s, const struct snapshot *snap)
{
	struct scan_control *scans = l->scans ? control_of(l, s) : NULL;

	if (!scans)
		return;
	if (session_alive(s))
		scan_control_poll(scans);
	retained_take(l, s, scan_control_state(scans));
	if (snap && run_suppressions(l->run))
		scan_control_suppress(scans, snap, run_suppressions(l->run));
}

const struct snap_leaks *screen_leaks_last(struct screen_leaks *l, struct session *s)
{
	struct scan_control *scans = l->scans ? control_of(l, s) : NULL;

	return scans ? scan_control_state(scans)->last : NULL;
}

int screen_leaks_fds(const struct screen_leaks *l, struct pollfd *fds, int max)
{
	return l->scans ? scan_control_fds(l->scans, fds, max) : 0;
}

bool screen_leaks_collect(struct screen_leaks *l)
{
	return l->scans && scan_control_collect(l->scans);
}

/* ---- the scan at the end ---- */

int screen_leaks_start_at_exit(struct screen_leaks *l, struct session *s, bool hold)
{
	struct scan_control *scans = control_of(l, s);

	return scans ? scan_control_start_at_exit(scans, hold) : -ENOMEM;
}

void screen_leaks_give_up(struct screen_leaks *l, const char *why)
{
	if (l->scans)
		scan_control_give_up(l->scans, why);
}

bool screen_leaks_release(struct screen_leaks *l)
{
	return l->scans && scan_control_release(l->scans);
}

/* ---- suppressing ---- */

/* A rule for a call site, and what it matches in addition to what is suppressed already. */
struct rule {
	struct strbuf text;
	struct suppressions *parsed;
	struct leak_summary_matched matched;
};

static void rule_free(struct rule *rule)
{
	strbuf_free(&rule->text);
	suppressions_free(rule->parsed);
}

/* Makes a rule of the whole stack, by function or by line. 0, -EINVAL when the rule does not match
 * its own site, or -ENOMEM. */
static int rule_make(struct rule *rule, const struct scan_control *scans, const struct snapshot *s,
	const struct leak_chosen *chosen, bool lines)
{
	const struct frame *title = snapshot_frame(chosen->site->stack, chosen->site->stack->title);
	char name[RULE_NAME], message[SUPPRESSIONS_MESSAGE_MAX];
	const struct suppression how = { .name = name,
		.kinds =
			chosen->class == SNAP_LEAK_REACHABLE ? "all" : "definite,indirect,possible",
		.frames = RULE_FRAMES,
		.lines = lines };

	*rule = (struct rule){ .text = STRBUF_INIT, .parsed = suppressions_new() };
	snprintf(name, sizeof(name), "leak of %s",
		title->function ? title->function : title->module->name);
	suppression_text(&rule->text, chosen->site, &how);
	if (rule->text.failed || !rule->parsed)
		return -ENOMEM;
	if (suppressions_parse(rule->parsed, rule->text.data, rule->text.len, "!", message) != 0)
		return -EINVAL;
	scan_control_match(scans, s, rule->parsed, chosen->site->id, &rule->matched);
	return rule->matched.own ? 0 : -EINVAL;
}

/* Chooses the rule that matches the fewest other sites. Lines serve only where functions do not
 * suffice, since they change with the file. */
static int rule_choose(struct rule *rule, const struct scan_control *scans,
	const struct snapshot *s, const struct leak_chosen *chosen)
{
	int rc = rule_make(rule, scans, s, chosen, false);
	struct rule other;

	if (rc == -ENOMEM || (rc == 0 && rule->matched.others == 0))
		return rc;
	if (rule_make(&other, scans, s, chosen, true) == 0 &&
		(rc != 0 || other.matched.others < rule->matched.others)) {
		struct rule worse = *rule;

		*rule = other;
		other = worse;
		rc = 0;
	}
	rule_free(&other);
	return rc;
}

/* The rule's frames in one line. */
static void rule_line(const struct rule *rule, char *line, size_t cap)
{
	const char *p = strstr(rule->text.data, "   fun:");
	size_t n = 0;

	for (; p && *p != '}' && n + 1 < cap; p++)
		if (*p != ' ' || (p > rule->text.data && p[-1] != ' ' && p[-1] != '\n'))
			line[n++] = *p == '\n' ? ' ' : *p;
	line[n > 0 ? n - 1 : 0] = '\0';
}

/* The last --suppressions file that is not LeakSanitizer's, which would refuse the whole file.
 * NULL: there is none; then `sanitizers` is one of LeakSanitizer's, if any. */
static const char *file_choose(const struct options *o, const char **sanitizers)
{
	char message[SUPPRESSIONS_MESSAGE_MAX];

	*sanitizers = NULL;
	for (unsigned i = o->nsuppressions; i-- > 0;) {
		struct suppressions *s = suppressions_new();
		bool is_sanitizers = s && suppressions_load(s, o->suppressions[i], message) == 0 &&
				     suppressions_is_sanitizers(s);

		suppressions_free(s);
		if (!is_sanitizers)
			return o->suppressions[i];
		*sanitizers = *sanitizers ? *sanitizers : o->suppressions[i];
	}
	return NULL;
}

/* Appends the whole text or nothing, starting on a new line. 0 or -errno. */
static int file_append(const char *path, const struct strbuf *text)
{
	int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY), rc;
	off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	struct iovec part[2] = { { (char[]){ "\n" }, 0 }, { text->data, text->len } };
	char last = '\n';
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (end > 0 && pread(fd, &last, 1, end - 1) == 1)
		part[0].iov_len = last != '\n';
	n = writev(fd, part, 2);
	rc = n == (ssize_t)(part[0].iov_len + part[1].iov_len) ? 0 : n < 0 ? -errno : -ENOSPC;
	if (rc != 0 && n > 0 && ftruncate(fd, end) != 0)
		rc = -errno;
	close(fd);
	return rc;
}

/* Applies the rule at once. Returns the number of blocks that it hides. */
static uint64_t rule_apply(
	struct screen_leaks *l, const struct snapshot *s, const struct rule *rule, int *rc)
{
	uint64_t before = scan_control_state(l->scans)->last->suppressed.blocks;
	struct suppressions *rules = run_suppressions_make(l->run);
	char message[SUPPRESSIONS_MESSAGE_MAX];

	*rc = rules ? suppressions_parse(rules, rule->text.data, rule->text.len, "!", message)
		    : -ENOMEM;
	if (*rc != 0)
		return 0;
	scan_control_suppress(l->scans, s, rules);
	return scan_control_state(l->scans)->last->suppressed.blocks - before;
}

/* Writes the rule to a file; `msg` says where, or why not. */
static int rule_write(
	const struct options *o, const struct rule *rule, const char *hidden, char *msg, size_t cap)
{
	const char *sanitizers, *path = file_choose(o, &sanitizers);
	int rc = path ? file_append(path, &rule->text) : 0;
	char line[RULE_LINE];

	rule_line(rule, line, sizeof(line));
	if (path && rc == 0)
		snprintf(msg, cap, "%s; written to %.200s: %s", hidden, path, line);
	else if (path)
		snprintf(msg, cap, "%s for this session; writing %.200s failed: %s", hidden, path,
			strerror(-rc));
	else if (sanitizers)
		snprintf(msg, cap,
			"%s for this session; %.200s is LeakSanitizer's, a format without stacks: "
			"to keep it, give another --suppressions FILE, too",
			hidden, sanitizers);
	else
		snprintf(msg, cap,
			"%s for this session; to keep it, give a --suppressions FILE: %s", hidden,
			line);
	return rc;
}

static int rule_add(struct screen_leaks *l, const struct snapshot *s, const struct rule *rule,
	char *msg, size_t cap)
{
	char hidden[128], exact[UNITS_MAX + 8];
	int rc;
	uint64_t blocks = rule_apply(l, s, rule, &rc);
	int n = snprintf(hidden, sizeof(hidden), "suppressed %s block%s",
		units_exact(exact, blocks), units_plural(blocks));

	if (rc != 0) {
		snprintf(msg, cap, "not suppressed: %s", strerror(-rc));
		return rc;
	}
	if (rule->matched.others)
		snprintf(hidden + n, sizeof(hidden) - (size_t)n,
			" (%zu other row%s, too: %s the same)", rule->matched.others,
			units_plural(rule->matched.others),
			rule->matched.others == 1 ? "its stack reads" : "their stacks read");
	return rule_write(run_options(l->run), rule, hidden, msg, cap);
}

int screen_leaks_suppress(struct screen_leaks *l, struct session *s, const struct snapshot *snap,
	const struct leak_chosen *chosen, char *msg, size_t cap)
{
	struct scan_control *scans = control_of(l, s);
	struct rule rule;
	int rc;

	if (!scans || !scan_control_state(scans)->last) {
		snprintf(msg, cap, "not suppressed: there was no leak scan");
		return -ESRCH;
	}
	if (!chosen->site->stack->resolved)
		session_names_finish(s, NAMES_NS);
	rc = chosen->site->stack->resolved ? rule_choose(&rule, scans, snap, chosen) : -EAGAIN;
	if (rc == 0)
		rc = rule_add(l, snap, &rule, msg, cap);
	else
		snprintf(msg, cap, "not suppressed: %s",
			rc == -EAGAIN	? "function names are still being read: try again"
			: rc == -EINVAL ? "no rule can be written that matches its stack"
					: strerror(-rc));
	if (rc != -EAGAIN)
		rule_free(&rule);
	return rc;
}

/* ---- contents ---- */

long screen_leaks_bytes(struct session *s, uint64_t addr, void *out, size_t bytes)
{
	struct iovec here = { out, bytes };
	struct iovec there = { (void *)(uintptr_t)addr, bytes };
	pid_t pid = proc_memory_tid(session_pid(s));

	return pid > 0 ? (long)process_vm_readv(pid, &here, 1, &there, 1, 0) : -1;
}
