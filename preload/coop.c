/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cooperation with a leak scan (coop.h). Sources: clone(2), prctl(2), close_range(2), proc(5);
 * heaptop-internals(7) describes the whole procedure.
 *
 * The copy is like that of copy_stub.c: a child that raises no signal and that wait(2) skips, and
 * that holds none of our descriptors. We reap it when the viewer says so, or before the next one is
 * made. All system calls are made bare: libc's fork would run handlers, take locks, and expose
 * errno to the program. All signals are blocked, so that no handler runs in the copy, nor while
 * this thread waits.
 *
 * Edge COOP: the fields before `accepted`, `answer` and `resumed`, which are stored with release;
 * those of the viewer before `coop_ask` and `request`; and `answer`, which the viewer has read,
 * before the fields of its next request.
 */
#include "preload/coop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "preload/call.h"
#include "preload/clock.h"
#include "preload/self_check.h"
#include "preload/state.h"
#include "preload/thread_pointer.h"
#include "shm/commit.h"

#define THREAD_NS   UINT64_C(100000000) /* a viewer needs some milliseconds for the live table */
#define COPY_NS	    UINT64_C(10000000000) /* a copy without a request for this long ends */
#define STEP_NS	    20000000 /* between two checks of that */
#define KERNEL_SET  8u /* bytes of a signal mask in the kernel */
#define UNSHARE_ALL 2u /* CLOSE_RANGE_UNSHARE */

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#if defined(__x86_64__) || defined(__aarch64__)

static uint32_t acted; /* ht_coop.number of the last request served */

static void wake(uint32_t *word)
{
	call(SYS_futex, call_pointer(word), FUTEX_WAKE, INT32_MAX, 0, 0);
}

/* ---- answering ---- */

struct server {
	struct ht_coop *coop;
	uint32_t me; /* enum ht_coop_server */
	int unfit; /* the copy: why it is unusable, -errno */
	int file[HT_COOP_END]; /* the copy's, by command */
};

static const char *const own_file[HT_COOP_END] = { [HT_COOP_MAPS] = "/proc/thread-self/maps",
	[HT_COOP_PAGES] = "/proc/thread-self/pagemap",
	[HT_COOP_READ] = "/proc/thread-self/mem",
	[HT_COOP_WORDS] = "/proc/thread-self/mem" };

static int open_own(const char *path)
{
	return (int)call(SYS_openat, AT_FDCWD, call_pointer(path), O_RDONLY | O_CLOEXEC, 0, 0);
}

static long file_read(int fd, void *to, uint64_t at, uint64_t bytes)
{
	return fd < 0 ? fd : call(SYS_pread64, fd, call_pointer(to), (long)bytes, (long)at, 0);
}

/* If the process is not dumpable, root owns these files, and it cannot open them. Then a system
 * call reads memory: only readable memory, and it unshares a private page that is shared since a
 * fork, of which there are few here. */
static long memory_read(int fd, void *to, uint64_t at, uint64_t bytes)
{
	const struct iovec here = { to, bytes }, there = { (void *)(uintptr_t)at, bytes };

	if (fd != -EACCES)
		return file_read(fd, to, at, bytes);
	return call(SYS_process_vm_readv, call(SYS_gettid, 0, 0, 0, 0, 0), call_pointer(&here), 1,
		call_pointer(&there), 1);
}

static long words_read(int fd, uint64_t *word, uint64_t count)
{
	uint64_t i, value;

	for (i = 0; i < count; i++) {
		if (memory_read(fd, &value, word[i], sizeof(value)) != sizeof(value))
			break;
		word[i] = value;
	}
	return (long)(i * sizeof(value));
}

/* Then mincore(2) reports pages; it counts a swapped page as absent. */
static long pages_read(int fd, uint64_t *entry, uint64_t at, uint64_t bytes)
{
	const uint64_t there = UINT64_C(1) << 63, count = bytes / sizeof(*entry);
	uint64_t page = state_segment.header->page_bytes;
	unsigned char *is = (unsigned char *)entry; /* is[i] is no later in memory than entry[i] */
	struct sysinfo machine = { 0 };
	long rc;

	if (fd != -EACCES)
		return file_read(fd, entry, at, bytes);
	rc = call(SYS_sysinfo, call_pointer(&machine), 0, 0, 0, 0);
	if (rc != 0 || machine.freeswap != machine.totalswap)
		return -EACCES;
	rc = call(SYS_mincore, (long)(at / sizeof(*entry) * page), (long)(count * page),
		call_pointer(is), 0, 0);
	for (uint64_t i = count; rc == 0 && i-- > 0;)
		entry[i] = is[i] & 1 ? there : 0;
	return rc == 0 ? (long)(count * sizeof(*entry)) : rc;
}

static long answer_make(struct ht_coop *c, uint32_t command, int fd, uint64_t bytes)
{
	switch (command) {
	case HT_COOP_WORDS:
		return words_read(fd, c->data, bytes / sizeof(uint64_t));
	case HT_COOP_READ:
		return memory_read(fd, c->data, c->addr, bytes);
	case HT_COOP_PAGES:
		return pages_read(fd, c->data, c->addr, bytes);
	default:
		return file_read(fd, c->data, c->addr, bytes);
	}
}

/* Memory is read through a file, too: some of it may be unreadable. */
static long request_do(const struct server *s)
{
	struct ht_coop *c = s->coop;
	uint64_t bytes = c->bytes < HT_COOP_DATA ? c->bytes : HT_COOP_DATA;
	uint32_t command = c->command;
	long got;
	int fd;

	if (s->unfit || command == HT_COOP_END)
		return s->unfit;
	if (command == 0 || command > HT_COOP_END)
		return -EINVAL;
	/* The program itself holds no open file between requests. */
	fd = s->me == HT_COOP_CHILD ? s->file[command] : open_own(own_file[command]);
	got = answer_make(c, command, fd, bytes);
	if (s->me != HT_COOP_CHILD && fd >= 0)
		call(SYS_close, fd, 0, 0, 0, 0);
	return got;
}

/* Waits for a request other than `last`; false: none in this step. */
static bool request_await(struct ht_coop *c, uint32_t last)
{
	const struct timespec t = { .tv_nsec = STEP_NS };

	if (ht_load_acquire_32(&c->request) == last) /* COOP */
		call(SYS_futex, call_pointer(&c->request), FUTEX_WAIT, last, call_pointer(&t), 0);
	return ht_load_acquire_32(&c->request) != last; /* COOP */
}

/*
 * Whether request `last` is this server's. Both servers wait for the same word. One that gets here
 * late may find that the other has answered, and that the viewer is writing the next request: then
 * `server` is of that one, and `command` still of the last, which may be to end.
 */
static bool is_mine(const struct server *s, uint32_t last)
{
	const struct ht_coop *c = s->coop;

	return ht_load_acquire_32(&c->server) == s->me && /* COOP */
	       ht_load_acquire_32(&c->answer) != last && /* COOP */
	       ht_load_relaxed_32(&c->request) == last;
}

/* Answers until the viewer ends it. The thread also continues when its time is over; the copy ends
 * when no request has come for long. */
static void serve(const struct server *s, uint32_t last)
{
	struct ht_coop *c = s->coop;
	uint64_t since = clock_monotonic();

	while (clock_monotonic() - since < (s->me == HT_COOP_THREAD ? THREAD_NS : COPY_NS)) {
		bool ends;

		if (!request_await(c, last)) {
			if (c->number != acted)
				return; /* its viewer is gone, and another one requests something */
			continue;
		}
		last = ht_load_acquire_32(&c->request); /* COOP */
		if (c->number != acted)
			return; /* that request is for another copy */
		if (!is_mine(s, last))
			continue;
		ends = c->command == HT_COOP_END;
		c->got = request_do(s);
		ht_store_release_32(&c->answer, last); /* COOP */
		wake(&c->answer);
		if (ends)
			return;
		if (s->me == HT_COOP_CHILD)
			since = clock_monotonic();
	}
}

/* ---- the copy ---- */

static uint32_t last_request; /* ht_coop.request, when the copy was made */
static long last_copy; /* its pid; 0: reaped */

/* Makes the kernel kill the copy before the program if memory runs out. 0 or -errno. */
static int yield_memory(void)
{
	long fd = call(SYS_openat, AT_FDCWD, call_pointer("/proc/self/oom_score_adj"),
		O_WRONLY | O_CLOEXEC, 0, 0);
	long rc = fd < 0 ? fd : call(SYS_write, fd, call_pointer("1000"), 4, 0, 0);

	if (fd >= 0)
		call(SYS_close, fd, 0, 0, 0, 0);
	return rc < 0 ? (int)rc : 0;
}

static __attribute__((noreturn)) void end(void)
{
	for (;;)
		call(SYS_exit_group, 0, 0, 0, 0, 0);
}

static uint32_t own_uid(void)
{
	return (uint32_t)call(SYS_geteuid, 0, 0, 0, 0, 0);
}

/* Whether this is a process of our user. */
static bool is_of_ours(uint32_t pid)
{
	char path[32] = "/proc/", digits[12], *at = digits + sizeof(digits) - 1, *out = path + 6;
	struct stat st;

	*at = '\0';
	do {
		*--at = (char)('0' + pid % 10);
		pid /= 10;
	} while (pid);
	while ((*out++ = *at++))
		;
	return call(SYS_newfstatat, AT_FDCWD, call_pointer(path), call_pointer(&st), 0, 0) == 0 &&
	       st.st_uid == own_uid();
}

/* Makes the copy of a process that is not dumpable so for a moment: else it could open none of its
 * files. It has only the memory then, which any process of the viewer's user may request anyway. */
static void dumpable_be(uint32_t viewer)
{
	if (call(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0) != 1 && is_of_ours(viewer))
		call(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
}

/* The copy: a separate process, which never leaves this function. It leaves the program's
 * scheduling class; once its files are open, others can get neither its memory nor a core of it. */
static __attribute__((noinline, noreturn)) void copy_run(void)
{
	const struct sched_param ordinary = { 0 };
	struct server s = { .coop = &state_segment.header->coop, .me = HT_COOP_CHILD };

	call(SYS_prctl, PR_SET_NAME, call_pointer("heaptop-copy"), 0, 0, 0);
	call(SYS_sched_setscheduler, 0, SCHED_OTHER, call_pointer(&ordinary), 0, 0);
	s.unfit = (int)call(SYS_close_range, 0, -1, UNSHARE_ALL, 0, 0);
	if (s.unfit == 0) {
		dumpable_be(s.coop->viewer);
		s.unfit = yield_memory();
	}
	for (unsigned i = HT_COOP_MAPS; i < HT_COOP_END; i++)
		s.file[i] = open_own(own_file[i]);
	call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
	serve(&s, last_request);
	end();
}

/* Reaps no child of the program's own: those give a signal. */
static int copy_reap(void)
{
	if (last_copy > 0 && call(SYS_wait4, last_copy, 0, WNOHANG | __WCLONE, 0, 0) == 0)
		return -EBUSY;
	last_copy = 0;
	return 0;
}

static int copy_make(struct ht_coop *c)
{
	int rc = copy_reap();
	long copy;

	if (rc != 0)
		return rc;
	clock_publish();
	c->at_ns = ht_load_relaxed_64(&state_segment.header->clock_ns);
	last_request = ht_load_acquire_32(&c->request); /* COOP */
	copy = call(SYS_clone, CLONE_FILES, 0, 0, 0, 0);
	if (copy == 0)
		copy_run();
	last_copy = copy > 0 ? copy : 0;
	c->copy = (uint32_t)last_copy;
	return copy > 0 ? 0 : (int)copy;
}

/* ---- serving a request ---- */

static void accepted(struct ht_coop *c, uint32_t number, int result)
{
	c->result = result;
	ht_store_release_32(&c->accepted, number); /* COOP */
	wake(&c->accepted);
}

static inline uint64_t stack_pointer(void)
{
	uint64_t at;

#ifdef __x86_64__
	__asm__ volatile("mov %%rsp, %0" : "=r"(at));
#else
	__asm__ volatile("mov %0, sp" : "=r"(at));
#endif
	return at;
}

/* Puts the caller's registers on the stack, from `stack` on. Waits here until the viewer has read
 * what must be of the same moment as the copy. */
static __attribute__((noinline)) void copy_lend(struct ht_coop *c, uint32_t number, bool checks)
{
	const struct server s = { .coop = c, .me = HT_COOP_THREAD };
	uint64_t all = ~UINT64_C(0), before = 0;
	uint64_t stack;
	int result;

	__builtin_unwind_init();
	stack = stack_pointer();
	call(SYS_rt_sigprocmask, SIG_SETMASK, call_pointer(&all), call_pointer(&before), KERNEL_SET,
		0);
	c->stack = stack;
	c->pointer = thread_pointer();
	c->tid = (uint32_t)call(SYS_gettid, 0, 0, 0, 0, 0);
	result = commit_header(
		&state_segment, offsetof(struct ht_header, coop.data), sizeof(c->data));
	if (result == 0 && checks)
		c->check = self_check(c->data);
	if (result == 0)
		result = checks && c->check != HT_COOP_SAFE ? -EPERM : copy_make(c);
	accepted(c, number, result);
	if (result == 0)
		serve(&s, last_request);
	ht_store_release_32(&c->resumed, number); /* COOP */
	call(SYS_rt_sigprocmask, SIG_SETMASK, call_pointer(&before), 0, KERNEL_SET, 0);
}

static int tracer_let(uint32_t pid)
{
	if (pid != 0 && !is_of_ours(pid))
		return -EPERM;
	return (int)call(SYS_prctl, PR_SET_PTRACER, (long)pid, 0, 0, 0);
}

/* Whether the viewer still waits for it. */
static bool is_in_time(const struct ht_coop *c)
{
	uint64_t now = clock_monotonic(), until = c->until_ns;

	return until > now && until - now <= HT_COOP_NS;
}

/* A thread inside realloc holds a block that is in no table; a vfork child is another process. */
static bool is_the_moment(void)
{
	return !state_thread.in_realloc &&
	       call(SYS_getpid, 0, 0, 0, 0, 0) == (long)state_segment.header->pid;
}

void coop_serve(void)
{
	struct ht_header *h = state_segment.header;
	uint32_t ask = ht_load_acquire_32(&h->coop_ask); /* COOP */
	uint32_t number = h->coop.number, before = ht_load_relaxed_32(&acted);

	if (ask == HT_COOP_NOTHING || number == before)
		return;
	if (!is_in_time(&h->coop)) {
		(void)ht_cas_relaxed_32(&h->coop_ask, &ask, HT_COOP_NOTHING);
		return;
	}
	/* Relaxed: it only chooses one thread. */
	if (!is_the_moment() || !ht_cas_relaxed_32(&acted, &before, number))
		return;
	if (ask == HT_COOP_COPY || ask == HT_COOP_CHECKED_COPY)
		copy_lend(&h->coop, number, ask == HT_COOP_CHECKED_COPY);
	else if (ask == HT_COOP_REAP)
		accepted(&h->coop, number, copy_reap());
	else
		accepted(&h->coop, number, tracer_let(ask == HT_COOP_TRACER ? h->coop.viewer : 0));
}

void coop_forget(void)
{
	(void)copy_reap();
	acted = 0;
}

#else

void coop_serve(void)
{
}

void coop_forget(void)
{
}

#endif
