/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Access to a lent copy (lent_access.h). Source: proc(5) on status and fdinfo.
 *
 * The thread that makes the copy is held back until we have the live table, and the memory that a
 * copy lacks: shared mappings, and those of MADV_DONTFORK. In a program with one thread, all this
 * is of one instant.
 */
#include "src/leak/access/lent_access.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/access/access_ops.h"
#include "src/leak/access/thread_status.h"
#include "src/proc/proc.h"
#include "src/util/clock.h"

#define KEPT_MAX  (UINT64_C(48) << 20) /* read while the thread is held back */
#define TRIES_MAX 40u /* copies, until no thread is inside realloc */
#define LATE_MAX  5u /* copies whose thread went on before all was read */

static const char late[] = "its thread went on before the memory that a copy lacks was read";

/* ---- whether the program may be copied ---- */

static const char written[] = "it must not be copied: the kernel may be writing into its memory "
			      "(io_uring, aio, O_DIRECT)";

/* What the kernel writes by itself, or into pages that it has pinned, may go to the copy instead of
 * the program. */
static const char *maps_refuse(struct leak_access *a)
{
	struct leak_space s;
	int rc = leak_space_open(&s, a->pid);
	const char *why =
		rc != 0 ? leak_access_ops_reason(a, "its mappings cannot be read", rc) : NULL;

	for (size_t i = 0; !why && i < s.maps; i++)
		if (strstr(s.map[i].path, "[io_uring]") || strncmp(s.map[i].path, "/[aio]", 6) == 0)
			why = written;
	leak_space_close(&s);
	return why;
}

/* Reads from a file that is open with O_DIRECT go straight into the program's memory. */
static const char *files_refuse(struct leak_access *a)
{
	pid_t pid = proc_memory_tid(a->pid);
	char path[320], text[512];
	const char *why = NULL;
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", (int)pid);
	dir = opendir(path);
	if (!dir)
		return leak_access_ops_reason(a, "its open files cannot be listed", -errno);
	while (!why && (d = readdir(dir))) {
		const char *flags;

		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", (int)pid, d->d_name);
		if (*d->d_name == '.' || proc_file_read(path, text, sizeof(text)) <= 0)
			continue;
		flags = strstr(text, "flags:");
		if (flags && (strtoul(flags + 6, NULL, 8) & O_DIRECT))
			why = written;
	}
	closedir(dir);
	return why;
}

/* A thread that has ended has no namespace in /proc, and makes no copy. */
static bool has_ended(const char *path)
{
	char text[4096];

	return proc_file_read(path, text, sizeof(text)) <= 0 || strstr(text, "\nState:\tZ") ||
	       strstr(text, "\nState:\tX");
}

static bool has_other_namespace(void *ctx, pid_t tid, const char *path)
{
	const struct leak_access *a = ctx;

	return !leak_headroom_has_namespace(a->pid, tid) && !has_ended(path);
}

/* Why there must be no copy, as far as we can see. If /proc is closed to us, the library inspects
 * the program itself (findings_take). */
static const char *copy_refuse(struct leak_access *a)
{
	const char *why;
	int rc;

	leak_uncopied_free(&a->lent.uncopied);
	rc = leak_uncopied_find(&a->lent.uncopied, a->pid);
	a->lent.blind = rc == -EACCES || rc == -EPERM;
	if (a->lent.blind)
		return NULL;
	if (rc != 0)
		return leak_access_ops_reason(a, "its mappings cannot be read", rc);
	why = a->lent.uncopied.unfit ? a->lent.uncopied.unfit : maps_refuse(a);
	if (!why)
		why = files_refuse(a);
	return !why && leak_thread_status_visit(a->pid, has_other_namespace, a)
		       ? LEAK_HEADROOM_NAMESPACE
		       : why;
}

/* What the library has found where /proc is closed to us, and which mappings are empty in the copy.
 * NULL: the program may be copied. */
static const char *findings_take(struct leak_access *a)
{
	static const char *const why[] = { [HT_COOP_UNCHECKED] =
						   "it is not dumpable, and its library "
						   "is too old to help then",
		[HT_COOP_UNKNOWN] = "it is not dumpable, and its library does not know whether it "
				    "may be copied",
		[HT_COOP_KERNEL_WRITES] = written,
		[HT_COOP_HUGE_PAGES] = "it has private huge pages (hugetlbfs)",
		[HT_COOP_USERFAULT] = "its page faults are handled elsewhere (userfaultfd)",
		[HT_COOP_OTHER_NAMESPACE] = LEAK_HEADROOM_NAMESPACE };
	struct leak_uncopied *u = &a->lent.uncopied;
	uint32_t found;

	leak_uncopied_free(u);
	u->start = malloc(HT_COOP_DATA);
	if (!u->start)
		return "out of memory";
	found = read_coop_check(a->library->coop, u->start, &u->count);
	return found < sizeof(why) / sizeof(why[0]) ? why[found] : why[HT_COOP_UNKNOWN];
}

static const char *copy_error(struct leak_access *a, int rc)
{
	switch (-rc) {
	case ETIMEDOUT:
		return LEAK_LIBRARY_REQUEST_IDLE;
	case ECANCELED:
		return "it was cancelled, or the program has entered a sandbox";
	case EBUSY:
		return "its last copy has not ended";
	case EAGAIN:
		return "it cannot be copied: it may create no more processes";
	case ENOMEM:
		return "it cannot be copied: memory is short";
	default:
		return leak_access_ops_reason(a, "it cannot be copied", rc);
	}
}

/* ---- its threads ---- */

struct listing {
	struct trace_stop *stop;
	uint32_t maker; /* as the program sees it */
	bool failed;
};

static bool thread_list(void *ctx, pid_t tid, const char *path)
{
	struct listing *l = ctx;
	struct trace_thread *t = realloc(l->stop->thread, (l->stop->count + 1) * sizeof(*t));
	long seen = 0;

	l->failed = !t;
	if (!t)
		return true;
	l->stop->thread = t;
	t += l->stop->count++;
	*t = (struct trace_thread){ .tid = tid, .state = TRACE_THREAD_UNSEIZED };
	if (!proc_status_number(path, "\nNSpid:", true, &seen) || seen != (long)l->maker)
		return false;
	t->state = TRACE_THREAD_STOPPED;
	return false;
}

/* Lists the threads. The one that made the copy has all its registers on its stack; nothing is
 * known of the others. */
static bool threads_list(struct leak_access *a, const struct read_coop_copy *copy)
{
	struct trace_stop *stop = &a->stop;
	struct listing l = { .stop = stop, .maker = copy->tid };

	*stop = (struct trace_stop){ .pid = a->pid, .detached = true };
	(void)leak_thread_status_visit(a->pid, thread_list, &l);
	for (size_t i = 0; i < stop->count; i++) {
		stop->thread[i].system.pointer = copy->pointer;
		if (stop->thread[i].state == TRACE_THREAD_STOPPED)
			stop->thread[i].regs = trace_registers_of(copy->stack, copy->pointer);
	}
	return !l.failed && stop->count > 0;
}

static bool has_threads(pid_t pid)
{
	char path[64];
	long n = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return !proc_status_number(path, "\nThreads:", false, &n) || n > 1;
}

/* How many threads were inside realloc when the copy was made. */
static unsigned in_realloc_count(struct leak_access *a)
{
	uint64_t *pointer = a->lent.pointer, word;
	size_t n = read_coop_threads(a->library->coop, pointer, HT_COOP_SLOTS);
	int64_t offset = read_in_realloc_at(a->segment);
	unsigned count = 0;

	for (size_t i = 0; offset != 0 && i < n; i++) {
		uint64_t at = pointer[i] + (uint64_t)offset;

		count += leak_space_word(&a->space, at & ~7ull, &word) &&
			 (word >> at % 8 * 8 & 0xff) != 0;
	}
	return count;
}

/* ---- making the copy ---- */

/* While the thread is held back: takes the table and what the copy lacks, and opens the copy. */
static const char *instant_take(struct leak_access *a, struct leak_space *copy)
{
	const struct leak_uncopied_request request = { leak_map_holds_pointers, &a->lent.uncopied,
		KEPT_MAX };
	struct read_coop *coop = a->library->coop;
	int rc = leak_space_open_lent(&a->space, coop, HT_COOP_THREAD);

	if (rc == 0)
		rc = read_live_copy_take(a->table, a->segment);
	if (rc != 0)
		return read_coop_is_waiting(coop)
			       ? leak_access_ops_reason(a, "it cannot read its own mappings", rc)
			       : late;
	rc = leak_space_open_lent(copy, coop, HT_COOP_CHILD);
	if (rc == -EACCES && a->lent.blind)
		return "it is not dumpable, and of another user or pid namespace";
	if (rc != 0)
		return leak_access_ops_reason(a,
			"its copy cannot read its own mappings, or cannot give way when memory is "
			"short",
			rc);
	rc = leak_uncopied_keep(&a->space, copy, &request);
	if (rc == -E2BIG)
		return "it shares too much memory with others";
	if (rc != 0 || (a->space.unread_bytes > 0 && !read_coop_is_waiting(coop)))
		return late;
	return NULL;
}

/* Takes the instant, lets the thread go on, and reads the copy from then on. */
static const char *instant_use(struct leak_access *a, const struct read_coop_copy *made)
{
	struct leak_space copy = { .pagemap = -1 };
	const char *why = instant_take(a, &copy);

	a->exact = a->stop.count == 1 && read_coop_is_waiting(a->library->coop);
	read_coop_request(a->library->coop, HT_COOP_THREAD, HT_COOP_END, 0, NULL, 0);
	a->report->stop_ns = clock_monotonic_ns() - made->at_ns;
	if (!why)
		leak_space_become(&a->space, &copy);
	leak_space_close(&copy);
	return why;
}

static const char *copy_once(struct leak_access *a)
{
	struct read_coop_copy made;
	const char *why;
	int rc = a->table_before ? read_live_copy_take(a->table_before, a->segment) : 0;

	if (rc != 0)
		return leak_access_ops_reason(a, "its segment cannot be read", rc);
	rc = leak_library_request_ask(
		a->library, a->lent.blind ? HT_COOP_CHECKED_COPY : HT_COOP_COPY);
	a->lent.copied |= rc == 0;
	why = a->lent.blind && (rc == 0 || rc == -EPERM) ? findings_take(a) : NULL;
	if (rc != 0 || why)
		return why ? why : copy_error(a, rc);
	rc = read_coop_copy(a->library->coop, &made);
	if (rc != 0)
		return leak_access_ops_reason(a, "its segment cannot be read", rc);
	a->at_ns = made.at_ns;
	why = threads_list(a, &made) ? instant_use(a, &made) : "/proc lists none of its threads";
	if (!why)
		a->report->busy = in_realloc_count(a);
	return why;
}

/* Ends the copy. */
static void copy_end(struct leak_access *a)
{
	read_coop_request(a->library->coop, HT_COOP_CHILD, HT_COOP_END, 0, NULL, 0);
	free(a->stop.thread);
	a->stop = (struct trace_stop){ 0 };
}

/* Has the process reap the copy. False: a zombie stays until the process makes another copy, or
 * ends. */
static bool copy_return(struct leak_access *a)
{
	copy_end(a);
	if (a->lent.copied)
		a->lent.copied = leak_library_request_ask(a->library, HT_COOP_REAP) != 0;
	read_live_copy_free(a->table_before);
	read_live_copy_free(a->table);
	a->table_before = a->table = NULL;
	return !a->lent.copied;
}

/* Tries until no thread is inside realloc. */
static const char *copies_try(struct leak_access *a)
{
	const char *why = NULL;

	for (unsigned i = 0; !why && i < TRIES_MAX; i++) {
		copy_end(a);
		leak_space_close(&a->space);
		why = copy_once(a);
		if (!why && a->report->busy == 0)
			break;
		if (why == late && i < LATE_MAX)
			why = NULL; /* the machine is busy; the next copy may be in time */
	}
	return why;
}

/* NULL, or why the program lends no copy. */
static const char *copy_borrow(struct leak_access *a)
{
	struct leak_headroom *headroom = malloc(sizeof(*headroom));
	const char *why = headroom ? leak_headroom_check(headroom, "", proc_memory_tid(a->pid))
				   : "heaptop is out of memory";

	free(headroom);
	if (!why)
		why = copy_refuse(a);
	if (why)
		return why;
	a->table = read_live_copy_new(a->segment);
	a->table_before = has_threads(a->pid) ? read_live_copy_new(a->segment) : NULL;
	why = a->table ? copies_try(a) : "out of memory for a copy of its table";
	if (why) {
		(void)copy_return(a);
		leak_space_close(&a->space);
	}
	return why;
}

static int copy_take(struct leak_access *a)
{
	a->refusal = copy_borrow(a);
	if (a->refusal)
		return -EPERM;
	*a->message = '\0';
	a->report->how = "copy by the program's library";
	a->report->copied = true;
	a->report->snapshots++;
	return 0;
}

static int copy_open(struct leak_access *a)
{
	a->space.progress = a->progress;
	leak_access_ops_phase(a, LEAK_READING);
	return leak_access_ops_image_check(a);
}

static int copy_release(struct leak_access *a)
{
	bool failed = read_coop_is_gone(a->library->coop);

	a->direct->release(a);
	a->report->copy_left = !copy_return(a);
	return failed ? -ENOMEM : 0;
}

static void lent_close(struct leak_access *a)
{
	leak_uncopied_free(&a->lent.uncopied);
}

const struct leak_access_ops leak_lent_access = {
	.take = copy_take,
	.open = copy_open,
	.release = copy_release,
	.close = lent_close,
};
