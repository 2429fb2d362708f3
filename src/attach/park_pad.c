/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pad (park_pad.h). A stub uses no stack, and only registers that no function has arguments in:
 * rax, r10, r11. It waits by the processor's clock.
 */
#include "src/attach/park_pad.h"

#include <string.h>

#include "preload/patch/relocate.h"

#define SLOTS 1024u /* where they begin, behind the head */
#define SLOT  512u

_Static_assert(sizeof(struct park_pad_head) <= SLOTS, "the head fits");
_Static_assert(SLOTS + PARK_PAD_ENTRIES * SLOT <= PARK_PAD_CODE, "all slots fit");

/* The offsets of what differs, in the stub. */
enum {
	AT_LIBC = 0x06,
	AT_LIBC_BYTES = 0x16,
	AT_LOADER = 0x25,
	AT_LOADER_BYTES = 0x35,
	AT_DATA = 0x44,
	AT_NUMBER = 0x56,
	AT_WAIT = 0x62, /* from here on, */
	AT_DONE = 0x94, /* up to here, it has arrived, and rdx is in r11 */
	STUB = 0x9f,
};

static const uint8_t stub[STUB] = {
	0x48, 0x8b, 0x04, 0x24, /* mov (%rsp),%rax: who calls? */
	0x49, 0xba, 0, 0, 0, 0, 0, 0, 0, 0, /* movabs $libc,%r10 */
	0x49, 0x89, 0xc3, /* mov %rax,%r11 */
	0x4d, 0x29, 0xd3, /* sub %r10,%r11 */
	0x49, 0xba, 0, 0, 0, 0, 0, 0, 0, 0, /* movabs $bytes,%r10 */
	0x4d, 0x39, 0xd3, /* cmp %r10,%r11 */
	0x72, 0x7c, /* jb out */
	0x49, 0xba, 0, 0, 0, 0, 0, 0, 0, 0, /* movabs $loader,%r10 */
	0x49, 0x89, 0xc3, /* mov %rax,%r11 */
	0x4d, 0x29, 0xd3, /* sub %r10,%r11 */
	0x49, 0xba, 0, 0, 0, 0, 0, 0, 0, 0, /* movabs $bytes,%r10 */
	0x4d, 0x39, 0xd3, /* cmp %r10,%r11 */
	0x72, 0x5d, /* jb out */
	0x49, 0xba, 0, 0, 0, 0, 0, 0, 0, 0, /* movabs $data,%r10 */
	0x41, 0x83, 0x3a, 0x01, /* cmpl $1,(%r10): armed? */
	0x75, 0x4d, /* jne out */
	0x31, 0xc0, /* xor %eax,%eax */
	0x41, 0xbb, 0, 0, 0, 0, /* mov $number,%r11d */
	0xf0, 0x45, 0x0f, 0xb1, 0x5a, 0x04, /* lock cmpxchg %r11d,4(%r10): the first? */
	0x75, 0x3d, /* jne out */
	0x49, 0x89, 0xd3, /* wait: mov %rdx,%r11 */
	0x0f, 0x31, /* rdtsc */
	0x48, 0xc1, 0xe2, 0x20, /* shl $32,%rdx */
	0x48, 0x09, 0xd0, /* or %rdx,%rax */
	0x49, 0x03, 0x42, 0x08, /* add 8(%r10),%rax */
	0x49, 0x89, 0x42, 0x10, /* mov %rax,16(%r10) */
	0xf3, 0x90, /* loop: pause */
	0x41, 0x83, 0x3a, 0x01, /* cmpl $1,(%r10): let go? */
	0x75, 0x16, /* jne done */
	0x0f, 0x31, /* rdtsc */
	0x48, 0xc1, 0xe2, 0x20, /* shl $32,%rdx */
	0x48, 0x09, 0xd0, /* or %rdx,%rax */
	0x49, 0x3b, 0x42, 0x10, /* cmp 16(%r10),%rax */
	0x72, 0xe9, /* jb loop */
	0x41, 0xc7, 0x02, 0, 0, 0, 0, /* movl $0,(%r10): nobody comes */
	0x4c, 0x89, 0xda, /* done: mov %r11,%rdx */
	0x41, 0xc7, 0x42, 0x04, 0, 0, 0, 0, /* movl $0,4(%r10) */
	/* out: */
};

static void put(uint8_t *to, uint64_t word)
{
	memcpy(to, &word, sizeof(word));
}

bool park_pad_entry_make(uint8_t *code, uint64_t pad, unsigned number, uint64_t at,
	const uint8_t *function, size_t bytes, size_t readable, const struct park_pad_outside *o,
	struct park_pad_entry *out, const char **why)
{
	uint32_t from = SLOTS + number * SLOT, mark = number + 1;
	uint8_t *to = code + from;
	struct relocated r;
	enum relocate_why rc;

	memcpy(to, stub, STUB);
	put(to + AT_LIBC, o->start[0]);
	put(to + AT_LIBC_BYTES, o->bytes[0]);
	put(to + AT_LOADER, o->start[1]);
	put(to + AT_LOADER_BYTES, o->bytes[1]);
	put(to + AT_DATA, pad + PARK_PAD_CODE);
	memcpy(to + AT_NUMBER, &mark, sizeof(mark));
	rc = relocate_make(function, readable, at, to + STUB, pad + from + STUB, &r);
	if (rc == RELOCATE_DONE && r.own > bytes)
		rc = RELOCATE_SHORT;
	if (rc == RELOCATE_DONE)
		rc = relocate_search(function, bytes, r.displaced);
	*out = (struct park_pad_entry){ .at = at };
	memcpy(out->before, function, sizeof(out->before));
	if (rc == RELOCATE_DONE && !relocate_jump(out->jump, at, pad + from))
		rc = RELOCATE_FAR;
	*why = relocate_why_word(rc);
	return rc == RELOCATE_DONE;
}

bool park_pad_is_waiting(uint64_t pad, uint64_t ip, unsigned *number)
{
	uint64_t at = ip - pad;

	if (at < SLOTS || at >= SLOTS + PARK_PAD_ENTRIES * SLOT)
		return false;
	*number = (unsigned)((at - SLOTS) / SLOT);
	at = (at - SLOTS) % SLOT;
	return at >= AT_WAIT && at <= AT_DONE;
}
