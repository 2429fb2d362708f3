/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The life of recording in this process: start, fork, exit (lifecycle.h). Recording starts at the
 * first allocation after libc is ready (which may be before our constructor), on the thread that
 * makes it. All system calls are there, once per thread, and where a table takes fresh memory.
 *
 * Edge PHASE: `state_own` is published before the phase is PHASE_ON. So a thread that finds
 * PHASE_ON, and `on` unset, is in a forked child, whose page was wiped.
 */
#include "preload/lifecycle.h"

#include <errno.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/attach.h"
#include "preload/cfi_cache.h"
#include "preload/clock.h"
#include "preload/coop.h"
#include "preload/copy_stub.h"
#include "preload/environment.h"
#include "preload/exit_wait.h"
#include "preload/ignored.h"
#include "preload/inner.h"
#include "preload/jumps.h"
#include "preload/modules.h"
#include "preload/next_allocator.h"
#include "preload/next_operators.h"
#include "preload/recorder.h"
#include "preload/sample.h"
#include "preload/signals.h"
#include "preload/statistics.h"
#include "preload/surroundings.h"
#include "preload/symbols.h"
#include "preload/thread_pointer.h"
#include "preload/unwind.h"
#include "preload/unwind_cfi.h"
#include "preload/wrong_free.h"
#include "shm/before.h"
#include "shm/core_view.h"
#include "shm/kernel.h"
#include "shm/mapping.h"

enum phase { PHASE_NEW, PHASE_STARTING, PHASE_ON, PHASE_OFF };

enum fork_way {
	FORK_NONE,
	FORK_CLEAN, /* the child will be detached */
	FORK_INSIDE, /* by a handler that interrupted a hook: the child will return into that hook
		      */
};

static uint32_t phase;

#define OWN_BYTES 4096u

/* One page, wiped by the kernel in a child that gets a copy of our memory. It stays when a viewer
 * detaches, but read-only: threads may still be about to read it. */
static struct own *own_page(void)
{
	static void *page;
	void *p = page;

	if (p)
		return mprotect(p, OWN_BYTES, PROT_READ | PROT_WRITE) == 0 ? p : NULL;
	p = kernel_mmap(
		NULL, OWN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (madvise(p, OWN_BYTES, MADV_WIPEONFORK) != 0) {
		kernel_munmap(p, OWN_BYTES);
		return NULL;
	}
	page = p;
	return p;
}

/* Stores for viewers why the segment is empty or incomplete. Its first byte comes last: then it is
 * complete. */
static void why_note(const char *why)
{
	char *out = state_segment.header->why;
	size_t bytes = __builtin_strlen(why);

	__builtin_memcpy(out + 1, why + 1, (bytes < HT_WHY_MAX ? bytes : HT_WHY_MAX - 1) - 1);
	ht_store_release_8((uint8_t *)out, (uint8_t)*why); /* WHY */
}

static int give_up(const char *why, int rc)
{
	why_note(why);
	ht_store_release_32(&state_segment.header->state, HT_STATE_STOPPED); /* WHY */
	return rc;
}

/* The distance of a thread's word from its thread pointer. */
static int64_t from_thread(const void *word)
{
	uint64_t pointer = thread_pointer();

	return pointer ? (int64_t)((uint64_t)(uintptr_t)word - pointer) : 0;
}

/* Publishes what leak scans need. */
static void scans_publish(void)
{
	state_segment.header->in_realloc_at = from_thread(&state_thread.in_realloc);
	state_segment.header->busy_at = from_thread(&state_thread.busy);
	state_segment.header->copy_at = copy_stub_publish();
}

/* The same for who detaches. */
static void jumps_publish(void)
{
	struct ht_attached *a = &heaptop_attached;

	a->busy_at = from_thread(&state_thread.busy);
	a->inside_at = from_thread(&state_thread.inside);
	a->state_at = from_thread(&state_thread);
	a->state_bytes = sizeof(state_thread);
	a->state = HT_ATTACHED_PREPARED;
}

/* The same once the segment is there. `is_late`: a viewer attaches. */
static int prepare_own(struct own **own, bool is_late)
{
	*own = own_page();
	if (!*own)
		return give_up("the kernel cannot detect forks: madvise lacks MADV_WIPEONFORK "
			       "(Linux 4.14 or later is needed)",
			-ENOSYS);
	/* The segment stays mapped in a forked child until that child's first allocation, because
	 * the fork may have interrupted a hook. */
	next_arena_undump();
	state_segment.single_threaded = surroundings_single_threaded();
	modules_start(is_late);
	surroundings_code_find();
	segment_extents(&state_segment, surroundings_are_glibc());
	unwind_start(environment_variable("HEAPTOP_UNWINDER"));
	recorder_start();
	ignored_start();
	scans_publish();
	clock_publish();
	return 0;
}

/* Everything before recording is switched on. 0 or -errno. */
static int prepare(struct own **own)
{
	int rc = attach_segment(&state_segment);

	if (rc == 0)
		rc = prepare_own(own, false);
	if (rc != 0)
		return rc;
	inner_start();
	if (next_cxx_has_front() && !inner_has_malloc())
		why_note("the program has a malloc of its own, so its blocks bypass libheaptop");
	return 0;
}

/* Signals are blocked: a handler that abandons this would leave recording starting for ever. */
static bool start_blocked(void)
{
	struct own *own = NULL;
	uint32_t fresh = PHASE_NEW;
	int rc;

	/* Relaxed: only one thread ever starts. */
	if (!ht_cas_relaxed_32(&phase, &fresh, PHASE_STARTING))
		return false;
	/* Loading the reference unwinder allocates: not counted as the program's. */
	state_thread.busy = (uintptr_t)__builtin_frame_address(0);
	state_thread.unwinding = 1;
	next_cxx_find_all();
	rc = prepare(&own);
	state_thread.unwinding = 0;
	if (rc == 0) {
		ht_store_relaxed_32(&state_segment.header->state, HT_STATE_RUNNING);
		state_publish(own, sample_start() || unwind_checks() ? OWN_SLOW : OWN_FAST);
		jumps_publish();
	}
	ht_store_release_32(&phase, rc == 0 ? PHASE_ON : PHASE_OFF); /* PHASE */
	state_thread.busy = 0;
	return rc == 0;
}

static bool start(void)
{
	int saved = errno;
	uint64_t signals;
	bool started;

	if (!environment_is_ready())
		return false;
	signals = signals_block();
	started = start_blocked();
	signals_restore(signals);
	errno = saved;
	return started;
}

/* Whether a child has had our memory, that of vfork or clone. */
static uint8_t memory_lent;

void lifecycle_memory_lent(void)
{
	ht_store_relaxed_8(&memory_lent, 1); /* relaxed: of the thread that makes the child */
}

/* Whether the segment belongs to this process. A vfork child has our memory, but not our pid. */
static bool is_ourselves(void)
{
	return state_pid() == state_segment.header->pid;
}

/* ---- attaching and detaching ---- */

/* Patches what is to be recorded. */
static int patch(const char **why)
{
	static char text[HT_ATTACHED_WHY];
	const char *reason, *name;
	size_t used, more;

	name = inner_attach(symbols_precede_libc(), &reason);
	if (!name) {
		modules_watched();
		return 0;
	}
	used = __builtin_strlen(name); /* that of a function of libc */
	more = __builtin_strlen(reason);
	more = more < sizeof(text) - used - 3 ? more : sizeof(text) - used - 3;
	__builtin_memcpy(text, name, used);
	__builtin_memcpy(text + used, ": ", 2);
	__builtin_memcpy(text + used + 2, reason, more);
	text[used + 2 + more] = '\0';
	*why = text;
	return -ENOTSUP;
}

/* A segment that nothing uses any more, but for what a thread may just be about to read. To unmap
 * it takes a while, in which all threads would stand still. */
static struct segment left;

void lifecycle_unmap(void)
{
	recorder_unmap();
	if (left.header && left.header == state_segment.header) {
		state_segment.header = NULL;
		state_segment.places = NULL;
		core_view_forget(&state_segment);
		state_segment.bytes = 0;
	}
	segment_unmap(&left);
}

/* Undoes what attaching did; segment and recorders stay mapped until lifecycle_unmap. */
static void session_end(void)
{
	inner_detach();
	recorder_detach();
	left = state_segment;
	attach_forget();
	sample_detach();
	coop_forget();
	cfi_cache_forget();
	__builtin_memset(next_inside, 0, sizeof(next_inside));
}

static const char *why_no_segment(int rc)
{
	switch (rc) {
	case -EPROTO:
		return "the viewer and the library are of different versions";
	case -EPERM:
		return "the segment is not a file of the program's user alone";
	case -ESTALE:
		return "the segment was prepared for another process";
	case -ENOENT:
	case -EACCES:
		return "the program does not see the segment";
	case -EMFILE:
	case -ENFILE:
		return "the program can open no more files; raise its limit (prlimit --nofile)";
	case -ENOMEM:
		return "its limit on address space or data leaves no room; raise it (prlimit --as "
		       "--data)";
	case -EAGAIN:
		return "it locks its memory, and may lock no more; raise its limit (prlimit "
		       "--memlock)";
	default:
		return "the segment cannot be mapped";
	}
}

/* What libc's malloc has is the viewer's to find. */
static void other_note(void)
{
	struct statistics s = statistics_read();

	before_other_note(&state_segment, s.blocks, s.bytes);
}

struct attaching {
	struct own *own;
	const char *why;
	int rc;
};

/* What reads the loader's list, or what an object has that may be unloaded. */
static int attach_locked(struct dl_phdr_info *info, size_t size, void *data)
{
	struct attaching *t = data;

	symbols_forget();
	next_find_again();
	next_cxx_find_again();
	statistics_find();
	t->why = "the kernel cannot detect forks";
	t->rc = prepare_own(&t->own, true);
	if (t->rc == 0) {
		surroundings_insides_find();
		wrong_free_attached();
		t->rc = patch(&t->why);
	}
	return 1;
}

/* Whoever reads the loader's list holds the lock that others need to change it. A child that is
 * forked meanwhile would find it held for ever, so it is held for little. */
static void attach_prepare(struct attaching *t)
{
	t->rc = attach_segment(&state_segment);
	t->why = why_no_segment(t->rc);
	if (t->rc != 0)
		return;
	t->why = "there is no memory";
	t->rc = before_prepare(&state_segment);
	if (t->rc == 0)
		dl_iterate_phdr(attach_locked, t);
	if (t->rc == 0 && !t->own)
		t->rc = -ENOSYS;
	if (t->rc == 0) {
		other_note();
	} else {
		session_end();
		lifecycle_unmap();
	}
}

int lifecycle_attach(const struct ht_attached *a, const char **why)
{
	struct attaching t = { 0 };
	uint32_t off = PHASE_OFF;
	uint64_t signals;

	*why = "it is being recorded already";
	/* Relaxed: one viewer at a time; no other thread starts what is off. */
	if (!ht_cas_relaxed_32(&phase, &off, PHASE_STARTING))
		return -EBUSY;
	lifecycle_unmap();
	environment_give(a);
	lifecycle_memory_lent(); /* by a vfork that was not patched */
	clock_check();
	signals = signals_block();
	ht_add_relaxed_32(&state_session, 1);
	attach_prepare(&t);
	if (t.rc == 0) {
		ht_store_relaxed_32(&state_segment.header->state, HT_STATE_RUNNING);
		state_publish(t.own, sample_start() || unwind_checks() ? OWN_SLOW : OWN_FAST);
		jumps_publish();
	}
	ht_store_release_32(&phase, t.rc == 0 ? PHASE_ON : PHASE_OFF); /* PHASE */
	signals_restore(signals);
	*why = t.rc == 0 ? "" : t.why;
	return t.rc;
}

/* In a child that the kernel copied, and that has made no call yet, the segment is its parent's. */
static void segment_release(void)
{
	if (!is_ourselves())
		return;
	clock_publish();
	why_note(HT_WHY_DETACHED);
	ht_store_release_32(&state_segment.header->state, HT_STATE_STOPPED); /* WHY */
	attach_remove(&state_segment);
}

void lifecycle_detach(void)
{
	struct own *own = (struct own *)(uintptr_t)ht_load_acquire_pointer(&state_own); /* START */
	uint32_t was = ht_load_relaxed_32(&phase);

	if (was == PHASE_ON) {
		if (state_is_on())
			segment_release();
		ht_store_relaxed_32(&own->on, OWN_OFF);
		(void)mprotect(own, OWN_BYTES, PROT_READ);
	}
	ht_store_release_32(&phase, PHASE_OFF); /* PHASE */
	if (was == PHASE_ON)
		session_end();
	else
		inner_detach();
	heaptop_attached.state = HT_ATTACHED_RELEASED;
}

/* Unmaps the parent's segment in a forked child. Bypassing code may still read it (in another
 * thread, or in what our handler interrupted): then each mapping becomes zero pages, in one step,
 * which no reader mistakes for data. */
static void parent_unmap(struct segment *parents)
{
	struct mapping_range range[HT_REGION_COUNT];
	unsigned n = mapping_ranges_forked(parents, range);

	if (next_is_exact()) {
		segment_unmap(parents);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		kernel_mmap(segment_at(parents, range[i].at), range[i].bytes, PROT_READ,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

/* In a forked child, with the parent's segment: ends recording here. If this very thread was inside
 * a hook when it forked (in a signal handler), it will return there. */
static __attribute__((noinline)) void leave_parent(void)
{
	struct segment parents = state_segment;
	uint32_t was_on = PHASE_ON;

	if (ht_cas_acquire_32(&phase, &was_on, PHASE_OFF) && /* PHASE */
		state_thread.busy == 0)
		parent_unmap(&parents);
}

/* The same, and continues recording into a segment of our own. This is the only thread. */
static bool follow_blocked(void)
{
	/* START: the parent published it, and this is the only thread. */
	struct own *own = (struct own *)(uintptr_t)ht_load_acquire_pointer(&state_own);
	static struct segment parents, ours; /* small stacks fork, too */

	ht_store_relaxed_32(&phase, PHASE_STARTING);
	ht_fence_handler();
	parents = state_segment;
	if (attach_child(&ours, &parents) != 0) {
		ht_store_relaxed_32(&phase, PHASE_ON);
		leave_parent();
		return false;
	}
	state_segment = ours;
	recorder_forked();
	memory_lent = 0;
	ignored_forked();
	parent_unmap(&parents);
	scans_publish();
	clock_publish();
	own->on = sample_forked() || unwind_checks() ? OWN_SLOW : OWN_FAST;
	ht_store_relaxed_32(&state_segment.header->state, HT_STATE_RUNNING);
	ht_store_release_32(&phase, PHASE_ON); /* PHASE */
	return true;
}

/* Signals are blocked, as at start. A child that is not to be recorded makes no calls that its
 * sandbox might not allow. */
static bool follow(void)
{
	uint64_t signals;
	bool followed;

	if (!attach_follows(state_segment.header)) {
		leave_parent();
		return false;
	}
	signals = signals_block();
	followed = follow_blocked();
	signals_restore(signals);
	return followed;
}

/* Detaches a child of fork from its parent's segment. If a handler that interrupted a hook forked,
 * the rest of that hook's writes goes to a private copy. */
static bool child_settle(void)
{
	enum fork_way way = state_thread.forking;
	bool follows = false;
	int saved = errno;

	state_thread.forking = FORK_NONE;
	core_view_forget(&state_segment);
	if (way == FORK_CLEAN)
		follows = follow();
	else if (way == FORK_INSIDE)
		attach_private(&state_segment);
	else
		leave_parent();
	errno = saved;
	return follows;
}

/* Recording, but off: wiped by fork. */
static bool is_child(void)
{
	return ht_load_acquire_32(&phase) == PHASE_ON && !state_is_on(); /* PHASE */
}

void lifecycle_before_fork(uintptr_t frame)
{
	if (ht_load_relaxed_32(&phase) != PHASE_ON)
		return;
	attach_before_fork(&state_segment);
	state_thread.forking = unwind_cfi_is_clear(frame, 0) ? FORK_CLEAN : FORK_INSIDE;
}

void lifecycle_after_fork(void)
{
	if (is_child())
		child_settle();
	state_thread.forking = FORK_NONE;
}

bool lifecycle_wake(void)
{
	switch ((enum phase)ht_load_acquire_32(&phase)) { /* PHASE */
	case PHASE_NEW:
		return start();
	case PHASE_ON:
		/* In the middle of fork: a pthread_atfork handler allocates. */
		return !is_child() || child_settle();
	case PHASE_STARTING:
	case PHASE_OFF:
		break;
	}
	return false;
}

static void end_note(void)
{
	attach_check(state_segment.header);
	exit_wait(state_segment.header);
	clock_publish();
	ht_store_relaxed_32(&state_segment.header->state, HT_STATE_EXITED);
	ht_fence_full(); /* LEAVE */
	attach_release(&state_segment);
}

/* In a launch this takes no system call, since a forbidden one could kill a sandboxed program;
 * unless a child may be what ends. */
static void end(bool by_child)
{
	int saved = errno;

	if (state_is_on() && ((state_segment.header->family != 0 && !by_child) || is_ourselves()))
		end_note();
	errno = saved;
}

void lifecycle_exit(void)
{
	end(ht_load_relaxed_8(&memory_lent)); /* relaxed: as above */
}

/* By exit, which a vfork child may not call. */
static void end_by_exit(void *unused)
{
	end(false);
}

/*
 * A leak scan at the end must see what all destructors have left. Ours runs before those of most
 * libraries, and not at all when one of the program's calls exit. An entry registered first is
 * called last, after the loader's own entry, which runs destructors. The first entry needs no
 * allocation (glibc stdlib/cxa_atexit.c), and our constructor holds no lock.
 */
static bool ends_last;

int __cxa_atexit(void (*function)(void *), void *argument, void *object);

/* Opened by a viewer in a running program, it does nothing until that attaches. */
__attribute__((constructor)) static void on_load(void)
{
	uint32_t fresh = PHASE_NEW;

	if (!symbols_precede_libc() && ht_cas_relaxed_32(&phase, &fresh, PHASE_OFF))
		return;
	lifecycle_wake();
	if (state_is_on() && ht_load_relaxed_32(&state_segment.header->leak_ask))
		ends_last = __cxa_atexit(end_by_exit, NULL, NULL) == 0;
}

__attribute__((destructor)) static void on_unload(void)
{
	if (!ends_last)
		end_by_exit(NULL);
}
