/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processes of a launch (launch_processes.h). Main thread. */
#include "src/run/launch_processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/read/read.h"
#include "src/util/array.h"
#include "src/util/text.h"

#define ANCESTORS_MAX 16u /* levels searched upward for a recorded process */
#define PIDFDS_MAX    256u /* descriptors held to learn how processes end */

struct launch_processes {
	/* Entries never move, and are sorted by no key: a launch mostly has some hundreds at most.
	 */
	struct launch_process **entry;
	size_t count, room;
	unsigned pidfds;
	uint64_t forgotten; /* ended ones that are not kept */
	uint64_t peak_bytes; /* the highest sum of live bytes at a tick */
};

struct launch_processes *launch_processes_new(void)
{
	return calloc(1, sizeof(struct launch_processes));
}

static void pidfd_close(struct launch_processes *l, struct launch_process *p)
{
	if (p->pidfd < 0)
		return;
	close(p->pidfd);
	p->pidfd = -1;
	l->pidfds--;
}

void launch_processes_free(struct launch_processes *l)
{
	for (size_t i = 0; l && i < l->count; i++) {
		pidfd_close(l, l->entry[i]);
		free(l->entry[i]);
	}
	if (l)
		free(l->entry);
	free(l);
}

static struct launch_process *find(const struct launch_processes *l, uint64_t id)
{
	for (size_t i = 0; l && i < l->count; i++)
		if (l->entry[i]->id == id)
			return l->entry[i];
	return NULL;
}

/* ---- how a process ended ---- */

/* linux/pidfd.h, from Linux 6.15 on; headers may be older. */
struct pidfd_info_exit {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ids[8];
	int32_t exit_code;
};
#define PIDFD_EXIT	(1u << 3)
#define PIDFD_INFO_CALL _IOWR(0xFF, 11, struct pidfd_info_exit)

static void pidfd_open_of(struct launch_processes *l, struct launch_process *p)
{
	p->pidfd = -1;
	if (l->pidfds >= PIDFDS_MAX || p->elsewhere)
		return;
	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	l->pidfds += p->pidfd >= 0;
}

/* Until the process is reaped nothing is known, and on an older kernel nothing ever is. */
static void end_note(struct launch_processes *l, struct launch_process *p)
{
	struct pidfd_info_exit info = { .mask = PIDFD_EXIT };

	p->ended = true;
	if (p->pidfd < 0)
		return;
	if (p->status >= 0 || ioctl(p->pidfd, PIDFD_INFO_CALL, &info) != 0) {
		pidfd_close(l, p);
	} else if (info.mask & PIDFD_EXIT) {
		p->status = info.exit_code;
		pidfd_close(l, p);
	}
}

void launch_processes_ended(struct launch_processes *l, pid_t pid, int status)
{
	for (size_t i = 0; l && i < l->count; i++) {
		if (l->entry[i]->pid != pid || l->entry[i]->status >= 0)
			continue;
		l->entry[i]->status = status;
		end_note(l, l->entry[i]);
	}
}

/* Nothing is known of a process that cannot be seen from here. */
static bool is_gone(const struct launch_process *p)
{
	uint64_t ticks;
	int rc = p->elsewhere ? 0 : proc_start_ticks(p->pid, &ticks);

	if (p->elsewhere)
		return false;
	return rc == -ESRCH || (rc == 0 && ticks != p->start_ticks);
}

/* ---- parents ---- */

static struct launch_process *by_pid(struct launch_processes *l, pid_t pid)
{
	struct launch_process *found = NULL;

	for (size_t i = 0; i < l->count; i++) {
		struct launch_process *p = l->entry[i];

		if (p->pid == pid &&
			(!found || found->ended || (!p->ended && p->began_ns > found->began_ns)))
			found = p;
	}
	return found;
}

/* The nearest recorded ancestor: processes between them may be unrecorded. */
static void parent_find(struct launch_processes *l, struct launch_process *p)
{
	pid_t above = p->ppid;

	for (unsigned i = 0; above > 1 && i < ANCESTORS_MAX; i++) {
		struct launch_process *found = by_pid(l, above);
		struct proc_reading r;

		if (found && found != p) {
			p->parent = found->id;
			return;
		}
		above = proc_read(above, false, &r) == 0 ? r.ppid : 0;
	}
}

/* ---- reading ---- */

static void ppid_read(struct launch_process *p, const struct read_identity *id)
{
	struct proc_reading r;

	if (proc_read(p->pid, false, &r) == 0 && r.start_ticks == p->start_ticks)
		p->ppid = r.ppid;
	else if (id->pid_namespace == proc_pid_namespace())
		p->ppid = id->ppid;
}

/* A process that is just starting has no command line yet. */
static void identity_read(struct launch_process *p, struct read_segment *s)
{
	struct read_identity id;

	if ((p->ppid && p->command[0]) || read_identity(s, &id) != 0)
		return;
	if (!p->ppid)
		ppid_read(p, &id);
	target_command(p->command, sizeof(p->command), &id);
}

/* A forked child shows its parent's arguments until it rewrites them, as servers' workers do. */
static void title_read(struct launch_process *p)
{
	char line[HT_COMMAND_MAX];
	size_t n = p->forked && !p->elsewhere
			   ? proc_command(p->pid, p->start_ticks, line, sizeof(line))
			   : 0;

	if (n)
		target_line(p->command, sizeof(p->command), line, n);
}

static void read_one(struct launch_processes *l, struct launch_process *p)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *s = p->path[0] ? read_open(p->path, message) : NULL;
	struct read_totals *t = malloc(sizeof(*t));

	if (s && t && read_totals(s, t) == 0) {
		identity_read(p, s);
		p->live_bytes = t->live_bytes;
		if (t->peak_bytes > p->peak_bytes)
			p->peak_bytes = t->peak_bytes;
		if (t->state == HT_STATE_EXITED && (p->elsewhere || is_gone(p)))
			end_note(l, p);
	}
	free(t);
	read_close(s);
}

void launch_processes_tick(struct launch_processes *l)
{
	uint64_t sum = 0;

	for (size_t i = 0; l && i < l->count; i++) {
		struct launch_process *p = l->entry[i];

		if (p->ended && p->status < 0 && p->pidfd >= 0)
			end_note(l, p); /* until it is reaped, nothing is known */
		if (p->ended)
			continue;
		title_read(p);
		read_one(l, p);
		if (!p->ended && is_gone(p))
			end_note(l, p);
		if (!p->parent)
			parent_find(l, p);
		sum += p->ended ? 0 : p->live_bytes;
	}
	if (l && sum > l->peak_bytes)
		l->peak_bytes = sum;
}

void launch_processes_removing(struct launch_processes *l, const char *path)
{
	for (size_t i = 0; l && i < l->count; i++) {
		struct launch_process *p = l->entry[i];

		if (strcmp(p->path, path) != 0)
			continue;
		if (!p->ended) /* else that was the last reading */
			read_one(l, p);
		p->path[0] = '\0';
		if (!p->parent)
			parent_find(l, p);
		if (!p->ended && is_gone(p))
			end_note(l, p);
	}
}

/* ---- which there are ---- */

/* Its children go to its parent. */
static void forget(struct launch_processes *l, size_t at)
{
	struct launch_process *gone = l->entry[at];

	for (size_t i = 0; i < l->count; i++)
		if (l->entry[i]->parent == gone->id)
			l->entry[i]->parent = gone->parent;
	pidfd_close(l, gone);
	free(gone);
	l->entry[at] = l->entry[--l->count];
	l->forgotten++;
}

/* Of many, the one that ended and had the lowest peak goes. Those that run are in the sums: they
 * stay, however many. */
static void excess_forget(struct launch_processes *l)
{
	size_t least = l->count;

	if (l->count < LAUNCH_PROCESSES_MAX)
		return;
	for (size_t i = 0; i < l->count; i++)
		if (l->entry[i]->ended &&
			(least == l->count ||
				l->entry[i]->peak_bytes < l->entry[least]->peak_bytes))
			least = i;
	if (least < l->count)
		forget(l, least);
}

/* A place for one more, NULL: no memory. */
static struct launch_process *entry_add(struct launch_processes *l)
{
	struct launch_process **grown, *p;

	excess_forget(l);
	grown = array_grow(l->entry, l->count, &l->room, sizeof(struct launch_process *));
	if (!grown)
		return NULL;
	l->entry = grown;
	p = calloc(1, sizeof(*p));
	if (p)
		l->entry[l->count++] = p;
	return p;
}

static struct launch_process *add(
	struct launch_processes *l, uint64_t id, const struct target_segment *t)
{
	struct launch_process *p = entry_add(l);

	if (!p)
		return NULL;
	*p = (struct launch_process){ .id = id,
		.pid = t->process > 0 ? t->process : t->pid,
		.start_ticks = t->start_ticks,
		.began_ns = t->created_ns,
		.elsewhere = t->state == TARGET_ELSEWHERE,
		.status = -1 };
	pidfd_open_of(l, p);
	return p;
}

/* Generations start again once the segments of all images before are removed; while one is there,
 * they count, since the clock may have been set back. */
static bool is_newer(const struct launch_process *p, const struct target_segment *t)
{
	return !t->replaced && (t->exec_gen > p->exec_gen || t->created_ns > p->image_ns);
}

void launch_processes_note(struct launch_processes *l, const struct target_segment *t)
{
	uint64_t id = processes_id(t->pid, t->start_ticks, t->pid_namespace);
	struct launch_process *p = find(l, id);
	bool fresh = !p;

	if (!l || t->pid <= 0 || t->state == TARGET_UNREADABLE)
		return;
	if (!p)
		p = add(l, id, t);
	if (!p)
		return;
	/* Also of one that is known to have ended: it may have called exec since the last look. */
	if (fresh || is_newer(p, t)) {
		read_one(l, p); /* the peak of the image before */
		p->exec_gen = t->exec_gen;
		p->image_ns = t->created_ns;
		p->forked = t->forked;
		memcpy(p->path, t->path, sizeof(p->path));
		text_clean(p->command, sizeof(p->command), t->command, strlen(t->command));
		read_one(l, p);
	}
	if (p->ended && !fresh)
		return;
	if (!p->parent)
		parent_find(l, p);
	if (!p->ended && strcmp(p->path, t->path) == 0 &&
		(t->state == TARGET_EXITED || t->state == TARGET_DEAD) && is_gone(p)) {
		if (!fresh)
			read_one(l, p);
		end_note(l, p);
	}
}

/* ---- what others ask ---- */

size_t launch_processes_all(
	const struct launch_processes *l, const struct launch_process *const **all)
{
	*all = l ? (const struct launch_process *const *)l->entry : NULL;
	return l ? l->count : 0;
}

int launch_processes_status(const struct launch_processes *l, uint64_t id, uint32_t exec_gen)
{
	const struct launch_process *p = find(l, id);

	return p && p->ended && p->exec_gen == exec_gen ? p->status : -1;
}

/* Between two refreshes there may have been more, but not less than one process had. */
static uint64_t peak_of(const struct launch_processes *l)
{
	uint64_t peak = l ? l->peak_bytes : 0;

	for (size_t i = 0; l && i < l->count; i++)
		if (l->entry[i]->peak_bytes > peak)
			peak = l->entry[i]->peak_bytes;
	return peak;
}

void launch_processes_row(const struct launch_process *p, struct process_row *row)
{
	*row = (struct process_row){ .id = p->id,
		.pid = p->pid,
		.parent_id = p->parent,
		.state = p->ended ? processes_ended(p->status) : "running",
		.live_bytes = p->live_bytes,
		.peak_bytes = p->peak_bytes,
		.has_live = true,
		.has_peak = true,
		.ended = p->ended,
		.wait_status = p->ended ? p->status : -1 };
	memcpy(row->command, p->command, sizeof(row->command));
}

struct snap_launch launch_processes_sum(const struct launch_processes *l, uint64_t but)
{
	struct snap_launch sum = { 0 };

	for (size_t i = 0; l && i < l->count; i++) {
		const struct launch_process *p = l->entry[i];

		if (p->id == but)
			continue;
		sum.ended += p->ended;
		sum.running += !p->ended;
		sum.live_bytes += p->ended ? 0 : p->live_bytes;
	}
	if (l)
		sum.ended += (uint32_t)l->forgotten;
	sum.peak_bytes = peak_of(l);
	return sum;
}
