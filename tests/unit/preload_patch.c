/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Patched entries (preload/patch/): lengths of instructions as objdump has them, prologues of every
 * kind run from their new place, functions patched and unpatched while they are called.
 */
#include "preload/patch/decode.c"
#include "preload/patch/entry.c"
#include "preload/patch/place.c"
#include "preload/patch/relocate.c"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/check.h"

/* ---- lengths ------------------------------------------------------------------------------ */

#define LIBRARIES "/usr/lib/x86_64-linux-gnu/"

/* The bytes of a line of objdump -dw: address, tab, bytes, tab, text. */
static size_t line_bytes(const char *line, uint8_t *out)
{
	const char *p = strchr(line, ':');
	size_t n = 0;
	char *end;

	if (line[0] != ' ' || !p || p[1] != '\t')
		return 0;
	for (p += 2; n < 32 && isxdigit((unsigned char)*p); p = end, n++) {
		unsigned long byte = strtoul(p, &end, 16);

		if (end != p + 2)
			break;
		out[n] = (uint8_t)byte;
		end += *end == ' ';
	}
	return n;
}

/* Whether we find as many bytes. objdump has fwait and what follows it as one. */
static bool is_equal(const uint8_t *bytes, size_t n)
{
	struct decode d;
	size_t at = 0;

	do {
		if (!decode_at(bytes + at, n - at, &d))
			return false;
		at += d.length;
	} while (at < n && bytes[0] == 0x9b);
	return at == n;
}

static void compare_lengths(const char *file)
{
	char command[256], line[1024];
	unsigned long seen = 0, wrong = 0;
	uint8_t bytes[32];
	FILE *f;

	if (access(file, R_OK) != 0)
		return;
	snprintf(command, sizeof(command), "objdump -dw %s", file);
	f = popen(command, "r");
	CHECK(f != NULL);
	while (f && fgets(line, sizeof(line), f)) {
		size_t n = line_bytes(line, bytes);

		if (n == 0 || strstr(line, "(bad)"))
			continue;
		seen++;
		if (!is_equal(bytes, n) && wrong++ < 5)
			fprintf(stderr, "  %s: %s", file, line);
	}
	CHECK(f && pclose(f) == 0);
	CHECK_INT(wrong, 0);
	CHECK(seen > 1000);
}

TEST(lengths)
{
	if (system("objdump --version >/dev/null 2>&1") != 0)
		SKIP("no objdump");
	compare_lengths(LIBRARIES "libc.so.6");
	compare_lengths(LIBRARIES "libstdc++.so.6");
	compare_lengths(LIBRARIES "libjemalloc.so.2");
	compare_lengths(LIBRARIES "libtcmalloc_minimal.so.4");
	compare_lengths(LIBRARIES "libmimalloc.so.2.0");
	compare_lengths("/usr/bin/python3");
}

/* What compilers rarely emit. */
static const struct {
	uint8_t bytes[16], length, kind, rip_at, relative_at;
} odd[] = {
	{ { 0xc8, 0x10, 0x00, 0x00 }, 4, DECODE_PLAIN, 0, 0 }, /* enter */
	{ { 0xa0, 1, 2, 3, 4, 5, 6, 7, 8 }, 9, DECODE_PLAIN, 0, 0 }, /* mov al, [addr] */
	{ { 0x67, 0xa0, 1, 2, 3, 4 }, 6, DECODE_PLAIN, 0, 0 },
	{ { 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8 }, 10, DECODE_PLAIN, 0, 0 }, /* movabs */
	{ { 0x66, 0xb8, 1, 2 }, 4, DECODE_PLAIN, 0, 0 },
	{ { 0x66, 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8 }, 11, DECODE_PLAIN, 0, 0 },
	/* REX before another prefix does not count. */
	{ { 0x48, 0x66, 0xb8, 1, 2 }, 5, DECODE_PLAIN, 0, 0 },
	{ { 0x66, 0x68, 1, 2 }, 4, DECODE_PLAIN, 0, 0 },
	{ { 0xf6, 0x05, 1, 2, 3, 4, 9 }, 7, DECODE_PLAIN, 2, 0 }, /* testb $9, (%rip) */
	{ { 0xf6, 0x15, 1, 2, 3, 4 }, 6, DECODE_PLAIN, 2, 0 }, /* notb (%rip) */
	{ { 0x66, 0xf7, 0x05, 1, 2, 3, 4, 9, 9 }, 9, DECODE_PLAIN, 3, 0 },
	{ { 0x8f, 0xc0 }, 2, DECODE_PLAIN, 0, 0 }, /* pop */
	{ { 0x8f, 0xe8, 0x78, 0xc0, 0xc1, 7 }, 6, DECODE_PLAIN, 0, 0 }, /* vprotb (XOP 8) */
	{ { 0x8f, 0xe9, 0x78, 0x01, 0xc9 }, 5, DECODE_PLAIN, 0, 0 }, /* blcfill (XOP 9) */
	{ { 0x8f, 0xea, 0x78, 0x10, 0xc1, 1, 2, 3, 4 }, 9, DECODE_PLAIN, 0, 0 }, /* bextr */
	{ { 0xc5, 0xf8, 0x77 }, 3, DECODE_PLAIN, 0, 0 }, /* vzeroupper */
	{ { 0xc5, 0xf9, 0x6f, 0x05, 1, 2, 3, 4 }, 8, DECODE_PLAIN, 4, 0 },
	{ { 0xc4, 0xe3, 0x79, 0x0f, 0xc1, 4 }, 6, DECODE_PLAIN, 0, 0 }, /* vpalignr */
	{ { 0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x05, 1, 2, 3, 4 }, 10, DECODE_PLAIN, 6, 0 }, /* EVEX */
	{ { 0x62, 0xf3, 0x75, 0x48, 0x25, 0xc2, 0xff }, 7, DECODE_PLAIN, 0, 0 }, /* vpternlog */
	{ { 0x66, 0x0f, 0x78, 0xc0, 1, 2 }, 6, DECODE_PLAIN, 0, 0 }, /* extrq */
	{ { 0x0f, 0x0f, 0xc1, 0x9e }, 4, DECODE_PLAIN, 0, 0 }, /* pfadd (3DNow) */
	{ { 0xe3, 5 }, 2, DECODE_LOOP, 0, 1 }, { { 0x67, 0xe3, 5 }, 3, DECODE_LOOP, 0, 2 },
	{ { 0x2e, 0x74, 5 }, 3, DECODE_JUMP_IF, 0, 2 },
	{ { 0x0f, 0x84, 1, 2, 3, 4 }, 6, DECODE_JUMP_IF, 0, 2 },
	{ { 0x66, 0x66, 0x48, 0xe8, 1, 2, 3, 4 }, 8, DECODE_CALL, 0, 4 }, /* TLS descriptors */
	{ { 0xf2, 0xe9, 1, 2, 3, 4 }, 6, DECODE_JUMP, 0, 2 }, /* bnd jmp */
	{ { 0xc7, 0xf8, 1, 2, 3, 4 }, 6, DECODE_BEGIN, 0, 2 },
	{ { 0x3e, 0xff, 0xe0 }, 3, DECODE_END, 0, 0 }, /* notrack jmp */
	{ { 0xff, 0x15, 1, 2, 3, 4 }, 6, DECODE_CALL_INDIRECT, 2, 0 },
	{ { 0xff, 0x35, 1, 2, 3, 4 }, 6, DECODE_PLAIN, 2, 0 }, /* push */
	{ { 0xf3, 0x0f, 0x1e, 0xfa }, 4, DECODE_PLAIN, 0, 0 }, /* endbr64 */
	{ { 0x0f, 0xcc }, 2, DECODE_PLAIN, 0, 0 }, /* bswap: no filler */
	{ { 0xcc }, 1, DECODE_TRAP, 0, 0 }, { { 0x06 }, 0, 0, 0, 0 }, /* not in 64-bit mode */
	{ { 0xea, 1, 2, 3, 4, 5, 6 }, 0, 0, 0, 0 },
	{ { 0x66, 0xe9, 1, 2, 3, 4 }, 0, 0, 0, 0 }, /* processors differ */
};

TEST(odd_instructions)
{
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct decode d;
		bool known = decode_at(odd[i].bytes, sizeof(odd[i].bytes), &d);

		if (known != (odd[i].length != 0) || (known && d.length != odd[i].length))
			fprintf(stderr, "  odd[%zu]: length %u\n", i, known ? d.length : 0);
		CHECK_INT(known ? d.length : 0, odd[i].length);
		if (!known)
			continue;
		CHECK_INT(d.kind, odd[i].kind);
		CHECK_INT(d.rip_at, odd[i].rip_at);
		CHECK_INT(d.relative_at, odd[i].relative_at);
		CHECK(!decode_is_filler(odd[i].bytes, &d) || odd[i].bytes[0] == 0xcc);
		/* One byte less is not enough. */
		CHECK(!decode_at(odd[i].bytes, odd[i].length - 1u, &d));
	}
}

static const uint8_t fillers[][12] = { { 0x90 }, { 0x66, 0x90 }, { 0x0f, 0x1f, 0x00 },
	{ 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 }, { 0xcc },
	{ 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 } };

TEST(filler)
{
	static const uint8_t exchange[] = { 0x41, 0x90 }; /* xchg %r8, %rax */
	struct decode d;

	for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++)
		CHECK(decode_at(fillers[i], sizeof(fillers[i]), &d) &&
			decode_is_filler(fillers[i], &d));
	CHECK(decode_at(exchange, sizeof(exchange), &d) && !decode_is_filler(exchange, &d));
}

/* Any bytes: no read beyond them, no length beyond the longest. */
TEST(any_bytes)
{
	uint8_t *page =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t random = 88172645463325252ull;
	struct decode d;

	CHECK(mprotect(page + 4096, 4096, PROT_NONE) == 0);
	for (unsigned i = 0; i < 500000; i++) {
		size_t bytes = i % 17;
		uint8_t *code = page + 4096 - bytes;

		for (size_t k = 0; k < bytes; k++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			code[k] = (uint8_t)random;
		}
		if (decode_at(code, bytes, &d)) {
			CHECK(d.length >= 1 && d.length <= bytes && d.length <= DECODE_MAX);
			CHECK(d.relative_at == 0 || d.relative_at < d.length);
			CHECK(d.rip_at == 0 || d.rip_at + 4u <= d.length);
		}
	}
	munmap(page, 8192);
}

/* ---- prologues ---------------------------------------------------------------------------- */

/* Each takes (a, b) and returns a number. What follows a function is a function, so that no filler
 * helps a short one unless it is written there. */
__asm__(".text\n.balign 16\n"
	".macro function name\n.globl \\name\n.type \\name, @function\n\\name:\n.endm\n"
	".macro finish name\n.size \\name, .-\\name\n.endm\n"

	"function f_frame\npush %rbp\nmov %rsp,%rbp\nsub $16,%rsp\nlea "
	"(%rdi,%rsi),%rax\nleave\nret\n"
	"finish f_frame\n"

	"function f_endbr\nendbr64\npush %rbx\nlea 1(%rdi),%rax\npop %rbx\nret\nfinish f_endbr\n"

	"function f_load\nmov patch_word(%rip),%rax\nadd %rdi,%rax\nret\nfinish f_load\n"

	"function f_address\nlea patch_word(%rip),%rax\nmov (%rax),%rax\nret\nfinish f_address\n"

	"function f_store\npush %rbx\nmovl $7,patch_store(%rip)\nmov %rdi,%rax\npop %rbx\nret\n"
	"finish f_store\n"

	"function f_test\ntestb $1,patch_word(%rip)\nsetz %al\nmovzbl %al,%eax\nret\nfinish "
	"f_test\n"

	"function f_vex\nvmovdqa patch_vector(%rip),%xmm1\nvmovq %xmm1,%rax\nret\nfinish f_vex\n"

	"function f_if_near\ntest %rdi,%rdi\nje 1f\nlea 5(%rdi),%rax\nret\n1: mov $9,%eax\nret\n"
	"finish f_if_near\n"

	"function f_if_first\ncmp %rsi,%rdi\nja 1f\nmov $1,%eax\nret\n1: mov $2,%eax\nret\n"
	"finish f_if_first\n"

	"function f_if_far\ntest %edi,%edi\n.byte 0x0f,0x84\n.long 1f-.-4\nmov $3,%eax\nret\n"
	"1: mov $4,%eax\nret\nfinish f_if_far\n"

	"function f_loop\nmov %rdi,%rcx\njrcxz 1f\nmov $5,%eax\nret\n1: mov $6,%eax\nret\nfinish "
	"f_loop\n"

	"function f_loop_small\nmov %edi,%ecx\njecxz 1f\nmov $5,%eax\nret\n1: mov $6,%eax\nret\n"
	"finish f_loop_small\n"

	"function f_jump\njmp patch_sum\nfinish f_jump\n"

	"function f_jump_near\njmp 1f\n.balign 8,0x90\n1: lea 2(%rdi),%rax\nret\nfinish "
	"f_jump_near\n"

	"function f_call\nsub $8,%rsp\ncall patch_sum\nadd $8,%rsp\nadd $1,%rax\nret\nfinish "
	"f_call\n"

	"function f_call_word\nsub $8,%rsp\ncall *patch_sum_word(%rip)\nadd $8,%rsp\nret\n"
	"finish f_call_word\n"

	"function f_call_register\nsub $8,%rsp\nnop\nmov %rdx,%r11\ncall *%rdx\nadd $8,%rsp\nret\n"
	"finish f_call_register\n"

	"function f_jump_word\njmp *patch_sum_word(%rip)\nfinish f_jump_word\n"

	"function f_return\nret\n.balign 16\nfinish f_return\n"

	"function f_again\nsub $1,%rdi\ntest %rdi,%rdi\njg f_again\nmov %rsi,%rax\nret\nfinish "
	"f_again\n"

	/* Refused. */
	"function r_short\nret\nfinish r_short\n"
	"function r_back\nnop\n1: dec %rdi\nnop\njg 1b\nmov %rsi,%rax\nret\nfinish r_back\n"
	"function r_inside\ntest %edi,%edi\nje 1f\n1: nop\nnop\nret\nfinish r_inside\n"
	"function r_calls\ncall *%rdx\nnop\nnop\nnop\nret\nfinish r_calls\n"
	"function r_trap\npush %rbp\nint3\npush %rbx\nnop\nnop\nret\nfinish r_trap\n"
	"function r_begin\nxbegin 1f\n1: ret\nfinish r_begin\n"
	"function r_unknown\n.byte 6\nnop\nnop\nnop\nnop\nret\nfinish r_unknown\n"
	"function r_stack\ncall *8(%rsp)\nnop\nret\nfinish r_stack\n"
	"function r_small\nmov patch_word(%eip),%eax\nret\nfinish r_small\n"
	"function r_end\nret\n"
	".balign 16\n");

static uint64_t patch_word __attribute__((used)) = 1000;
static uint32_t patch_store __attribute__((used));
static uint64_t patch_vector[2] __attribute__((used, aligned(16))) = { 77, 0 };
__attribute__((used, noinline)) static uint64_t patch_sum(uint64_t a, uint64_t b)
{
	return a + b + patch_word;
}
static uint64_t (*patch_sum_word)(uint64_t, uint64_t) __attribute__((used)) = patch_sum;

typedef uint64_t (*function)(uint64_t, uint64_t, const void *);
/* clang-format off */
#define FUNCTIONS(X)                                                                               \
	X(f_frame)                                                                                 \
	X(f_endbr)                                                                                 \
	X(f_load)                                                                                  \
	X(f_address)                                                                               \
	X(f_store)                                                                                 \
	X(f_test) X(f_vex) X(f_if_near) X(f_if_first) X(f_if_far) X(f_loop) X(f_loop_small)        \
		X(f_jump) X(f_jump_near) X(f_call) X(f_call_word) X(f_call_register)               \
			X(f_jump_word) X(f_return) X(f_again) X(r_short) X(r_back) X(r_inside)     \
				X(r_calls) X(r_trap) X(r_begin) X(r_unknown) X(r_stack) X(r_small) \
					X(r_end)
/* clang-format on */
#define DECLARE(name) uint64_t name(uint64_t, uint64_t, const void *);
FUNCTIONS(DECLARE)

#define ENTRY(name) { #name, name },
static const struct {
	const char *name;
	function f;
} functions[] = { FUNCTIONS(ENTRY) };
#define RUN_COUNT     20u /* those that can be moved come first */
#define REFUSED_COUNT 9u

static const enum relocate_why refused[] = { RELOCATE_SHORT, RELOCATE_BRANCHED, RELOCATE_BRANCHED,
	RELOCATE_CALLS, RELOCATE_TRAP, RELOCATE_ODD, RELOCATE_UNKNOWN, RELOCATE_ODD, RELOCATE_ODD };

static size_t size_of(unsigned i)
{
	return (size_t)((const char *)functions[i + 1].f - (const char *)functions[i].f);
}

static uint64_t address_of(unsigned i)
{
	return (uint64_t)(uintptr_t)functions[i].f;
}

/* f_if_first has its branch on flags and registers; all results depend on the arguments. */
static uint64_t result_of(function f, unsigned round)
{
	static const uint64_t args[][2] = { { 0, 0 }, { 1, 2 }, { 5, 3 }, { 12, 12 } };

	patch_store = 0;
	return f(args[round][0], args[round][1], (const void *)patch_sum) + 31 * patch_store;
}
#define ROUNDS 4u

static bool is_returning_rax(unsigned i)
{
	return functions[i].f != f_return;
}

static uint8_t *map_at(uint64_t hint, size_t bytes)
{
	void *p = mmap((void *)(uintptr_t)hint, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | (hint ? MAP_FIXED_NOREPLACE : 0), -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Near this program's code. */
static uint8_t *map_near(size_t bytes)
{
	extern char __executable_start[], etext[];
	struct place p = { .start = (uint64_t)(uintptr_t)__executable_start,
		.end = (uint64_t)(uintptr_t)etext,
		.bytes = bytes };
	uint64_t at;

	while (place_next(&p, &at)) {
		uint8_t *got = map_at(at, bytes);

		if (got)
			return got;
	}
	return NULL;
}

static void check_results(unsigned i, function moved)
{
	for (unsigned round = 0; round < ROUNDS; round++)
		if (is_returning_rax(i))
			CHECK_INT(result_of(moved, round), result_of(functions[i].f, round));
		else
			result_of(moved, round);
}

TEST(moved)
{
	uint8_t *near = map_near(65536);
	unsigned at = 0;
	struct relocated r;

	CHECK(near != NULL);
	for (unsigned i = 0; near && i < RUN_COUNT; i++, at += RELOCATE_PAD_MOST) {
		enum relocate_why why = relocate_make((const uint8_t *)functions[i].f, size_of(i),
			address_of(i), near + at, (uint64_t)(uintptr_t)near + at, &r);

		if (why != RELOCATE_DONE)
			fprintf(stderr, "  %s: %s\n", functions[i].name, relocate_why_word(why));
		CHECK_INT(why, RELOCATE_DONE);
		CHECK(r.displaced >= RELOCATE_JUMP && r.bytes <= RELOCATE_PAD_MOST);
	}
	CHECK(mprotect(near, 65536, PROT_READ | PROT_EXEC) == 0);
	for (unsigned i = 0; i < RUN_COUNT; i++)
		check_results(i, (function)(uintptr_t)(near + i * RELOCATE_PAD_MOST));
	munmap(near, 65536);
}

/* Branches and calls reach everything from everywhere; operands do not. */
TEST(moved_far)
{
	uint8_t *far = map_at(0x10000000000, 65536);
	struct relocated r;
	enum relocate_why why[RUN_COUNT];

	CHECK(far != NULL);
	for (unsigned i = 0; far && i < RUN_COUNT; i++)
		why[i] = relocate_make((const uint8_t *)functions[i].f, size_of(i), address_of(i),
			far + i * RELOCATE_PAD_MOST,
			(uint64_t)(uintptr_t)far + i * RELOCATE_PAD_MOST, &r);
	CHECK(mprotect(far, 65536, PROT_READ | PROT_EXEC) == 0);
	for (unsigned i = 0; i < RUN_COUNT; i++) {
		function f = functions[i].f;
		bool has_operand = f == f_load || f == f_address || f == f_store || f == f_test ||
				   f == f_vex || f == f_call_word || f == f_jump_word;

		CHECK_INT(why[i], has_operand ? RELOCATE_FAR : RELOCATE_DONE);
		if (why[i] == RELOCATE_DONE)
			check_results(i, (function)(uintptr_t)(far + i * RELOCATE_PAD_MOST));
	}
	munmap(far, 65536);
}

static enum relocate_why why_refused(unsigned i)
{
	uint8_t pad[ENTRY_PAD_MOST];
	struct entry e;
	unsigned used;

	return entry_make(&e, (const uint8_t *)functions[i].f, size_of(i), size_of(i),
		address_of(i), pad, address_of(i) - 0x100000, (struct entry_recorder){ 0 }, &used);
}

TEST(refused)
{
	for (unsigned i = 0; i < REFUSED_COUNT; i++) {
		enum relocate_why why = why_refused(RUN_COUNT + i);

		if (why != refused[i])
			fprintf(stderr, "  %s: %s\n", functions[RUN_COUNT + i].name,
				relocate_why_word(why));
		CHECK_INT(why, refused[i]);
		CHECK(strlen(relocate_why_word(why)) > 5);
	}
	CHECK_INT(relocate_search(NULL, RELOCATE_SCAN + 1ull, 5), RELOCATE_LONG);
}

/* ---- entries ------------------------------------------------------------------------------ */

static int file_read(void *of, uint64_t at, void *to, size_t bytes)
{
	return pread(*(int *)of, to, bytes, (off_t)at) == (ssize_t)bytes ? 0 : -EIO;
}

static int file_write(void *of, uint64_t at, const void *from, size_t bytes)
{
	return pwrite(*(int *)of, from, bytes, (off_t)at) == (ssize_t)bytes ? 0 : -EIO;
}

/* Counts by the number, takes both words from the stack, and goes on. */
static uint64_t called[64] __attribute__((used)), originals[64] __attribute__((used));
__asm__(".text\npatch_recorder:\n"
	"pop %r11\nlea called(%rip),%r10\nincq (%r10,%r11,8)\n"
	"lea originals(%rip),%r10\nmov (%r10,%r11,8),%r11\n"
	"cmp (%rsp),%rbp\njne 1f\nadd $8,%rsp\njmp *%r11\n1: ud2\n");
extern const char patch_recorder[];

TEST(patched)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	struct entry_memory memory = { file_read, file_write, &fd };
	uint64_t want[RUN_COUNT][ROUNDS];
	struct entry e[RUN_COUNT];
	uint8_t *pads = map_near(65536);
	unsigned at = 0, used, repeats = 0;

	CHECK(fd >= 0 && pads);
	for (unsigned i = 0; i < RUN_COUNT; i++) {
		for (unsigned round = 0; round < ROUNDS; round++)
			want[i][round] = result_of(functions[i].f, round);
		CHECK_INT(entry_make(&e[i], (const uint8_t *)functions[i].f, size_of(i), size_of(i),
				  address_of(i), pads + at, (uint64_t)(uintptr_t)pads + at,
				  (struct entry_recorder){
					  (uint64_t)(uintptr_t)patch_recorder, (int32_t)i, false },
				  &used),
			RELOCATE_DONE);
		CHECK(used <= ENTRY_PAD_MOST && used % ENTRY_ALIGN == 0);
		originals[i] = e[i].original;
		at += used;
	}
	CHECK(mprotect(pads, 65536, PROT_READ | PROT_EXEC) == 0);
	for (unsigned i = 0; i < RUN_COUNT; i++) {
		CHECK_INT(entry_clear(&e[i], &memory), -EBUSY);
		CHECK_INT(entry_set(&e[i], &memory), 0);
		CHECK_INT(entry_set(&e[i], &memory), -EBUSY);
		for (unsigned round = 0; round < ROUNDS; round++)
			if (is_returning_rax(i))
				CHECK_INT(result_of(functions[i].f, round), want[i][round]);
			else
				result_of(functions[i].f, round);
		/* f_again jumps to its own entry: 1, 1, 5 and 12 times in all. */
		repeats = functions[i].f == f_again ? 1 + 1 + 5 + 12 : ROUNDS;
		CHECK_INT(called[i], repeats);
		CHECK_INT(entry_clear(&e[i], &memory), 0);
		check_results(i, functions[i].f);
		CHECK_INT(called[i], repeats);
	}
	close(fd);
	munmap(pads, 65536);
}

static void check_moved(const uint8_t *code, size_t bytes, const uint8_t *pad,
	const struct relocated *r, unsigned *copies)
{
	unsigned last = 0;
	struct decode d;

	for (unsigned at = 0; at < r->own; at += d.length) {
		CHECK(decode_at(code + at, bytes - at, &d));
		CHECK(r->moved[at] != RELOCATE_NOWHERE && (at == 0 || r->moved[at] > last));
		last = r->moved[at];
		for (unsigned k = 1; k < d.length && at + k < sizeof(r->moved); k++)
			CHECK_INT(r->moved[at + k], RELOCATE_NOWHERE);
		if (d.kind != DECODE_PLAIN || d.rip_at != 0)
			continue;
		CHECK(memcmp(pad + r->moved[at], code + at, d.length) == 0);
		++*copies;
	}
}

/* Where each displaced instruction is: in order, the first at the beginning, and those that need no
 * change are there byte for byte. */
TEST(moved_to)
{
	uint8_t pad[RELOCATE_PAD_MOST];
	struct relocated r;
	unsigned copies = 0;

	for (unsigned i = 0; i < RUN_COUNT; i++) {
		const uint8_t *code = (const uint8_t *)functions[i].f;

		CHECK_INT(relocate_make(code, size_of(i), address_of(i), pad,
				  address_of(i) - 0x10000, &r),
			RELOCATE_DONE);
		CHECK_INT(r.moved[0], 0);
		check_moved(code, size_of(i), pad, &r, &copies);
	}
	CHECK(copies > 5);
}

TEST(places)
{
	struct place low = { .start = 0x400000, .end = 0x500000, .bytes = 8192 };
	struct place high = { .start = 0x7ffff7000000, .end = 0x7ffff8000000, .bytes = 8192 };
	struct place lowest = { .start = 0x18000, .end = 0xf8d000, .bytes = 4096 };
	struct place large = { .start = 0x10000000000, .end = 0x10080000000, .bytes = 4096 };
	uint64_t at;
	unsigned n = 0;

	for (; place_next(&low, &at); n++)
		CHECK(at >= 65536 && at % 4096 == 0 && place_is_near(&low, at) &&
			(at + low.bytes <= low.start || at >= low.end));
	CHECK(n > 10);
	for (n = 0; place_next(&high, &at); n++)
		CHECK(at + high.bytes <= 0x7ffffffff000 && place_is_near(&high, at));
	CHECK(n > 15);
	CHECK(!place_next(&large, &at));
	/* A heap grows above an executable: that is the last resort, and far away at first. */
	CHECK(place_next(&lowest, &at));
	CHECK(at >= 65536 && at + 4096 <= 0x18000);
	CHECK(place_next(&lowest, &at));
	CHECK(at > 0x30000000);
}

int main(void)
{
	RUN(lengths);
	RUN(odd_instructions);
	RUN(filler);
	RUN(any_bytes);
	RUN(moved);
	RUN(moved_far);
	RUN(refused);
	RUN(patched);
	RUN(moved_to);
	RUN(places);
	return check_end();
}
