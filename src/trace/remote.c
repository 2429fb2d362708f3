/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls in another process (remote.h). The viewer notices the end of a call by the system call
 * that __restore_rt makes, and stops the thread at its entry. The steps are ordered so that a
 * thread which continues by itself after any of them is correct: the frame is written before the
 * thread is pointed at it, signals are blocked last and unblocked first, and all registers are
 * set at once or not at all.
 *
 * The kernel's own sigreturn is prevented, because it loses the information to restart a wait
 * with a time limit (restart_syscall(2)). If the viewer is killed, sigreturn does happen, and
 * such a wait ends with EINTR.
 */
#include "src/trace/remote.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "src/trace/restart.h"
#include "src/trace/stack.h"
#include "src/util/clock.h"

#define PAUSE_NS    20000 /* between two polls */
#define POLLS_LEAST 1000u /* time that we did not run, on a busy machine, is not the thread's */
#define CALL_NS	    UINT64_C(5000000000) /* for a system call that does not wait for anything */
#define SYSCALL	    (SIGTRAP | 0x80) /* of PTRACE_O_TRACESYSGOOD */
#define ALL_SIGNALS (~UINT64_C(0))

#define FXSAVE_BYTES 512u /* on a processor without XSAVE */

#ifndef NT_X86_XSTATE
#define NT_X86_XSTATE 0x202
#endif
#ifndef PTRACE_O_SUSPEND_SECCOMP
#define PTRACE_O_SUSPEND_SECCOMP (1 << 21)
#endif

#ifdef __x86_64__

/* ---- the code ---- */

#define CHUNK (64u << 10) /* bytes of code searched at once */

/* mov $15, %rax; syscall */
static const uint8_t restore_rt[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

static uint64_t code_search(
	const struct trace_image *i, uint64_t from, uint64_t end, const uint8_t *bytes, size_t n)
{
	uint8_t *buffer = malloc(CHUNK);
	uint64_t found = 0;

	while (buffer && !found && from + n <= end) {
		size_t want = end - from < CHUNK ? (size_t)(end - from) : CHUNK;
		size_t got = trace_memory_some(i->memory, from, buffer, want);
		const uint8_t *hit = got >= n ? memmem(buffer, got, bytes, n) : NULL;

		if (hit)
			found = from + (uint64_t)(hit - buffer);
		if (got < want || want < CHUNK)
			break;
		from += want - n + 1;
	}
	free(buffer);
	return found;
}

static uint64_t restorer_find(const struct trace_image *i, const struct trace_module *libc)
{
	uint64_t found = 0;

	for (size_t n = 0; n < i->maps && !found; n++)
		if (i->map[n].executes && i->map[n].start >= libc->start &&
			i->map[n].end <= ((libc->end + 4095) & ~UINT64_C(4095)))
			found = code_search(
				i, i->map[n].start, i->map[n].end, restore_rt, sizeof(restore_rt));
	return found;
}

/* getppid cannot fail, so it is `mov $110, %eax; syscall; ret` and nothing else. */
static uint64_t call_find(const struct trace_image *i, const struct trace_module *libc)
{
	static const uint8_t syscall_ret[] = { 0x0f, 0x05, 0xc3 };
	struct trace_symbol s;

	if (!trace_image_symbol(i, libc, "getppid", &s))
		return 0;
	return code_search(
		i, s.at, s.at + (s.bytes < 64 ? s.bytes : 64), syscall_ret, sizeof(syscall_ret));
}

/* __errno_location is `mov errno@gottpoff(%rip), %rax; add %fs:0, %rax; ret`. */
static int64_t errno_find(const struct trace_image *i, const struct trace_module *libc)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa }, load[] = { 0x48, 0x8b, 0x05 },
			     add[] = { 0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xc3 };
	uint8_t code[32], *p = code;
	struct trace_symbol s;
	int64_t offset;
	int32_t far;

	if (!trace_image_symbol(i, libc, "__errno_location", &s) ||
		!trace_memory_read(i->memory, s.at, code, sizeof(code)))
		return 0;
	p += memcmp(p, endbr64, sizeof(endbr64)) == 0 ? sizeof(endbr64) : 0;
	if (memcmp(p, load, sizeof(load)) != 0 || memcmp(p + 7, add, sizeof(add)) != 0)
		return 0;
	memcpy(&far, p + 3, sizeof(far));
	return trace_memory_read(i->memory,
		       s.at + (uint64_t)(p - code) + 7 + (uint64_t)(int64_t)far, &offset,
		       sizeof(offset))
		       ? offset
		       : 0;
}

bool trace_remote_code_find(
	struct trace_remote_code *c, const struct trace_image *i, const struct trace_module *libc)
{
	*c = (struct trace_remote_code){ restorer_find(i, libc), call_find(i, libc),
		errno_find(i, libc) };
	return c->restorer != 0 && c->call != 0;
}

static bool is_our_frame(const void *ctx, const uint64_t *word)
{
	const struct trace_remote_code *c = ctx;

	return *word == c->restorer && word[SIGNAL_FRAME_MARK_AT] == SIGNAL_FRAME_MARK;
}

bool trace_remote_is_underway(const struct trace_remote_code *c, const struct trace_image *i,
	const struct trace_thread *t)
{
	return trace_stack_search(i, t, is_our_frame, c);
}

/* ---- there ---- */

static uint64_t errno_address(const struct trace_remote *r)
{
	return r->code.errno_at == 0 ? 0 : r->thread->regs.fs_base + (uint64_t)r->code.errno_at;
}

static int frame_write(struct trace_remote *r)
{
	struct trace_thread *t = r->thread;
	struct user_regs_struct back;
	struct signal_frame f = { &back, r->mask, r->code.restorer, t->vectors, t->vector_bytes };
	size_t bytes = signal_frame_bytes(&f);
	void *frame = bytes ? malloc(bytes) : NULL;
	int rc = frame ? 0 : -ENOMEM;

	trace_restart_registers(t, &back);
	if (back.rax == SYS_restart_syscall && (long)t->regs.orig_rax >= 0)
		back.rax = t->regs.orig_rax;
	r->data_end = (back.rsp - TRACE_REMOTE_RED) & ~UINT64_C(15);
	r->data = r->data_end - TRACE_REMOTE_DATA;
	if (frame) {
		r->at = r->home = signal_frame_make(&f, r->data, frame);
		rc = trace_memory_write(r->memory, r->at, frame, bytes) ? 0 : -EFAULT;
	}
	free(frame);
	return rc;
}

int trace_remote_begin(struct trace_remote *r, struct trace_stop *s, struct trace_thread *t,
	const struct trace_memory *m, const struct trace_remote_code *c, bool suspend)
{
	unsigned long options = PTRACE_O_TRACESYSGOOD | (suspend ? PTRACE_O_SUSPEND_SECCOMP : 0);

	*r = (struct trace_remote){ .stop = s, .thread = t, .memory = m, .code = *c };
	if (!t->vectors || t->vector_bytes == 0)
		return -ENOMEM;
	if (!trace_registers_mask_read(t->tid, &r->mask) ||
		ptrace(PTRACE_SETOPTIONS, t->tid, NULL, (void *)options) != 0)
		return -errno;
	if (!errno_address(r) ||
		!trace_memory_read(m, errno_address(r), &r->saved_errno, sizeof(r->saved_errno)))
		r->code.errno_at = 0;
	return frame_write(r);
}

void trace_remote_release_others(struct trace_remote *r)
{
	r->alone = true;
	trace_stop_keep(r->stop, r->thread);
}

uint64_t trace_remote_put(struct trace_remote *r, const void *bytes, size_t n)
{
	uint64_t at = r->data;

	if (n > r->data_end - at || !trace_memory_write(r->memory, at, bytes, n))
		return 0;
	r->data += (n + 15) & ~(size_t)15;
	return at;
}

/* A frame below the other, by which the thread comes to the function, as if the place that leads
 * back had called it. The vector registers are as after a start: those of the program are in the
 * other. */
int trace_remote_promise(struct trace_remote *r, uint64_t function, uint64_t argument)
{
	struct user_regs_struct regs = r->thread->regs;
	struct signal_frame f = { &regs, ALL_SIGNALS, r->code.restorer, NULL, 0 };
	uint8_t frame[SIGNAL_FRAME_PLAIN];
	uint64_t at;

	regs.rip = function;
	regs.rsp = r->home;
	regs.rdi = argument;
	regs.rax = 0;
	regs.eflags &= ~UINT64_C(0x500);
	if (signal_frame_bytes(&f) == 0 || signal_frame_bytes(&f) > sizeof(frame))
		return -EFAULT;
	at = signal_frame_make(&f, r->home, frame);
	if (!trace_memory_write(r->memory, at, frame, signal_frame_bytes(&f)))
		return -EFAULT;
	r->at = at;
	return 0;
}

void trace_remote_promise_end(struct trace_remote *r)
{
	r->at = r->home;
}

/* ---- stops ---- */

/* The status of its next stop; -1: it has ended; -2: not in time. */
static int await(struct trace_remote *r, uint64_t until)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	pid_t tid = r->thread->tid;
	int status = 0;

	for (unsigned polls = 0;; polls++) {
		siginfo_t info = { 0 };

		if (waitid(P_PID, (id_t)tid, &info,
			    WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0)
			return -1;
		if (info.si_pid != 0 && (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
						info.si_code == CLD_DUMPED)) {
			if (tid != r->stop->pid || !r->stop->is_child)
				waitpid(tid, &status, __WALL | WNOHANG);
			return -1;
		}
		if (info.si_pid != 0)
			return waitpid(tid, &status, __WALL | WNOHANG) == tid ? status : -1;
		if (polls >= POLLS_LEAST && clock_monotonic_ns() > until)
			return -2;
		if (r->alone)
			trace_stop_keep(r->stop, r->thread);
		nanosleep(&pause, NULL);
	}
}

static int lose(struct trace_remote *r, int rc)
{
	r->lost = true;
	/* It goes on without us: it is detached when our thread ends. */
	r->thread->state = TRACE_THREAD_GONE;
	return rc;
}

static bool is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
	       signal == SIGTRAP || signal == SIGSYS;
}

/*
 * Runs it to the next entry or end of a system call. 0; -EFAULT: it stands before the signal for
 * what it did. A stop for job control does not last for it: it stops when we let it go.
 */
static int step(struct trace_remote *r, uint64_t until)
{
	int pass = 0;

	for (;;) {
		int status, signal;

		if (ptrace(PTRACE_SYSCALL, r->thread->tid, NULL, (void *)(uintptr_t)pass) != 0)
			return lose(r, -EIO);
		status = await(r, until);
		if (status < 0 || !WIFSTOPPED(status))
			return lose(r, status == -2 ? -ETIMEDOUT : -EIO);
		signal = WSTOPSIG(status);
		if (signal == SYSCALL)
			return 0;
		if (status >> 16 == 0 && is_fault(signal))
			return -EFAULT;
		pass = status >> 16 == 0 ? signal : 0;
	}
}

static bool registers(const struct trace_remote *r, struct user_regs_struct *regs)
{
	return ptrace(PTRACE_GETREGS, r->thread->tid, NULL, regs) == 0;
}

/* Sends the thread to the code at `rip`. It stands stopped at the program's own place, or at the
 * entry of the last call's sigreturn, which does not happen then. */
static int send(struct trace_remote *r, uint64_t rip, uint64_t rax, const uint64_t *args)
{
	struct user_regs_struct regs = r->thread->regs;
	bool entry = r->entry;

	regs.rip = rip;
	regs.rsp = r->at;
	regs.rax = rax;
	regs.orig_rax = (unsigned long)-1; /* no system call to restart */
	regs.eflags &= ~UINT64_C(0x500); /* string instructions go up; no single step */
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.rcx = args[3];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	if (ptrace(PTRACE_SETREGS, r->thread->tid, NULL, &regs) != 0)
		return lose(r, -EIO);
	r->away = true;
	if (!r->blocked && !trace_registers_mask_write(r->thread->tid, ALL_SIGNALS))
		return lose(r, -EIO);
	r->blocked = true;
	r->entry = false;
	/* The end of the system call that did not happen is a stop, too. */
	return entry ? step(r, clock_monotonic_ns() + CALL_NS) : 0;
}

/* Whether it is about to make the system call of __restore_rt. */
static bool is_back(const struct trace_remote *r, const struct user_regs_struct *regs)
{
	return regs->orig_rax == SYS_rt_sigreturn &&
	       regs->rip == r->code.restorer + sizeof(restore_rt);
}

/* Runs a call until it has returned. *result: of the last system call in it. */
static int run(struct trace_remote *r, uint64_t ns, long *result)
{
	uint64_t until = clock_monotonic_ns() + ns;
	struct user_regs_struct regs;

	for (;;) {
		int rc = step(r, until);

		if (rc != 0)
			return rc;
		if (!registers(r, &regs))
			return lose(r, -EIO);
		r->entry = is_back(r, &regs);
		if (r->entry)
			return 0;
		rc = step(r, until);
		if (rc != 0)
			return rc;
		if (!registers(r, &regs))
			return lose(r, -EIO);
		*result = (long)regs.rax;
	}
}

long trace_remote_syscall(struct trace_remote *r, long number, const uint64_t *args)
{
	long result = -EIO;
	int rc = r->lost ? -EIO : send(r, r->code.call, (uint64_t)number, args);

	if (rc == 0)
		rc = run(r, CALL_NS, &result);
	return rc != 0 ? -EIO : result;
}

int trace_remote_call(struct trace_remote *r, uint64_t function, const uint64_t *args, uint64_t ns)
{
	long last = 0;
	int rc = r->lost ? -EIO : send(r, function, 0, args);

	return rc != 0 ? rc : run(r, ns, &last);
}

/* ---- and back ---- */

/*
 * Stops the thread once more where the kernel checks for signals, as it was stopped before: there
 * the kernel itself restarts an interrupted system call, or ends it for a signal that has come
 * meanwhile. Until then it has the registers with which it would be right by itself.
 */
static bool stop_again(struct trace_remote *r)
{
	struct iovec vectors = { r->thread->vectors, r->thread->vector_bytes };
	int status, set = vectors.iov_len > FXSAVE_BYTES ? NT_X86_XSTATE : NT_PRFPREG;
	pid_t tid = r->thread->tid;
	struct user_regs_struct regs;

	trace_restart_registers(r->thread, &regs);
	regs.orig_rax = (unsigned long)-1;
	if (!trace_registers_mask_write(tid, r->mask) ||
		ptrace(PTRACE_SETREGSET, tid, set, &vectors) != 0 ||
		ptrace(PTRACE_SETREGS, tid, NULL, &regs) != 0 ||
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0 ||
		ptrace(PTRACE_CONT, tid, NULL, NULL) != 0)
		return false;
	status = await(r, clock_monotonic_ns() + CALL_NS);
	if (status < 0 || !WIFSTOPPED(status))
		return false;
	r->thread->event = status >> 16;
	r->thread->signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
	r->thread->held = status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP;
	return ptrace(PTRACE_SETREGS, tid, NULL, &r->thread->regs) == 0;
}

bool trace_remote_end(struct trace_remote *r)
{
	if (r->lost)
		return false;
	if (errno_address(r))
		(void)trace_memory_write(
			r->memory, errno_address(r), &r->saved_errno, sizeof(r->saved_errno));
	if (r->away && !stop_again(r)) {
		(void)lose(r, -EIO);
		return false;
	}
	ptrace(PTRACE_SETOPTIONS, r->thread->tid, NULL, NULL);
	r->away = r->blocked = r->entry = false;
	return true;
}

#else

bool trace_remote_is_underway(const struct trace_remote_code *c, const struct trace_image *i,
	const struct trace_thread *t)
{
	return false;
}

void trace_remote_release_others(struct trace_remote *r)
{
}

bool trace_remote_code_find(
	struct trace_remote_code *c, const struct trace_image *i, const struct trace_module *libc)
{
	return false;
}

int trace_remote_begin(struct trace_remote *r, struct trace_stop *s, struct trace_thread *t,
	const struct trace_memory *m, const struct trace_remote_code *c, bool suspend)
{
	return -ENOSYS;
}

uint64_t trace_remote_put(struct trace_remote *r, const void *bytes, size_t n)
{
	return 0;
}

int trace_remote_promise(struct trace_remote *r, uint64_t function, uint64_t argument)
{
	return -EFAULT;
}

void trace_remote_promise_end(struct trace_remote *r)
{
}

long trace_remote_syscall(struct trace_remote *r, long number, const uint64_t *args)
{
	return -ENOSYS;
}

int trace_remote_call(struct trace_remote *r, uint64_t function, const uint64_t *args, uint64_t ns)
{
	return -ENOSYS;
}

bool trace_remote_end(struct trace_remote *r)
{
	return true;
}

#endif
