/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a viewer makes a stopped process copy itself for a leak scan. One of its threads runs a stub
 * of the library's, which makes a child with a copy-on-write copy of the memory; after the copy has
 * ended, it runs another, which reaps it. If the viewer is killed meanwhile, each stub restores
 * the thread itself; otherwise the viewer restores it, more completely. The viewer stores the
 * thread's state here. The stubs use these offsets (preload/copy_stub.c).
 */
#ifndef SHM_COPY_H
#define SHM_COPY_H

#include <stdint.h>

#define HT_COPY_MAGIC UINT64_C(0x32706f6370616568) /* "heapcop2" */

struct ht_copy {
	uint64_t magic;
	uint64_t stub, stub_end; /* the code of both */
	uint64_t mask; /* signals blocked by the thread */
	uint64_t rip; /* where it continues, and its registers */
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t busy; /* 1: a thread has yet to return to the state above */
	uint64_t copy; /* pid, as the process sees it, of the copy to reap; 0: none */
	uint64_t reap; /* start of the code that reaps */
};

#endif
