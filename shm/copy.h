/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a viewer has a stopped process copied for a leak scan: one of its threads runs a stub of the
 * library's, which makes a child with a copy-on-write copy of the memory; and when that has ended
 * another, which takes note of its end. Each puts the thread back to where it was by itself if the
 * viewer is killed meanwhile; else the viewer does that, and better. The viewer writes here how the
 * thread stood. Offsets are those of the stubs (preload/copy_stub.c).
 */
#ifndef SHM_COPY_H
#define SHM_COPY_H

#include <stdint.h>

#define HT_COPY_MAGIC UINT64_C(0x32706f6370616568) /* "heapcop2" */

struct ht_copy {
	uint64_t magic;
	uint64_t stub, stub_end; /* the code of both */
	uint64_t mask; /* signals that the thread has blocked */
	uint64_t rip; /* where it goes on, and with what */
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t busy; /* 1: a thread has yet to come back by what stands above */
	uint64_t copy; /* pid, as the process sees it, of one of whose end it takes note; 0: none */
	uint64_t reap; /* where the code of that begins */
};

#endif
