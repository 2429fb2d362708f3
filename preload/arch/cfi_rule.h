/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A rule of call frame information (cfi.h), by architecture: 8 bytes that say how to find a
 * caller's frame. `rbp` and `rsp` stand for the architecture's frame pointer and stack pointer
 * everywhere: x29 and sp on aarch64, ebp and esp on i386. Pure.
 * Sources: System V ABI, AMD64 supplement, 3.6.2; DWARF for the Arm 64-bit Architecture, 4.1, 4.3;
 * System V ABI, Intel386 supplement, 2.4.
 */
#ifndef PRELOAD_ARCH_CFI_RULE_H
#define PRELOAD_ARCH_CFI_RULE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of a word of the stack. */
#ifdef __i386__
#define CFI_RULE_WORD	   4
#define CFI_RULE_WORD_LOG2 2
#else
#define CFI_RULE_WORD	   8
#define CFI_RULE_WORD_LOG2 3
#endif

/* What the parts of a rule are. All distances are in bytes. */
struct cfi_rule_parts {
	uint8_t type, rbp; /* enum cfi_type, enum cfi_rbp */
	bool rbp_at_cfa; /* rbp_offset is from the CFA */
	int64_t offset, rbp_offset;
	int64_t ra_offset; /* of the return address from the CFA, or */
};
#define CFI_RULE_IN_REGISTER INT64_MAX /* it is still in the register that a call leaves it in */

#ifdef __aarch64__

#define CFI_RULE_LINK	 1 /* a call leaves the return address in a register */
#define CFI_RULE_REG_RBP 29u
#define CFI_RULE_REG_RSP 31u
#define CFI_RULE_REG_RA	 30u
/* Operations of the architecture's own without operands: the return address is signed from here on,
 * or no longer. Signatures are always taken off (cfi_rule_plain). */
#define CFI_RULE_IS_NOP(op) ((op) == 0x2c || (op) == 0x2d)

struct cfi_rule {
	uint64_t type : 4, rbp : 3, in_register : 1;
	/* In words. The return address mostly lies beside the saved rbp. */
	int64_t ra_words : 8; /* from rbp_words */
	int64_t rbp_words : 24, words : 24;
};

#define CFI_RULE_FITS(v, bits)                                                                     \
	((v) >= -(INT64_C(1) << ((bits)-1)) && (v) < INT64_C(1) << ((bits)-1))

static inline int64_t cfi_rule_offset(struct cfi_rule r)
{
	return (int64_t)r.words * 8;
}

static inline int64_t cfi_rule_rbp_offset(struct cfi_rule r)
{
	return (int64_t)r.rbp_words * 8;
}

static inline int64_t cfi_rule_ra_offset(struct cfi_rule r)
{
	return ((int64_t)r.rbp_words + r.ra_words) * 8;
}

static inline bool cfi_rule_in_register(struct cfi_rule r)
{
	return r.in_register;
}

/* Whether it is within a frame of so many bytes. */
static inline bool cfi_rule_ra_inside(struct cfi_rule r, uint32_t bytes)
{
	return !r.in_register && (uint32_t)-cfi_rule_ra_offset(r) - 8 <= bytes - 8;
}

/* False: there is no rule for this. */
static inline bool cfi_rule_make(const struct cfi_rule_parts *p, struct cfi_rule *out)
{
	bool is_register = p->ra_offset == CFI_RULE_IN_REGISTER;
	int64_t ra = is_register ? 0 : p->ra_offset;
	int64_t base = p->rbp_at_cfa ? p->rbp_offset : ra;
	int64_t between = is_register ? 0 : (ra - base) / 8;

	if ((p->offset | base | ra) % 8 != 0 || !CFI_RULE_FITS(p->offset / 8, 24) ||
		!CFI_RULE_FITS(base / 8, 24) || !CFI_RULE_FITS(between, 8))
		return false;
	*out = (struct cfi_rule){ .type = p->type & 15,
		.rbp = p->rbp & 7,
		.in_register = is_register,
		.ra_words = (int8_t)between,
		.rbp_words = (int32_t)(base / 8),
		.words = (int32_t)(p->offset / 8) };
	return true;
}

/* A word of the stack as an address: without the signature that pointer authentication keeps in its
 * upper bits, and without a tag. User addresses have 48 bits. */
static inline uint64_t cfi_rule_plain(uint64_t word)
{
	return word & ((UINT64_C(1) << 48) - 1);
}

#else

#define CFI_RULE_LINK 0 /* a call pushes the return address */
#ifdef __i386__
#define CFI_RULE_REG_RBP 5u
#define CFI_RULE_REG_RSP 4u
#define CFI_RULE_REG_RA	 8u
#else
#define CFI_RULE_REG_RBP 6u
#define CFI_RULE_REG_RSP 7u
#define CFI_RULE_REG_RA	 16u
#endif
#define CFI_RULE_IS_NOP(op) false

struct cfi_rule {
	uint8_t type;
	uint8_t rbp;
	int16_t rbp_offset;
	int32_t offset;
};

static inline int32_t cfi_rule_offset(struct cfi_rule r)
{
	return r.offset;
}

static inline int16_t cfi_rule_rbp_offset(struct cfi_rule r)
{
	return r.rbp_offset;
}

/* The call has pushed it. */
static inline int64_t cfi_rule_ra_offset(struct cfi_rule r)
{
	return -CFI_RULE_WORD;
}

static inline bool cfi_rule_in_register(struct cfi_rule r)
{
	return false;
}

static inline bool cfi_rule_ra_inside(struct cfi_rule r, uint32_t bytes)
{
	return true;
}

/* The return address is just below the CFA, always: anything else is not a function's frame. */
static inline bool cfi_rule_make(const struct cfi_rule_parts *p, struct cfi_rule *out)
{
	if (p->ra_offset != -CFI_RULE_WORD || p->offset != (int32_t)p->offset ||
		p->rbp_offset != (int16_t)p->rbp_offset)
		return false;
	*out = (struct cfi_rule){ .type = p->type,
		.rbp = p->rbp,
		.rbp_offset = (int16_t)p->rbp_offset,
		.offset = (int32_t)p->offset };
	return true;
}

static inline uint64_t cfi_rule_plain(uint64_t word)
{
	return word;
}

#endif

/* The word at an address that can be read, as an address. */
static inline uint64_t cfi_rule_word(uint64_t at)
{
	return cfi_rule_plain(*(const uintptr_t *)(uintptr_t)at);
}

#endif
