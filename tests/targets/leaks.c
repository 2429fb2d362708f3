/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks of every class, each by a function whose name begins with the class it must get: a leak
 * scan, ours or memcheck's, has to say the same. At the end the program writes what it made, a line
 * for each function: name, blocks, bytes. Long because each way to be known, or not, is a few lines
 * in the one program that is compared with memcheck.
 *
 * leaks            ends by returning from main
 * leaks wait       says "ready" and waits for its input to end
 * leaks wait sandboxed   the same, under a seccomp filter that allows everything
 * leaks "" undumpable    as "leaks", and not dumpable: prctl(2)
 * leaks vfork      the same of a vfork child, for which it waits; only some of the blocks
 * leaks _exit      ends by _exit(3); only some
 * leaks leader     its first thread ends, another one says "ready", waits, and ends it; only some
 * leaks shared     "wait", while another process has the same memory; only some
 * leaks exec       goes on as "leaks _exec", which is as "leaks _exit", but ends 0
 * leaks list N     a lost list of N nodes
 * leaks large      blocks over 4 GB, hardly touched, and mappings; says "ready" and waits
 * leaks planted N M      M lost blocks, of random sizes, among N that are not
 * leaks reaper     orphans become its children; only some
 * leaks forked     a child by fork hangs blocks on those of its parent, which ends as the child
 * does leaks forked wait      the child says its pid, then "ready", and waits
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/targets/leaks.h"

/* ---- by way of where the pointer is ---- */

MAKER(reachable_global)
#ifdef __aarch64__
MAKER(reachable_tagged)
MAKER(reachable_behind_tag)
static volatile uintptr_t tagged;
#endif
MAKER(reachable_by_block)
MAKER(reachable_by_end)
MAKER(reachable_zero)
MAKER(reachable_pool)
MAKER(reachable_shared_pool)
MAKER(reachable_unforked_pool)
MAKER(reachable_tls)
MAKER(possible_inside)
MAKER(possible_unlinked)
MAKER(reachable_linked)
MAKER(reachable_behind_link)
MAKER(reachable_by_head_behind)
MAKER(possible_last_byte)
MAKER(possible_behind)
MAKER(definite_plain)
MAKER(definite_zero)
MAKER(definite_past_end)
MAKER(definite_unaligned)
MAKER(definite_freed_pointer)
MAKER(reachable_wiped_pool)
MAKER(reachable_brk_pool)
MAKER(reachable_brk_end)

static void *volatile global, *volatile by_end, *volatile zero, *volatile inside, *volatile last;
static void *volatile past;
static void *volatile *volatile pool, *volatile *volatile shared_pool;
static void *volatile *volatile unforked_pool, *volatile *volatile wiped_pool;
static __thread void *volatile in_tls;
static char unaligned[2 * sizeof(void *)] __attribute__((aligned(8)));
static struct node *volatile tail_holder;

static void *volatile *map_pool(int kind)
{
	return mmap(NULL, 65536, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
}

__attribute__((noinline)) static void places(void)
{
	struct node *n = reachable_global(sizeof(*n));
#ifdef __aarch64__
	uintptr_t *behind = reachable_tagged(sizeof(*behind));

	/* The processor ignores the top byte: a root, and a word in a block. */
	*behind = (uintptr_t)reachable_behind_tag(40) | (uintptr_t)0x35 << 56;
	tagged = (uintptr_t)behind | (uintptr_t)0xa5 << 56;
#endif
	char *p;
	void **freed;

	global = n;
	n->next = reachable_by_block(sizeof(*n));
	n->next->other = reachable_by_block(sizeof(*n));
	by_end = reachable_by_end(8);
	zero = reachable_zero(0);
	pool = map_pool(MAP_PRIVATE);
	pool[5000] = reachable_pool(100);
	shared_pool = map_pool(MAP_SHARED);
	shared_pool[77] = reachable_shared_pool(100);
	unforked_pool = map_pool(MAP_PRIVATE);
	madvise((void *)(uintptr_t)unforked_pool, 65536, MADV_DONTFORK);
	unforked_pool[78] = reachable_unforked_pool(100);
	wiped_pool = map_pool(MAP_PRIVATE);
	madvise((void *)(uintptr_t)wiped_pool, 65536, MADV_WIPEONFORK);
	wiped_pool[79] = reachable_wiped_pool(100);
	in_tls = reachable_tls(100);
	p = possible_inside(77);
	inside = p + 5;
	n = possible_inside(sizeof(*n));
	n->next = possible_behind(10);
	tail_holder = (void *)((char *)n + 3);
	p = possible_last_byte(40);
	last = p + 39;
	p = definite_past_end(40);
	past = p + 40;
	for (int i = 0; i < 5; i++)
		definite_plain(100);
	definite_zero(0);
	p = definite_unaligned(200);
	memcpy(unaligned + 1, &p, sizeof(p));
	/* A pointer in memory that was given back is none. */
	freed = malloc(700); /* of a size that nobody asks for again */
	freed[40] = definite_freed_pointer(30);
	free(freed);
}

/* ---- by what points back ---- */

struct link {
	struct link *next, *prev;
};
/* wl_list has them the other way round. */
struct link_back {
	struct link_back *prev, *next;
};
/* A TAILQ's goes back to the pointer itself. */
struct link_tail {
	struct link_tail *next, **prev;
};

union any_link {
	struct link link;
	struct link_back back;
	struct link_tail tail;
};

static struct link ring = { &ring, &ring };
static struct link_back ring_back = { &ring_back, &ring_back };
static struct link_tail *volatile first, *volatile unlinked;
static void *volatile head_behind;

/* Each has its link somewhere else, so that nothing is learned of the others. What hangs on it
 * knows its start. */
static union any_link *member_new(void *words)
{
	static unsigned count;
	void **behind = reachable_behind_link(20);

	*behind = words;
	*(void **)words = behind;
	return (union any_link *)((void **)words + 3 + count++);
}

__attribute__((noinline)) static void links(void)
{
	union any_link *m;
	void **words;

	for (int i = 0; i < 2; i++) {
		m = member_new(reachable_linked(120));
		m->link = (struct link){ &ring, ring.prev };
		ring.prev->next = &m->link;
		ring.prev = &m->link;
		m = member_new(reachable_linked(120));
		m->back = (struct link_back){ ring_back.prev, &ring_back };
		ring_back.prev->next = &m->back;
		ring_back.prev = &m->back;
	}
	m = member_new(reachable_linked(120));
	m->tail = (struct link_tail){ NULL, (struct link_tail **)(uintptr_t)&first };
	first = &m->tail;
	/* One that was taken out of its list: the pointer may be a number. */
	m = (union any_link *)((void **)possible_unlinked(120) + 1);
	m->tail = (struct link_tail){ NULL, (struct link_tail **)(uintptr_t)&first };
	unlinked = &m->tail;
	/* Its header lies behind it, and points to it. */
	words = reachable_by_head_behind(4000);
	words[490] = words;
	head_behind = &words[490];
}

/* ---- where little is touched ---- */

MAKER_UNTOUCHED(reachable_large)
MAKER_UNTOUCHED(definite_large)
MAKER_UNTOUCHED(possible_large)
MAKER(reachable_in_large)
MAKER(reachable_in_hole)
MAKER(indirect_in_large)

#define LARGE ((size_t)5 << 30)

static void *volatile large, *volatile large_inside;

/* Pointers are found wherever they are, and memory that the program did not touch stays so. */
__attribute__((noinline)) static void large_blocks(void)
{
	char *p;
	void *volatile *hole = mmap(NULL, LARGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	/* What is touched is a page, not the 2 MB around it. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	large = p = reachable_large(LARGE);
	*(void *volatile *)(void *)(p + LARGE - 8) = reachable_in_large(100);
	*(void *volatile *)(void *)(p + LARGE / 2) = reachable_in_large(100);
	hole[LARGE / 2 / sizeof(*hole)] = reachable_in_hole(100);
	p = possible_large(LARGE);
	large_inside = p + LARGE - 1;
	p = definite_large(LARGE + 1);
	*(void *volatile *)(void *)(p + LARGE - 8) = indirect_in_large(100);
}

/* ---- few among many ---- */

MAKER(reachable_many)
MAKER(definite_planted)

static struct node *volatile many;

__attribute__((noinline)) static void plant(unsigned long blocks, unsigned long lost)
{
	srandom(1);
	for (unsigned long i = 0; i < blocks; i++) {
		struct node *n = reachable_many(sizeof(*n));

		n->next = many;
		many = n;
		if (i % (blocks / lost) == 0 && i / (blocks / lost) < lost)
			definite_planted(1 + (size_t)random() % 150);
	}
}

/* ---- by way of what points to it ---- */

MAKER(definite_tree)
MAKER(indirect_tree)
MAKER(definite_cycle)
MAKER(indirect_cycle)
MAKER(definite_list)
MAKER(indirect_list)

__attribute__((noinline)) static struct node *tree(int depth)
{
	struct node *n = indirect_tree(sizeof(*n));

	if (depth > 1) {
		n->next = tree(depth - 1);
		n->other = tree(depth - 1);
	}
	return n;
}

__attribute__((noinline)) static void shapes(void)
{
	struct node *top = definite_tree(sizeof(*top)), *a, *b, *c;

	top->next = tree(4);
	top->other = tree(4);
	/* So large that each comes from above the one before: the first leads. */
	a = definite_cycle(3000);
	b = indirect_cycle(3000);
	c = indirect_cycle(3000);
	a->next = b;
	b->next = c;
	c->next = a;
	c->other = c;
}

__attribute__((noinline)) static void lost_list(unsigned long n)
{
	struct node *first = definite_list(24), *last_one = first;

	for (unsigned long i = 1; i < n; i++) {
		last_one->next = indirect_list(24);
		last_one = last_one->next;
	}
}

/* ---- by heuristic ---- */

MAKER(reachable_string)
MAKER(reachable_length64)
MAKER(reachable_array)
MAKER(reachable_base)
MAKER(possible_no_string)
MAKER(possible_no_sds)

static void *volatile held[8];

static void method(void)
{
}

/* As a compiler lays out the tables of two bases. */
static void (*const table_one[3])(void) = { method, method, method };
static void (*const table_two[3])(void) = { method, method, method };

/* Of memory, and its low 24 bits are these. */
static uint64_t address_like(uint64_t low)
{
	const uint64_t span = UINT64_C(1) << 24;
	char *p =
		mmap(NULL, 2 * span, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return (((uint64_t)(uintptr_t)p + span - 1) & ~(span - 1)) + low;
}

__attribute__((noinline)) static void heuristics(void)
{
	uint64_t *p = reachable_string(24 + 31 + 1);

	p[0] = 10;
	p[1] = 31;
	held[0] = p + 3;
	p = reachable_length64(808);
	p[0] = 800;
	held[1] = p + 1;
	p = reachable_array(8 + 7 * 12);
	p[0] = 7;
	held[2] = p + 1;
	p = reachable_base(64);
	p[0] = (uint64_t)(uintptr_t)table_one;
	p[2] = (uint64_t)(uintptr_t)table_two;
	held[3] = p + 2;
	p = possible_no_string(24 + 31 + 1);
	p[0] = 32;
	p[1] = 31;
	held[4] = p + 3;
	/* An address of which the low bytes are a length, the room for it, and redis' sign for it.
	 */
	p = possible_no_sds(64);
	p[0] = address_like(0x014010);
	held[6] = (char *)p + 3;
}

/* ---- before what glibc's malloc points to ---- */

MAKER(definite_before_fastbin)
MAKER(definite_before_bin)
MAKER(definite_before_top)

/* Each fills its chunk to the last byte, so that the next chunk begins inside the block. */
__attribute__((noinline)) static void neighbours(void)
{
	void *cache[7], *next, *end;

	for (int i = 0; i < 7; i++)
		cache[i] = malloc(56);
	definite_before_fastbin(1000);
	next = malloc(56);
	for (int i = 0; i < 7; i++)
		free(cache[i]);
	free(next);
	definite_before_bin(1000);
	next = malloc(2000);
	end = malloc(2000);
	free(next);
	held[5] = end;
}

__attribute__((noinline)) static void neighbour_of_top(void)
{
	definite_before_top(100008);
}

/* ---- in threads ---- */

MAKER(reachable_register)
MAKER(reachable_vector)
MAKER(reachable_thread_stack)
MAKER(reachable_thread_tls)
MAKER(reachable_start_argument)
MAKER(definite_dead_stack)
MAKER(definite_below_stack)
MAKER(definite_last_of_thread)
MAKER(reachable_coroutine)
MAKER(reachable_coroutine_in_block)

static void *volatile hand_over;
static volatile int ready;

static void await_ready(int count)
{
	while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) < count)
		usleep(1000);
}

#ifdef __aarch64__
/* Counts itself in %1, then waits for good: ppoll(NULL, 0, NULL, NULL). */
#define WAIT_ARM                                                                                   \
	"2:\tldaxr w9, %1\n\tadd w9, w9, #1\n\tstlxr w10, w9, %1\n\tcbnz w10, 2b\n"                \
	"1:\tmov x0, #0\n\tmov x1, #0\n\tmov x2, #0\n\tmov x3, #0\n\tmov x8, #73\n\tsvc #0\n\tb "  \
	"1b"
#define HOLD_ARM    "+m"(hand_over), "+Q"(ready)
#define CLOBBER_ARM "x0", "x1", "x2", "x3", "x8", "x9", "x10", "memory"
#endif

/* The pointer is in one register and nowhere else, while the thread waits. Named as glibc names
 * what is its own. */
void *hold_general(void *arg) __asm__("__GI_hold_general");
void *hold_general(void *arg)
{
	(void)arg;
#ifdef __aarch64__
	__asm__ volatile("ldr x19, %0\n\tstr xzr, %0\n\t" WAIT_ARM:HOLD_ARM : : "x19", CLOBBER_ARM);
#else
	__asm__ volatile("mov %0, %%r12\n\tmovq $0, %0\n\txor %%eax, %%eax\n\tlock incl %1\n"
			 "1:\tmov $34, %%eax\n\tsyscall\n\tjmp 1b"
			 : "+m"(hand_over), "+m"(ready)
			 :
			 : "rax", "rcx", "r11", "r12", "memory");
#endif
	return NULL;
}

static void *hold_vector(void *arg)
{
	(void)arg;
#ifdef __aarch64__
	__asm__ volatile("ldr d7, %0\n\tstr xzr, %0\n\t" WAIT_ARM:HOLD_ARM : : "v7", CLOBBER_ARM);
#else
	__asm__ volatile("movq %0, %%xmm7\n\tmovq $0, %0\n\txor %%eax, %%eax\n\tlock incl %1\n"
			 "1:\tmov $34, %%eax\n\tsyscall\n\tjmp 1b"
			 : "+m"(hand_over), "+m"(ready)
			 :
			 : "rax", "rcx", "r11", "xmm7", "memory");
#endif
	return NULL;
}

/* As clear_stack, but leaves what is deeper. */
__attribute__((noinline)) static void clear_shallow(void)
{
	volatile char room[2048];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
	clear_registers();
}

/* Leaves a pointer far below the frames that remain. */
__attribute__((noinline)) static void leave_below(void)
{
	void *volatile here[1024] = { definite_below_stack(100) };

	here[1] = here[0];
}

/* The library notes a thread's last block: that is no pointer of the program. */
static void *hold_on_stack(void *arg)
{
	void *volatile here[64] = { reachable_thread_stack(100) };

	(void)arg;
	in_tls = reachable_thread_tls(100);
	clear_stack();
	leave_below();
	definite_last_of_thread(100);
	clear_shallow();
	__atomic_fetch_add(&ready, 1, __ATOMIC_RELEASE);
	for (;;) {
		pause();
		here[1] = here[0];
	}
	return NULL;
}

static void *drop_on_stack(void *arg)
{
	void *volatile here[64] = { definite_dead_stack(100) };

	(void)arg;
	here[1] = here[0];
	return NULL;
}

static void thread_start(void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_create(&t, &attr, run, arg);
	pthread_attr_destroy(&attr);
}

static ucontext_t coroutine[2], coroutine_back;

static void coroutine_run(int which)
{
	void *volatile here = which ? reachable_coroutine_in_block(100) : reachable_coroutine(100);

	clear_stack();
	swapcontext(&coroutine[which], &coroutine_back);
	free(here);
}

static void coroutine_start(int which, void *stack)
{
	getcontext(&coroutine[which]);
	coroutine[which].uc_stack.ss_sp = stack;
	coroutine[which].uc_stack.ss_size = 65536;
	coroutine[which].uc_link = NULL;
	makecontext(&coroutine[which], (void (*)(void))coroutine_run, 1, which);
	swapcontext(&coroutine_back, &coroutine[which]);
	/* All but the stack: the saved registers would do as well. */
	memset(&coroutine[which], 0, sizeof(coroutine[which]));
}

static void *volatile stacks[2];

__attribute__((noinline)) static void threads(void)
{
	pthread_t t;

	stacks[0] = (void *)map_pool(MAP_PRIVATE);
	coroutine_start(0, stacks[0]);
	stacks[1] = calloc(1, 65536);
	coroutine_start(1, stacks[1]);
	thread_start(hold_on_stack, reachable_start_argument(50));
	await_ready(1);
	hand_over = reachable_register(100);
	thread_start(hold_general, NULL);
	await_ready(2);
	hand_over = reachable_vector(100);
	thread_start(hold_vector, NULL);
	await_ready(3);
	/* The last: nobody takes its stack again. */
	pthread_create(&t, NULL, drop_on_stack, NULL);
	pthread_join(t, NULL);
}

static void some(void)
{
	places();
	links();
	shapes();
}

/* Memory that is the program's own, in the middle of malloc's and at its end. */
__attribute__((noinline)) static void brk_pool(void)
{
	void *volatile *own = sbrk(65536);

	own[4000] = reachable_brk_pool(100);
}

__attribute__((noinline)) static void brk_end(void)
{
	void *block = reachable_brk_end(100);
	void *volatile *own = sbrk(8192);

	own[7] = block;
}

static void all(void)
{
	threads();
	brk_pool();
	some();
	heuristics();
	neighbours();
	neighbour_of_top();
	brk_end();
}

static void sandbox_enter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { .len = 1, .filter = &allow };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void *wait_alone(void *arg)
{
	wait_for_end();
	return arg;
}

static int pause_always(void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!arg)
		pause();
	return 0;
}

static void wait_shared(void)
{
	char *stack = (char *)(uintptr_t)map_pool(MAP_PRIVATE);
	pid_t pid = clone(pause_always, stack + 65536, CLONE_VM | SIGCHLD, NULL);

	wait_for_end();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* What comes after the account. */
static int end(const char *how, char *self)
{
	if (strcmp(how, "wait") == 0 || strcmp(how, "large") == 0)
		wait_for_end();
	if (strcmp(how, "_exit") == 0)
		_exit(3);
	if (strcmp(how, "exec") == 0)
		execl("/proc/self/exe", self, "_exec", NULL);
	if (strcmp(how, "shared") == 0)
		wait_shared();
	if (strcmp(how, "leader") == 0) {
		thread_start(wait_alone, NULL);
		pthread_exit(NULL);
	}
	if (strcmp(how, "vfork") == 0) {
		if (vfork() == 0) {
			wait_for_end();
			_exit(0);
		}
		waitpid(-1, NULL, 0);
	}
	return 0;
}

MAKER(definite_in_main)

int main(int argc, char **argv)
{
	/* Where the frames of exit will lie, and leave something. */
	void *volatile left[64];
	const char *how = argc > 1 ? argv[1] : "";

	if (strcmp(how, "list") == 0 && argc > 2)
		lost_list(strtoul(argv[2], NULL, 10));
	else if (strcmp(how, "planted") == 0 && argc > 3)
		plant(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
	else if (strcmp(how, "large") == 0)
		large_blocks();
	else if (*how && strcmp(how, "wait") != 0)
		some();
	else
		all();
	clear_stack();
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		left[i] = NULL;
	if (!*how)
		for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
			left[i] = definite_in_main(100);
	if (argc > 2 && strcmp(argv[2], "sandboxed") == 0)
		sandbox_enter();
	if (argc > 2 && strcmp(argv[2], "undumpable") == 0)
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (strcmp(how, "reaper") == 0)
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	account_write();
	return end(how, argv[0]);
}
