/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call frame information: how to get from one return address to the next. It is read from .eh_frame
 * when an address is first met, and kept as an 8-byte rule. The rules cover what compilers emit
 * under the architecture's ABI for the stack pointer, the frame pointer and the return address;
 * anything else becomes a rule that says stop. Any thread, in hooks; never allocates, takes no
 * lock. Sources: System V ABI, AMD64 supplement, 3.7; DWARF 5, 6.4; LSB core, 10.6 (.eh_frame,
 * .eh_frame_hdr).
 */
#ifndef PRELOAD_CFI_H
#define PRELOAD_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/arch/cfi_rule.h"
#include "preload/cfi_cache.h"

enum cfi_type {
	CFI_NONE = 1, /* no information for this address */
	CFI_STOP, /* information of a kind that these rules do not cover */
	CFI_END, /* outermost frame: the return address is undefined */
	CFI_RSP, /* CFA = rsp + offset */
	CFI_RBP, /* CFA = rbp + offset */
	CFI_DEREF, /* CFA = *(rbp + offset): a function that realigns its stack (DRAP) */
	CFI_PLT, /* CFA = rsp + word + ((rip & 15) >= offset ? word : 0) */
	CFI_SIGNAL, /* the kernel's signal frame: registers are in the ucontext at rsp */
};

enum cfi_rbp {
	CFI_RBP_SAME, /* the caller's rbp is in rbp */
	CFI_RBP_AT_CFA, /* ... at CFA + rbp_offset */
	CFI_RBP_AT_RBP, /* ... at rbp + rbp_offset */
	CFI_RBP_LOST, /* ... unknown */
};

/* Once, when recording starts. */
void cfi_start(void);
/* Out of line: the rule, where the cache's first place has another. */
struct cfi_rule cfi_read(uint64_t pc, bool exact, uint64_t key);

/*
 * The rule at `pc`. `module` (ht_node.module) is the object mapped there now. It is part of the
 * cache's key, since other code may have replaced code at the same address. `exact`: the frame was
 * interrupted at pc; otherwise pc is a return address, and the rule is that of the call before it.
 */
static inline struct cfi_rule cfi_find(uint64_t pc, uint32_t module, bool exact)
{
	/* User addresses have 48 bits at most: the module and `exact` go above. */
	uint64_t key = pc | (uint64_t)(module & 0x7fff) << 48 | (uint64_t)exact << 63;
	uint64_t word = cfi_cache_first(key);
	struct cfi_rule rule;

	if (__builtin_expect(word == 0, 0))
		return cfi_read(pc, exact, key);
	__builtin_memcpy(&rule, &word, sizeof(rule));
	return rule;
}

#endif
