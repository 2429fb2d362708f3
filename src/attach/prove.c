/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Proving a thread by its stack (prove.h). Innermost are frames of libc: the function that waits,
 * and what it calls. Then come frames of the program, and outermost those with which libc starts a
 * program or a thread. A frame of libc anywhere else is a callback (of qsort, pthread_once,
 * dl_iterate_phdr, name services), and its caller may hold anything. Where a stack cannot be
 * followed, its words are judged.
 */
#include "src/attach/prove.h"

#include <string.h>
#include <sys/syscall.h>

#include "src/attach/words.h"
#include "src/trace/borrow.h"
#include "src/trace/unwind.h"

#define FRAMES_MAX  256u
#define WORDS_MAX   256u
#define START_BYTES 64u /* of _start, which calls libc and nothing else; it takes some 40 */
#define ENTRY_AT    24u /* e_entry in the header of an ELF file */
#define CALL_STACK  (64u << 10) /* bytes: dlopen takes some 10 KB, and our library less */
/* A handler's frame lies so far at most below what it interrupted: the red zone, its context, and
 * the vector registers (some 11 KB with AMX). Else it is on another stack. */
#define HANDLER_MOST (16u << 10)

/* Functions that hold no lock of libc's while they wait, but that of a stream. */
static const char *const waits[] = { "epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll",
	"__poll_chk", "__ppoll_chk", "select", "pselect", "read", "__read_chk", "pread", "pread64",
	"readv", "preadv", "write", "writev", "recv", "__recv_chk", "recvfrom", "__recvfrom_chk",
	"recvmsg", "recvmmsg", "send", "sendto", "sendmsg", "accept", "accept4", "connect", "wait",
	"wait3", "wait4", "waitpid", "waitid", "sigwait", "sigwaitinfo", "sigtimedwait",
	"sigsuspend", "pause", "flock", "msgrcv", "msgsnd", "semop", "semtimedop", "mq_receive",
	"mq_timedreceive", "io_getevents", "fsync", "fdatasync", "pthread_join",
	"pthread_timedjoin_np", "pthread_clockjoin_np", "thrd_join", "fgets", "getline", "getdelim",
	"fgetc", "getc", "getchar", "fread" };
/* Those by which locks are built, too. */
static const char *const lock_waits[] = { "nanosleep", "clock_nanosleep", "sleep", "usleep",
	"thrd_sleep", "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
	"cnd_wait", "cnd_timedwait", "sem_wait", "sem_timedwait", "sem_clockwait",
	"pthread_barrier_wait", "pthread_mutex_lock", "syscall" };

/* The same for system calls that the program makes itself. */
static const struct {
	long number;
	bool locks;
} calls[] = { { SYS_futex, true }, { SYS_nanosleep, true }, { SYS_clock_nanosleep, true },
	{ SYS_epoll_wait, false }, { SYS_epoll_pwait, false }, { SYS_epoll_pwait2, false },
	{ SYS_poll, false }, { SYS_ppoll, false }, { SYS_select, false }, { SYS_pselect6, false },
	{ SYS_read, false }, { SYS_pread64, false }, { SYS_readv, false }, { SYS_accept, false },
	{ SYS_accept4, false }, { SYS_recvfrom, false }, { SYS_recvmsg, false },
	{ SYS_wait4, false }, { SYS_waitid, false }, { SYS_rt_sigtimedwait, false } };

static bool range_find(
	const struct attach_process *p, const char *name, uint64_t *at, uint64_t *end)
{
	struct trace_symbol s;

	if (!trace_image_symbol(&p->image, p->libc, name, &s) &&
		!(p->threads && trace_image_symbol(&p->image, p->threads, name, &s)))
		return false;
	*at = s.at;
	*end = s.at + s.bytes;
	return true;
}

/* In all versions. */
static void wait_add(
	struct attach_prove *p, const struct trace_module *m, const char *name, bool locks)
{
	struct trace_symbol s;

	for (unsigned n = 0; m && p->waits < ATTACH_PROVE_WAITS &&
			     trace_image_version(&p->process->image, m, name, n, &s);
		n++) {
		p->wait[p->waits].at = s.at;
		p->wait[p->waits].end = s.at + s.bytes;
		p->wait[p->waits++].locks = locks;
	}
}

static void waits_add(struct attach_prove *p, const char *const *names, size_t count, bool locks)
{
	for (size_t i = 0; i < count; i++) {
		wait_add(p, p->process->libc, names[i], locks);
		wait_add(p, p->process->threads, names[i], locks);
	}
}

/* Where the executable starts. 0: not known. */
static uint64_t entry_read(const struct attach_process *p, const struct trace_module *first)
{
	uint64_t entry = 0;

	if (!first ||
		!trace_memory_read(&p->memory, first->start + ENTRY_AT, &entry, sizeof(entry)))
		return 0;
	return first->bias + entry;
}

void attach_prove_begin(struct attach_prove *p, const struct attach_process *process)
{
	const struct trace_module *first = process->image.modules ? process->image.module : NULL;
	struct trace_symbol s;

	*p = (struct attach_prove){ .process = process };
	waits_add(p, waits, sizeof(waits) / sizeof(*waits), false);
	waits_add(p, lock_waits, sizeof(lock_waits) / sizeof(*lock_waits), true);
	(void)range_find(process, "exit", &p->leave[0], &p->leave_end[0]);
	(void)range_find(process, "quick_exit", &p->leave[1], &p->leave_end[1]);
	/* The executable has the lowest addresses. */
	p->start = entry_read(process, first);
	p->own = first && trace_image_symbol(&process->image, first, "malloc", &s);
}

/* An arena of malloc, in which a program may have made a stack. */
#define ARENA_BYTES (UINT64_C(64) << 20)

static bool is_guarded(const struct attach_process *p, const struct trace_map *m)
{
	const struct trace_map *below = trace_image_map(&p->image, m->start - 1);

	return below && !below->reads && !below->writes && !below->executes &&
	       m->start % ARENA_BYTES != 0;
}

/*
 * How much of its own stack a thread has below this address; 0: it is on another, of a handler or a
 * coroutine, or on one that the program has made, which may end anywhere in its mapping. libc's own
 * have a thread's pointer above, and a guard below.
 */
static uint64_t own_stack(const struct attach_process *p, const struct user_regs_struct *regs)
{
	const struct trace_map *m = trace_image_map(&p->image, regs->rsp - 1);
	bool first = m && strcmp(m->path, "[stack]") == 0;
	bool pointer = m && regs->fs_base > regs->rsp && regs->fs_base < m->end;

	if (!m || !m->writes || (first ? pointer : !pointer || !is_guarded(p, m)))
		return 0;
	return regs->rsp - m->start;
}

/* The first thread's grows by itself. */
static bool has_room(const struct attach_process *p, const struct user_regs_struct *regs)
{
	uint64_t need = TRACE_REMOTE_FRAME;

	if (regs->fs_base > regs->rsp && trace_image_map(&p->image, regs->rsp - 1) ==
						 trace_image_map(&p->image, regs->fs_base))
		need += CALL_STACK;
	return own_stack(p, regs) >= need;
}

/* NULL: it has room. */
static const char *room_judge(const struct attach_process *p, const struct user_regs_struct *regs)
{
	if (own_stack(p, regs) == 0)
		return "on a stack that is not its own";
	return has_room(p, regs) ? NULL : "with a small stack";
}

/* Whether a handler, by the kernel's frame for it, is on the stack of what it interrupted. */
static bool is_same_stack(const struct trace_frame *f, size_t n, size_t count)
{
	return n + 1 < count && f[n + 1].sp - f[n].sp < HANDLER_MOST;
}

/*
 * The words of its stack that point to code. Else more than WORDS_MAX: also on a stack that is not
 * the thread's from its start (a goroutine's), which code that libc called may have changed to.
 */
static size_t words_read(const struct attach_process *p, const struct user_regs_struct *regs,
	struct attach_word w[WORDS_MAX])
{
	const struct trace_map *m = trace_image_map(&p->image, regs->rsp);
	uint64_t end = m ? m->end : 0;

	if (regs->fs_base > regs->rsp && regs->fs_base < end)
		end = regs->fs_base; /* the rest is libc's, for the thread */
	else if (!m || strcmp(m->path, "[stack]") != 0)
		return WORDS_MAX + 1;
	return attach_words(&p->image, regs->rsp, end, w, WORDS_MAX);
}

/* Where no frame is known: the kernel's have the address of what ends a handler. Its words are not
 * on the stack beside its caller's frames, nor are those of words_judge. */
__attribute__((noinline)) static bool has_no_handler(
	const struct attach_process *p, const struct user_regs_struct *regs)
{
	struct attach_word w[WORDS_MAX];
	size_t count = words_read(p, regs, w);

	for (size_t n = 0; n < count && count <= WORDS_MAX; n++)
		if (w[n].restores)
			return false;
	return count <= WORDS_MAX;
}

bool attach_prove_may_call(
	const struct attach_process *p, const struct trace_thread *t, uint64_t bytes)
{
	struct trace_frame f[FRAMES_MAX];
	struct trace_unwound u;

	if (!trace_borrow_may(t, !p->filtered) ||
		own_stack(p, &t->regs) < TRACE_REMOTE_FRAME + bytes)
		return false;
	trace_unwind(&u, &p->image, &t->regs, f, FRAMES_MAX);
	for (size_t n = 0; n < u.count; n++)
		if (f[n].signal && !is_same_stack(f, n, u.count))
			return false;
	return u.whole || has_no_handler(p, &t->regs);
}

/* A module of the program, other than libc, the loader, an allocator and ourselves. */
static const char *program_judge(const struct attach_prove *p, uint64_t pc)
{
	const struct attach_process *process = p->process;
	const struct trace_module *m = trace_image_module(&process->image, pc);
	struct trace_symbol s;

	if (!m)
		return "code of no file on its stack";
	if (m == process->loader)
		return "in the loader";
	if (m == process->library)
		return "in libheaptop.so";
	if (m != process->image.module && trace_image_symbol(&process->image, m, "malloc", &s))
		return "in an allocator";
	return NULL;
}

static bool is_libc(const struct attach_prove *p, const struct trace_frame *f, size_t n)
{
	return attach_process_is_libc(p->process, f[n].pc - (n > 0));
}

static bool is_leaving(const struct attach_prove *p, uint64_t pc)
{
	return (pc >= p->leave[0] && pc < p->leave_end[0]) ||
	       (pc >= p->leave[1] && pc < p->leave_end[1]);
}

static const char *wait_judge(const struct attach_prove *p, uint64_t pc)
{
	for (size_t i = 0; i < p->waits; i++)
		if (pc >= p->wait[i].at && pc < p->wait[i].end)
			return p->wait[i].locks && p->own ? "perhaps waiting in its allocator"
							  : NULL;
	return "not in a known wait";
}

/* The word at `next` + the 32 bits at `at`, which end at `next`. 0: not readable. */
static uint64_t slot_read(const struct trace_image *i, const uint8_t *at, uint64_t next)
{
	uint64_t word = 0;
	int32_t far;

	memcpy(&far, at, sizeof(far));
	return trace_memory_read(i->memory, next + (uint64_t)(int64_t)far, &word, sizeof(word))
		       ? word
		       : 0;
}

/* What a stub of a procedure linkage table jumps to: `jmp *slot(%rip)`, perhaps after an endbr64,
 * or with a bnd prefix. */
static uint64_t stub_target(const struct trace_image *i, uint64_t at)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t code[16];
	size_t n = 0;

	if (!trace_memory_read(i->memory, at, code, sizeof(code)))
		return 0;
	n += memcmp(code, endbr64, sizeof(endbr64)) == 0 ? sizeof(endbr64) : 0;
	n += code[n] == 0xf2;
	return code[n] == 0xff && code[n + 1] == 0x25 ? slot_read(i, code + n + 2, at + n + 6) : 0;
}

/*
 * The function that a call of the program is for, by the instruction before its return address:
 * libc may have jumped on from it, to one without a name. 0: not known.
 */
static uint64_t called(const struct trace_image *i, uint64_t back)
{
	uint8_t code[6];
	int32_t far;

	if (!trace_memory_read(i->memory, back - sizeof(code), code, sizeof(code)))
		return 0;
	if (code[0] == 0xff && code[1] == 0x15)
		return slot_read(i, code + 2, back);
	if (code[1] != 0xe8)
		return 0;
	memcpy(&far, code + 2, sizeof(far));
	return stub_target(i, back + (uint64_t)(int64_t)far);
}

/* The frames of libc from `first` on, of a function that waits. *end: the first that is none. */
static const char *inner_judge(const struct attach_prove *p, const struct trace_frame *f,
	size_t first, size_t count, size_t *end)
{
	size_t n = first;
	const char *why;

	while (n < count && is_libc(p, f, n) && !f[n].signal)
		n++;
	*end = n;
	if (n == first)
		return "not waiting";
	why = wait_judge(p, f[n - 1].pc - (n - 1 > first));
	if (why && n < count)
		why = wait_judge(p, called(&p->process->image, f[n].pc));
	return why;
}

/* Whether it is at a system call: just after, or just before if that is to begin again. */
static bool is_at_call(const struct trace_image *i, uint64_t pc)
{
	static const uint8_t syscall[] = { 0x0f, 0x05 };
	uint8_t code[4];

	return trace_memory_read(i->memory, pc - 2, code, sizeof(code)) &&
	       (memcmp(code, syscall, 2) == 0 || memcmp(code + 2, syscall, 2) == 0);
}

/* What a handler has interrupted, and may stay in for ever (PostgreSQL forks in one): as good as a
 * wait of the program's, if it is one. */
static const char *interrupted_judge(const struct attach_prove *p, const struct trace_frame *f,
	size_t handler, size_t count, size_t *end)
{
	*end = count;
	if (!is_same_stack(f, handler, count))
		return "in a signal handler, on another stack";
	if (!is_at_call(&p->process->image, f[handler + 1].pc) ||
		inner_judge(p, f, handler + 1, count, end))
		return "in a signal handler that interrupted more than a wait";
	return NULL;
}

/* From the first frame of the program on, outwards. */
static const char *outer_judge(
	const struct attach_prove *p, const struct trace_frame *f, size_t n, size_t count)
{
	const char *why = NULL;

	do {
		if (n == count || f[n].signal)
			return "not called by the program";
		for (; n < count && !f[n].signal && !is_libc(p, f, n) && !why; n++)
			why = program_judge(p, f[n].pc - 1);
		if (why || n == count || !f[n].signal)
			break;
		why = interrupted_judge(p, f, n, count, &n);
	} while (!why);
	for (; n < count && is_libc(p, f, n) && !f[n].signal && !why; n++)
		why = is_leaving(p, f[n].pc - 1) ? "at its exit" : NULL;
	/* The executable's _start is the outermost of the first thread's. */
	if (!why && n + 1 < count)
		why = "called back by libc";
	return why;
}

/* ---- a stack that cannot be followed ---- */

/* Whether it is of the frames with which libc starts a program or a thread, or of none. */
static bool is_outermost(const struct attach_prove *p, const struct attach_word *w)
{
	if (w->restores)
		return false;
	if (attach_process_is_libc(p->process, w->pc))
		return !is_leaving(p, w->pc - 1);
	if (trace_image_module(&p->process->image, w->pc) == p->process->loader)
		return false;
	return !w->returns || (p->start != 0 && w->pc - p->start < START_BYTES);
}

static const char *word_judge(const struct attach_prove *p, const struct attach_word *w)
{
	if (w->restores)
		return "perhaps in a signal handler";
	if (attach_process_is_libc(p->process, w->pc))
		return "perhaps called by libc";
	/* Code of no file has no locks of libc's. */
	return trace_image_module(&p->process->image, w->pc) ? program_judge(p, w->pc - 1) : NULL;
}

/*
 * Where no frame is known: a function of libc that is live on the stack has its return address
 * there, and the kernel's frame of a handler the address of what ends it. A word that lies there by
 * chance, or of an earlier call, makes a thread be refused that could be used, never the other way
 * round.
 */
__attribute__((noinline)) static const char *words_judge(
	const struct attach_prove *p, const struct user_regs_struct *regs)
{
	struct attach_word w[WORDS_MAX];
	size_t count = words_read(p->process, regs, w);
	const char *why = NULL;

	if (count > WORDS_MAX)
		return "with a stack that cannot be followed";
	while (count > 0 && is_outermost(p, &w[count - 1]))
		count--;
	for (size_t n = 0; n < count && !why; n++)
		why = word_judge(p, &w[n]);
	return why;
}

static const char *call_judge(const struct attach_prove *p, long number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (number == calls[i].number)
			return calls[i].locks && p->own ? "perhaps waiting in its allocator" : NULL;
	return "not in a known wait";
}

/* A thread that waits in a system call of the program's own. */
static const char *own_judge(const struct attach_prove *p, const struct trace_thread *t)
{
	const char *why = trace_image_module(&p->process->image, t->regs.rip)
				  ? program_judge(p, t->regs.rip)
				  : "not waiting";

	if (!why && !is_at_call(&p->process->image, t->regs.rip))
		why = "not waiting";
	if (!why)
		why = call_judge(p, (long)t->regs.orig_rax);
	return why ? why : words_judge(p, &t->regs);
}

/* ---- all of it ---- */

const char *attach_prove(const struct attach_prove *p, const struct trace_thread *t)
{
	struct trace_frame f[FRAMES_MAX];
	struct trace_unwound u;
	const char *why;
	size_t n = 0;

	if ((long)t->regs.orig_rax < 0)
		return "not waiting";
	why = room_judge(p->process, &t->regs);
	if (!why && !attach_process_is_libc(p->process, t->regs.rip))
		return own_judge(p, t);
	if (why)
		return why;
	trace_unwind(&u, &p->process->image, &t->regs, f, FRAMES_MAX);
	why = inner_judge(p, f, 0, u.count, &n);
	if (!why && !u.whole)
		why = "with a stack that cannot be followed";
	return why ? why : outer_judge(p, f, n, u.count);
}

const char *attach_prove_entry(const struct attach_prove *p, const struct user_regs_struct *regs)
{
	struct trace_frame f[FRAMES_MAX];
	const char *why = room_judge(p->process, regs);
	struct trace_unwound u;

	if (why)
		return why;
	trace_unwind(&u, &p->process->image, regs, f, FRAMES_MAX);
	return u.whole ? outer_judge(p, f, 1, u.count) : words_judge(p, regs);
}
