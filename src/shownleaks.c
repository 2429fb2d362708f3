/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans for the screen (shownleaks.h). */
#include "src/shownleaks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/leak/suppress.h"
#include "src/proc/proc.h"
#include "src/scans.h"
#include "src/util/text.h"

#define LINE_MAX_BYTES 1024u

struct scans *shownleaks_scans(struct run *r)
{
	struct session *s = watch_session(run_shown(r));
	struct leak_wish wish = run_leak_wish(r, session_pid(s));
	uint64_t every = r->scans ? scans_state(r->scans)->every_ns : 0;

	wish.why = !r->options->report && !r->options->batch;
	wish.behind |= wish.why; /* suppressions may come, by ! */
	if (r->scans && scans_is_of(r->scans, session_path(s), s))
		return r->scans;
	scans_free(r->scans);
	r->scans = scans_new(session_path(s), &wish, s);
	if (r->scans && every)
		scans_every(r->scans, every);
	return r->scans;
}

const struct leaks *shownleaks_state(void *run)
{
	static const struct leaks none;
	struct scans *s = shownleaks_scans(run);

	return s ? scans_state(s) : &none;
}

int shownleaks_scan(void *run, char *msg, size_t cap)
{
	struct run *r = run;
	struct scans *s = shownleaks_scans(r);
	int rc = -ENOMEM;

	if (s && !session_alive(watch_session(run_shown(r))))
		rc = -ESRCH;
	else if (s)
		rc = scans_start(s);
	if (rc == -EBUSY)
		snprintf(msg, cap, "a scan is under way; Esc ends it");
	else if (rc == -ESRCH)
		snprintf(msg, cap, "no scan: the program has ended");
	else if (rc != 0)
		snprintf(msg, cap, "no scan: %s", strerror(-rc));
	return rc;
}

void shownleaks_cancel(void *run)
{
	struct run *r = run;

	if (r->scans)
		scans_cancel(r->scans);
}

void shownleaks_every(void *run, uint64_t ns)
{
	struct scans *s = shownleaks_scans(run);

	if (s)
		scans_every(s, ns);
}

void shownleaks_tick(struct run *r, const struct snapshot *s)
{
	struct scans *scans = r->scans ? shownleaks_scans(r) : NULL;

	if (!scans)
		return;
	if (session_alive(watch_session(run_shown(r))))
		scans_look(scans);
	if (s && r->suppressions)
		scans_suppress(scans, s, r->suppressions);
}

const struct snap_leaks *shownleaks_last(struct run *r)
{
	return r->scans ? scans_state(shownleaks_scans(r))->last : NULL;
}

/* ---- suppressing ---- */

/* LeakSanitizer's form, of the function that names the site. */
static int line_make(const struct snap_site *site, char *line, size_t cap)
{
	const struct frame *f = &site->stack->frames[site->stack->title];
	const char *name = f->function ? f->function : f->module->name;
	int n = *name ? snprintf(line, cap, "leak:^%s$\n", name) : 0;

	return n <= 0 || (size_t)n >= cap || strchr(name, '\n') ? -EINVAL : 0;
}

static int line_append(const char *path, const char *line)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : write(fd, line, strlen(line));
	int rc = n == (ssize_t)strlen(line) ? 0 : n < 0 ? -errno : -EIO;

	if (fd >= 0)
		close(fd);
	return rc;
}

static int rule_add(struct run *r, const char *line)
{
	char message[SUPPRESS_MESSAGE_MAX];

	if (!r->suppressions)
		r->suppressions = suppress_new();
	if (!r->suppressions)
		return -ENOMEM;
	return suppress_parse(r->suppressions, line, strlen(line), "!", message);
}

int shownleaks_suppress(void *run, const struct snap_site *site, char *msg, size_t cap)
{
	struct run *r = run;
	unsigned files = r->options->nsuppressions;
	const char *path = files ? r->options->suppressions[files - 1] : NULL;
	char line[LINE_MAX_BYTES];
	int rc = line_make(site, line, sizeof(line));

	if (rc == 0)
		rc = rule_add(r, line);
	if (rc != 0) {
		snprintf(msg, cap, "not suppressed: %s",
			rc == -EINVAL ? "the call site has no name" : strerror(-rc));
		return rc;
	}
	rc = path ? line_append(path, line) : 0;
	line[strlen(line) - 1] = '\0';
	if (path && rc == 0)
		snprintf(msg, cap, "%s  written to %s", line, path);
	else if (path)
		snprintf(msg, cap, "%s  for now; %s: %s", line, path, strerror(-rc));
	else
		snprintf(msg, cap, "%s  for now; to keep it, put it into a --suppressions FILE",
			line);
	return rc;
}

/* ---- contents ---- */

long shownleaks_bytes(void *run, uint64_t addr, void *out, size_t bytes)
{
	struct iovec here = { out, bytes };
	struct iovec there = { (void *)(uintptr_t)addr, bytes };
	pid_t pid = proc_memory_tid(session_pid(watch_session(run_shown(run))));

	return pid > 0 ? (long)process_vm_readv(pid, &here, 1, &there, 1, 0) : -1;
}
