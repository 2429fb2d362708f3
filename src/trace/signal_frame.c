/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A signal frame (signal_frame.h): the return address, the context, signal information that
 * nobody reads, and the vector registers, from a multiple of 64 on.
 *
 * The description of the alternate stack is invalid on purpose: the kernel leaves the thread's own
 * as it is then.
 */
#include "src/trace/signal_frame.h"

#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>

#define CONTEXT		     8u /* after the return address */
#define INFO		     (CONTEXT + 304u)
#define VECTORS		     (INFO + 128u)
#define VECTORS_ALIGN	     64u /* XRSTOR's */
#define UC_FP_XSTATE	     1u
#define UC_SIGCONTEXT_SS     2u
#define UC_STRICT_RESTORE_SS 4u

#define LEGACY	 512u /* FXSAVE's part */
#define HEADER	 64u /* XSAVE's, after it */
#define SOFTWARE 464u /* in the legacy part, what software keeps there: struct _fpx_sw_bytes */
#define MAGIC1	 0x46505853u
#define MAGIC2	 0x46505845u
#define TILES	 ((UINT64_C(1) << 17) | (UINT64_C(1) << 18)) /* AMX: by request only, and large */
#define TILEDATA (UINT64_C(1) << 18)

/* struct sigcontext_64. */
struct context {
	uint64_t flags, link;
	uint64_t stack, stack_flags, stack_bytes;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t error, trap, old_mask, cr2, vectors, reserved[8];
	uint64_t mask;
};
_Static_assert(CONTEXT + offsetof(struct context, stack_flags) == SIGNAL_FRAME_MARK_AT * 8,
	"where readers expect it");
_Static_assert(sizeof(struct context) == INFO - CONTEXT, "of the kernel's ABI");

struct software {
	uint32_t magic1, extended_bytes;
	uint64_t features;
	uint32_t bytes, padding[7];
};

static uint64_t word_at(const void *bytes, size_t at)
{
	uint64_t word;

	memcpy(&word, (const char *)bytes + at, sizeof(word));
	return word;
}

/* The components of the state: all that the system has enabled, but AMX only if it is in use. */
static uint64_t features_of(const struct signal_frame *f)
{
	uint64_t enabled, in_use;

	if (f->vector_bytes < LEGACY + HEADER)
		return 0;
	enabled = word_at(f->vectors, SOFTWARE);
	in_use = word_at(f->vectors, LEGACY);
	return (in_use & TILEDATA) != 0 ? enabled : enabled & ~TILES;
}

/* Bytes that these components take in XSAVE's standard format (CPUID leaf 0xd). */
static size_t features_bytes(uint64_t features)
{
	size_t most = LEGACY + HEADER;

	for (unsigned i = 2; i < 63; i++) {
		unsigned bytes, at, c, d;

		if ((features >> i & 1) != 0 && __get_cpuid_count(0xd, i, &bytes, &at, &c, &d) &&
			at + bytes > most)
			most = at + bytes;
	}
	return most;
}

/* Bytes of the vector registers, without what follows them. */
static size_t vectors_bytes(const struct signal_frame *f)
{
	size_t bytes = features_of(f) == 0 ? LEGACY : features_bytes(features_of(f));

	return bytes < f->vector_bytes ? bytes : f->vector_bytes;
}

size_t signal_frame_bytes(const struct signal_frame *f)
{
	size_t bytes = VECTORS + VECTORS_ALIGN + vectors_bytes(f) + sizeof(uint32_t);

	return bytes <= SIGNAL_FRAME_MOST ? bytes : 0;
}

static void context_make(const struct signal_frame *f, struct context *c)
{
	const struct user_regs_struct *r = f->regs;

	*c = (struct context){ .flags = UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS,
		.stack_flags = SIGNAL_FRAME_MARK,
		.r8 = r->r8,
		.r9 = r->r9,
		.r10 = r->r10,
		.r11 = r->r11,
		.r12 = r->r12,
		.r13 = r->r13,
		.r14 = r->r14,
		.r15 = r->r15,
		.rdi = r->rdi,
		.rsi = r->rsi,
		.rbp = r->rbp,
		.rbx = r->rbx,
		.rdx = r->rdx,
		.rax = r->rax,
		.rcx = r->rcx,
		.rsp = r->rsp,
		.rip = r->rip,
		.eflags = r->eflags,
		.cs = (uint16_t)r->cs,
		.gs = (uint16_t)r->gs,
		.fs = (uint16_t)r->fs,
		.ss = (uint16_t)r->ss,
		.mask = f->mask };
}

/* Returns the address, 0 if there are none. */
static uint64_t vectors_make(
	const struct signal_frame *f, struct context *c, uint64_t at, unsigned char *out)
{
	size_t bytes = vectors_bytes(f);
	uint64_t to = (at + VECTORS + VECTORS_ALIGN - 1) & ~(uint64_t)(VECTORS_ALIGN - 1);
	unsigned char *copy = out + (to - at);
	struct software s = { .magic1 = MAGIC1,
		.extended_bytes = (uint32_t)(bytes + sizeof(uint32_t)),
		.features = features_of(f),
		.bytes = (uint32_t)bytes };
	uint32_t magic2 = MAGIC2;

	if (bytes == 0)
		return 0;
	memcpy(copy, f->vectors, bytes);
	if (s.features == 0)
		return to;
	c->flags |= UC_FP_XSTATE;
	memcpy(copy + SOFTWARE, &s, sizeof(s));
	memcpy(copy + bytes, &magic2, sizeof(magic2));
	return to;
}

uint64_t signal_frame_make(const struct signal_frame *f, uint64_t below, void *out)
{
	size_t bytes = signal_frame_bytes(f);
	uint64_t at = ((below - bytes - sizeof(uint64_t)) & ~UINT64_C(15)) + sizeof(uint64_t);
	struct context c;

	if (at + bytes > below)
		at -= 16;
	memset(out, 0, bytes);
	context_make(f, &c);
	c.vectors = vectors_make(f, &c, at, out);
	memcpy(out, &f->restorer, sizeof(f->restorer));
	memcpy((char *)out + CONTEXT, &c, sizeof(c));
	return at;
}
#else
size_t signal_frame_bytes(const struct signal_frame *f)
{
	return 0;
}

uint64_t signal_frame_make(const struct signal_frame *f, uint64_t below, void *out)
{
	return below;
}
#endif
