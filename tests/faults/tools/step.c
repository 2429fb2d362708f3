/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leaves an operation of the recorder's at each of its instructions, or at some of them: runs
 * tests/faults/targets/leaves_at.c, steps its operation up to an instruction, sends the signal
 * whose handler leaves by siglongjmp, and checks what the segment says when the program has gone
 * on. Each time a new process, whose addresses are those of the time before. One JSON object on
 * stdout.
 *
 *	step LIBRARIES POINTS PROGRAM OPERATION PLUGIN PLUGIN
 *
 * LIBRARIES: for LD_PRELOAD. POINTS: how many instructions at most, each the first or the last time
 * that it is run, evenly spread; 0: each, and as many times as REPEATS. Segments go to HEAPTOP_DIR.
 *
 * The file is long because what steps the program and what checks its segment share an account.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/read/read.h"
#include "tests/faults/targets/leaves_at.h"

#define STEPS_MAX   (1u << 20)
#define REPEATS	    6u
#define FAR	    20000u /* steps: further on, only the first time */
#define PATIENCE_MS 60000 /* for a program that goes on; then it is stuck */
#define SMALL_FILES (48u << 20) /* bytes: the segment is the small one, of 128 thread slots */
#define FAILURES    32

/* ---- the program ---- */

static const char *libraries, *operation;
static char **command; /* PROGRAM OPERATION PLUGIN PLUGIN NUMBER */
static int children; /* signalfd */

struct program {
	pid_t pid;
	int in, out; /* its standard input and output */
	pid_t stepped; /* 0: not yet */
	bool ended;
	int status;
};

static void die(const char *what)
{
	fprintf(stderr, "step: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void become(int in, int out)
{
	const struct rlimit small = { SMALL_FILES, SMALL_FILES };
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(in, 0);
	dup2(out, 1);
	/* The loader itself may not be left while it binds a function. */
	setenv("LD_BIND_NOW", "1", 1);
	setenv("LD_PRELOAD", libraries, 1);
	if (strcmp(operation, "slots") == 0)
		setrlimit(RLIMIT_FSIZE, &small);
	personality(ADDR_NO_RANDOMIZE);
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	execv(command[0], command);
	_exit(127);
}

static struct program program_start(void)
{
	struct program p = { 0 };
	int in[2], out[2], status;

	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
		die("pipe");
	p.pid = fork();
	if (p.pid < 0)
		die("fork");
	if (p.pid == 0)
		become(in[0], out[1]);
	close(in[0]);
	close(out[1]);
	p.in = in[1];
	p.out = out[0];
	if (waitpid(p.pid, &status, 0) != p.pid || !WIFSTOPPED(status))
		die("exec");
	ptrace(PTRACE_SETOPTIONS, p.pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE);
	ptrace(PTRACE_CONT, p.pid, 0, 0);
	return p;
}

static uint64_t place_of(pid_t tid)
{
	return (uint64_t)ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user_regs_struct, rip), 0);
}

/* Whether it has stopped at a breakpoint of its own. */
static bool is_mark(pid_t tid, int status)
{
	siginfo_t info;

	return WSTOPSIG(status) == SIGTRAP && status >> 16 == 0 &&
	       ptrace(PTRACE_GETSIGINFO, tid, 0, &info) == 0 && info.si_code == SI_KERNEL;
}

/* Handles one stop or end of a thread. True: the operation begins. */
static bool handle(struct program *p, pid_t tid, int status)
{
	int pass = 0;

	if (!WIFSTOPPED(status)) {
		if (tid == p->pid) {
			p->ended = true;
			p->status = status;
		}
		return false;
	}
	if (is_mark(tid, status)) {
		if (p->stepped == 0) {
			p->stepped = tid;
			return true;
		}
	} else if (status >> 16 == 0 && WSTOPSIG(status) != SIGSTOP) {
		pass = WSTOPSIG(status);
	}
	ptrace(PTRACE_CONT, tid, 0, pass);
	return false;
}

/* Until the operation begins. */
static bool to_operation(struct program *p)
{
	int status;

	while (!p->ended) {
		pid_t tid = waitpid(-1, &status, __WALL);

		if (tid > 0 && handle(p, tid, status))
			return true;
	}
	return false;
}

/* Steps until `count` instructions are done, or the operation is over: then false. `places`: where
 * the thread was before each, and *done: how many; or NULL. */
static bool steps(struct program *p, uint32_t count, uint64_t *places, uint32_t *done)
{
	int pass = 0, status;

	for (uint32_t i = 0; i < count; i++) {
		if (places) {
			places[i] = place_of(p->stepped);
			*done = i;
		}
		ptrace(PTRACE_SINGLESTEP, p->stepped, 0, pass);
		if (waitpid(p->stepped, &status, __WALL) != p->stepped || !WIFSTOPPED(status)) {
			p->ended = true;
			p->status = status;
			return false;
		}
		if (is_mark(p->stepped, status))
			return false;
		pass = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
	return true;
}

/* Goes on until the thread is about to run the instruction at `place`. False: the operation is
 * over. */
static bool run_to(struct program *p, uint64_t place)
{
	struct user_regs_struct regs;
	long code;
	int status;

	errno = 0;
	code = ptrace(PTRACE_PEEKTEXT, p->stepped, place, 0);
	if (errno != 0)
		die("peek");
	ptrace(PTRACE_POKETEXT, p->stepped, place, (code & ~0xffL) | 0xcc);
	ptrace(PTRACE_CONT, p->stepped, 0, 0);
	if (waitpid(p->stepped, &status, __WALL) != p->stepped || !WIFSTOPPED(status)) {
		p->ended = true;
		p->status = status;
		return false;
	}
	ptrace(PTRACE_POKETEXT, p->stepped, place, code);
	ptrace(PTRACE_GETREGS, p->stepped, 0, &regs);
	if (!is_mark(p->stepped, status) || regs.rip != place + 1)
		return false;
	regs.rip = place;
	ptrace(PTRACE_SETREGS, p->stepped, 0, &regs);
	return true;
}

/* Serves the program's stops until it has written its account, or has ended (`to`: NULL). */
static bool await(struct program *p, void *to, size_t bytes)
{
	struct pollfd fds[2] = { { children, POLLIN, 0 }, { to ? p->out : -1, POLLIN, 0 } };
	struct signalfd_siginfo info;
	int status;
	pid_t tid;

	for (;;) {
		while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
			handle(p, tid, status);
		if (p->ended)
			return !to;
		if (poll(fds, 2, PATIENCE_MS) <= 0)
			return false;
		if (fds[0].revents && read(children, &info, sizeof(info)) < 0)
			die("read");
		if (fds[1].revents)
			return read(p->out, to, bytes) == (ssize_t)bytes;
	}
}

static void program_end(struct program *p)
{
	int status;

	close(p->in);
	p->in = -1;
	if (!p->ended && !await(p, NULL, 0)) {
		kill(p->pid, SIGKILL);
		while (waitpid(-1, &status, __WALL) > 0)
			;
	}
	close(p->out);
}

/* ---- what its segment says ---- */

static char why[300];

static bool fails(const char *what, int64_t got, int64_t wanted)
{
	snprintf(why, sizeof(why), "%s: %" PRId64 ", not %" PRId64, what, got, wanted);
	return false;
}

static bool equal(const char *what, uint64_t got, uint64_t wanted)
{
	return got == wanted || fails(what, (int64_t)got, (int64_t)wanted);
}

/* Off by what leaving one event can cost. */
static bool near(const char *what, uint64_t got, uint64_t wanted, uint64_t off)
{
	uint64_t by = got > wanted ? got - wanted : wanted - got;

	return by <= off || fails(what, (int64_t)got, (int64_t)wanted);
}

struct sum {
	uint64_t sites, allocs, live, bytes, most, blocks;
};

struct view {
	const struct leaves_account *account;
	struct read_totals totals;
	struct read_site *sites;
	ssize_t count;
	uint64_t *blocks; /* of the live table, by site */
	uint64_t all, bytes;
	struct sum place[LEAVES_PLACES], plugin[2], sum;
};

static void block_count(void *ctx, const struct read_block *b)
{
	struct view *v = ctx;

	if (b->site < v->count)
		v->blocks[b->site]++;
	v->all++;
	v->bytes += b->size;
}

static void sum_add(struct sum *sum, const struct view *v, ssize_t i)
{
	const struct read_site *s = &v->sites[i];

	sum->sites++;
	sum->allocs += s->allocs;
	sum->live += s->allocs - s->frees;
	sum->bytes += s->live_bytes;
	sum->blocks += v->blocks[i];
	if (s->allocs > sum->most)
		sum->most = s->allocs;
}

static void site_sort(struct view *v, struct read_segment *s, ssize_t i)
{
	const struct leaves_account *a = v->account;
	struct read_frame frame[4];
	uint32_t function;

	sum_add(&v->sum, v, i);
	if (i == 0 || v->sites[i].allocs == 0 ||
		read_stack(s, v->sites[i].node, frame, 4, &function) < 1)
		return;
	for (int k = 0; k < LEAVES_PLACES; k++)
		if (frame[0].pc - a->start[k] < a->end[k] - a->start[k])
			sum_add(&v->place[k], v, i);
	for (int k = 0; k < 2; k++)
		if (frame[0].pc - a->plugin[k] + 1024 < 2048)
			sum_add(&v->plugin[k], v, i);
}

static bool sites_check(struct view *v)
{
	const struct sum *p = v->place;
	const uint64_t stacks = 1u << LEAVES_LOG;

	return equal("blocks that stay", p[LEAVES_KEEP].allocs, UINT64_C(2) * LEAVES_KEPT) &&
	       equal("of them, counted as live", p[LEAVES_KEEP].live, UINT64_C(2) * LEAVES_KEPT) &&
	       equal("of them, in the table", p[LEAVES_KEEP].blocks, UINT64_C(2) * LEAVES_KEPT) &&
	       equal("their bytes", p[LEAVES_KEEP].bytes,
		       UINT64_C(2) * LEAVES_KEPT * LEAVES_SIZE) &&
	       equal("blocks that came and went", p[LEAVES_PASS].allocs, v->account->passed) &&
	       equal("of them, left", p[LEAVES_PASS].live, 0) &&
	       equal("stacks", p[LEAVES_PATH].sites, stacks) &&
	       equal("blocks of a stack", p[LEAVES_PATH].most, LEAVES_ROUNDS) &&
	       equal("blocks of all stacks", p[LEAVES_PATH].allocs, stacks * LEAVES_ROUNDS) &&
	       equal("blocks of later threads", p[LEAVES_THREAD].allocs,
		       LEAVES_THREADS * LEAVES_EACH) &&
	       near("blocks of the first plugin", v->plugin[0].allocs, LEAVES_PLUGIN, 1) &&
	       equal("blocks of the second plugin", v->plugin[1].allocs, LEAVES_PLUGIN);
}

static bool totals_check(const struct view *v)
{
	const struct read_totals *t = &v->totals;

	return near("allocations of all sites", v->sum.allocs, t->allocs, 1) &&
	       near("live blocks of all sites", v->sum.live, v->all, 1) &&
	       near("live bytes of all sites", v->sum.bytes, v->bytes, v->account->largest) &&
	       near("live bytes", t->live_bytes, v->bytes, v->account->largest) &&
	       near("untracked blocks", t->untracked_blocks, 0, 1) &&
	       near("missed frees", t->missed_frees, 0, 1) &&
	       near("unknown frees", t->unknown_frees, 0, 1);
}

/* It goes up to the end, and shows what was alive there. */
static bool history_check(const struct view *v, const struct read_identity *id)
{
	const struct ht_history *h = &v->totals.history;
	uint64_t ends = v->account->now_ns - id->created_ns, now = v->totals.clock_ns;

	if (!equal("history: writer", h->writer, 0) ||
		!equal("history: merging", h->sequence % 2, 0) || h->points == 0)
		return fails("history: points", h->points, 1);
	if (h->points * h->step_ns + LEAVES_STEP_NS / 10 < ends ||
		(h->points - 1) * h->step_ns > now - id->created_ns)
		return fails("history: ends at", (int64_t)(h->points * h->step_ns), (int64_t)ends);
	for (uint32_t i = 0; i < h->points; i++)
		if (h->point[i] > 200 * LEAVES_BIG)
			return fails("history: a point", (int64_t)h->point[i], 0);
	return near("history: last point", h->point[h->points - 1], v->totals.live_bytes,
		v->account->largest + LEAVES_OTHER);
}

static bool modules_check(const struct view *v, struct read_segment *s)
{
	static struct read_module m;

	for (uint32_t i = 1; i < v->totals.modules; i++) {
		int rc = read_module(s, i, &m);

		if (rc != 0 || m.path[0] == '\0')
			return fails("a module cannot be read", rc, 0);
	}
	return true;
}

/* No slot is between two owners, and the threads that ended gave theirs back. */
static bool slots_check(struct read_segment *s)
{
	static struct read_thread t[1024];
	ssize_t n = read_threads(s, t, 1024), used = 0;

	for (ssize_t i = 0; i < n; i++) {
		if (t[i].tid == HT_NONE)
			return fails("a slot has no owner", t[i].slot, 0);
		used += t[i].slot != 0 && t[i].tid != 0;
	}
	return equal("slots in use", (uint64_t)used, 1);
}

/* Words of the thread that was left, as a leak scan reads them. */
static bool words_check(const struct program *p, struct read_segment *s, uint64_t pointer)
{
	uint8_t moving = 1;
	uint64_t busy = 1;
	struct iovec here[2] = { { &moving, 1 }, { &busy, 8 } };
	struct iovec there[2] = { { (void *)(pointer + (uint64_t)read_in_realloc_at(s)), 1 },
		{ (void *)(pointer + (uint64_t)read_in_hook_at(s)), 8 } };

	if (p->stepped != p->pid)
		return true;
	if (process_vm_readv(p->pid, here, 2, there, 2, 0) != 9)
		return fails("the thread's words cannot be read", errno, 0);
	return equal("inside realloc", moving, 0) && equal("inside a hook", busy, 0);
}

static struct read_segment *segment_of(pid_t pid)
{
	char prefix[64], path[PATH_MAX], message[READ_MESSAGE_MAX] = "";
	const char *folder = getenv("HEAPTOP_DIR");
	struct read_segment *s = NULL;
	DIR *d = opendir(folder);
	struct dirent *e;

	snprintf(prefix, sizeof(prefix), "heaptop-%d-", pid);
	while (d && !s && (e = readdir(d))) {
		if (strncmp(e->d_name, prefix, strlen(prefix)) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		s = read_open(path, message);
	}
	if (d)
		closedir(d);
	return s;
}

static bool segment_check_all(
	const struct program *p, const struct leaves_account *account, uint64_t pointer)
{
	struct read_segment *s = segment_of(p->pid);
	struct view v = { .account = account };
	struct read_identity id;
	bool fine = false;

	if (!s || read_totals(s, &v.totals) != 0 || read_identity(s, &id) != 0)
		return fails("the segment cannot be read", 0, 0);
	v.sites = calloc(v.totals.sites, sizeof(*v.sites));
	v.blocks = calloc(v.totals.sites, sizeof(*v.blocks));
	if (!v.sites || !v.blocks)
		die("memory");
	v.count = read_sites(s, 0, v.sites, v.totals.sites);
	if (read_blocks(s, block_count, &v) < 0 || v.count < 0) {
		fails("the tables cannot be read", v.count, 0);
	} else {
		for (ssize_t i = 0; i < v.count; i++)
			site_sort(&v, s, i);
		fine = sites_check(&v) && totals_check(&v) && history_check(&v, &id) &&
		       modules_check(&v, s) && slots_check(s) && words_check(p, s, pointer);
	}
	free(v.sites);
	free(v.blocks);
	read_close(s);
	return fine;
}

/* ---- where it was ---- */

struct range {
	uint64_t start, end;
	char name[64];
};
static struct range ranges[64];
static unsigned range_count;

/* Code that is not the program's, nor its allocator's. */
static void ranges_read(pid_t pid)
{
	char path[64], line[1024];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && range_count < 64) {
		struct range *r = &ranges[range_count];
		char rights[8], *name = strrchr(line, '/');

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &r->start, &r->end, rights) != 3 ||
			rights[2] != 'x')
			continue;
		name = name ? name + 1 : strchr(line, '[');
		if (!name || strstr(name, "leaves_at") || strstr(name, "reentrant"))
			continue;
		snprintf(r->name, sizeof(r->name), "%.*s", (int)strcspn(name, "\n"), name);
		range_count++;
	}
	if (f)
		fclose(f);
}

static const struct range *range_of(uint64_t place)
{
	for (unsigned i = 0; i < range_count; i++)
		if (place - ranges[i].start < ranges[i].end - ranges[i].start)
			return &ranges[i];
	return NULL;
}

/* Whether a breakpoint may be there: not in what the kernel maps. */
static bool in_file(uint64_t place)
{
	const struct range *r = range_of(place);

	return r && r->name[0] != '[';
}

/* ---- one run ---- */

static uint64_t places[STEPS_MAX];
static bool is_new[STEPS_MAX]; /* the instruction there was not run before */
static uint32_t count, picked[STEPS_MAX];

/* Goes on to where `done` instructions are done: by a breakpoint as far as an instruction that was
 * not run before, since a step costs two switches of processes, then step by step. */
static bool go_to(struct program *p, uint32_t done)
{
	uint32_t at = done;

	while (at > 0 && !(is_new[at] && in_file(places[at])))
		at--;
	if (at > 0 && !run_to(p, places[at]))
		return false;
	return steps(p, done - at, NULL, NULL);
}

/* Leaves the operation after `done` instructions. False: something is wrong, `why` says what. */
static bool left_after(uint32_t done)
{
	struct program p = program_start();
	struct leaves_account account = { 0 };
	struct user_regs_struct regs = { 0 };
	bool fine = false, there;

	if (to_operation(&p)) {
		ptrace(PTRACE_GETREGS, p.stepped, 0, &regs);
		there = go_to(&p, done);
		ptrace(PTRACE_CONT, p.stepped, 0, there ? SIGUSR1 : 0);
	}
	if (await(&p, &account, sizeof(account)))
		fine = segment_check_all(&p, &account, regs.fs_base);
	else if (p.ended)
		fails("the program ended", p.status, 0);
	else
		fails("the program is stuck", 0, 0);
	program_end(&p);
	if (fine && p.status != 0)
		fine = fails("status", p.status, 0);
	return fine;
}

/* ---- all of them ---- */

/* Runs the operation to its end, and notes where it was. */
static void calibrate(void)
{
	struct program p = program_start();
	struct leaves_account account;

	if (!to_operation(&p))
		die("the operation does not begin");
	ranges_read(p.pid);
	steps(&p, STEPS_MAX, places, &count);
	ptrace(PTRACE_CONT, p.stepped, 0, 0);
	if (!await(&p, &account, sizeof(account)) || account.broken)
		die("the operation does not end");
	program_end(&p);
}

/* How often the instruction was run before, or comes later, up to `most`. */
static uint32_t times(uint32_t at, int way, uint32_t most)
{
	uint32_t n = 0;

	for (uint32_t i = at + (uint32_t)way; i < count && n < most; i += (uint32_t)way)
		n += places[i] == places[at];
	return n;
}

static bool is_wanted(uint32_t at, uint32_t points)
{
	if (!range_of(places[at]))
		return false;
	if (at > FAR)
		return is_new[at];
	if (points == 0)
		return times(at, -1, REPEATS) < REPEATS;
	return is_new[at] || times(at, 1, 1) == 0;
}

static uint32_t pick(uint32_t points)
{
	uint32_t n = 0, few;

	for (uint32_t i = 0; i < count; i++)
		is_new[i] = times(i, -1, 1) == 0;
	for (uint32_t i = 0; i < count; i++)
		if (is_wanted(i, points))
			picked[n++] = i;
	if (points == 0 || n <= points)
		return n;
	few = points;
	for (uint32_t i = 0; i < few; i++)
		picked[i] = picked[(uint64_t)i * n / few];
	return few;
}

static struct failure {
	char why[sizeof(why)];
	uint32_t step, times;
} failures[FAILURES];
static unsigned failure_count;

/* Those that say the same but for numbers are one. */
static void failure_note(uint32_t step)
{
	size_t bytes = strcspn(why, ":") + 1;

	for (unsigned i = 0; i < failure_count; i++)
		if (strncmp(failures[i].why, why, bytes) == 0) {
			failures[i].times++;
			return;
		}
	if (failure_count == FAILURES)
		return;
	failures[failure_count] = (struct failure){ .step = step, .times = 1 };
	memcpy(failures[failure_count++].why, why, sizeof(why));
}

/* The number of the stack with which the memory for them grows. */
static void probe(char *number)
{
	struct leaves_account account = { 0 };
	struct program p = program_start();

	if (!await(&p, &account, sizeof(account)))
		die("no growth");
	program_end(&p);
	sprintf(number, "%" PRId64, account.grew);
}

static void report(uint32_t points)
{
	printf("{\"operation\": \"%s\", \"steps\": %u, \"points\": %u, \"failures\": [", operation,
		count, points);
	for (unsigned i = 0; i < failure_count; i++) {
		const struct failure *f = &failures[i];
		const struct range *r = range_of(places[f->step]);

		printf("%s\"%u times, first after %u steps, at %s+%#" PRIx64 ": %s\"",
			i ? ", " : "", f->times, f->step, r->name, places[f->step] - r->start,
			f->why);
	}
	printf("]}\n");
}

int main(int argc, char **argv)
{
	static char number[32] = "0";
	char *all[6];
	sigset_t child;
	uint32_t points;

	if (argc != 7)
		return 2;
	libraries = argv[1];
	operation = argv[4];
	memcpy(all, argv + 3, 4 * sizeof(*all));
	all[4] = number;
	all[5] = NULL;
	command = all;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	children = signalfd(-1, &child, SFD_CLOEXEC);
	if (strcmp(operation, "grow") == 0)
		probe(number);
	calibrate();
	points = pick((uint32_t)atoi(argv[2]));
	for (uint32_t i = 0; i < points; i++)
		if (!left_after(picked[i]))
			failure_note(picked[i]);
	report(points);
	return failure_count != 0;
}
