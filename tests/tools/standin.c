/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * In the place of libheaptop.so, for tests of attaching itself: it answers as that does, and
 * patches getppid, to return the process's own pid while it is attached. Its pad is made by hand:
 * getppid is `mov $110, %eax; syscall; ret`, or with an endbr64 before.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm/attached.h"

#define EXPORT __attribute__((visibility("default")))
#define PAGE   4096

EXPORT struct ht_attached heaptop_attached = {
	.magic = HT_ATTACHED_MAGIC,
	.version = HT_ATTACHED_VERSION,
	.bytes = sizeof(struct ht_attached),
};
EXPORT int heaptop_attach(struct ht_attached *a);
EXPORT int heaptop_detach(struct ht_attached *a);

static __thread struct {
	unsigned char part[64];
} state __attribute__((tls_model("initial-exec")));

static int64_t distance(const void *at)
{
	uintptr_t self;

	__asm__("mov %%fs:0,%0" : "=r"(self));
	return (int64_t)((uintptr_t)at - self);
}

static void *map_at(uintptr_t at)
{
	void *p = mmap((void *)(at & ~(uintptr_t)(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Near libc: the jump has 32 bits. */
static uint8_t *near(uintptr_t to)
{
	void *p = NULL;

	for (uintptr_t far = 64u << 20; far < 1u << 30 && !p; far += 1u << 20) {
		p = map_at(to - far);
		if (!p)
			p = map_at(to + far);
	}
	return p;
}

static void jump(uint8_t *out, uintptr_t from, uintptr_t to)
{
	int32_t far = (int32_t)(to - from - 5);

	out[0] = 0xe9;
	memcpy(out + 1, &far, sizeof(far));
}

/* The pad: getppid's displaced instructions and a jump behind them, then `mov $39, %eax` (getpid)
 * and a jump behind them, too. */
static int patch(struct ht_attached *a, const uint8_t *function)
{
	unsigned skip = function[0] == 0xf3 ? 4 : 0;
	struct ht_attached_jump *j = &a->jump[0];
	uint8_t *pad = near((uintptr_t)function);

	if (!pad || function[skip] != 0xb8)
		return -ENOTSUP;
	memset(j->moved, 255, sizeof(j->moved));
	j->at = (uintptr_t)function;
	j->pad = (uintptr_t)pad;
	j->displaced = (uint8_t)(skip + 5);
	j->moved[0] = 0;
	j->moved[skip] = (uint8_t)skip;
	memcpy(j->before, function, 5);
	memcpy(pad, function, j->displaced);
	jump(pad + j->displaced, (uintptr_t)pad + j->displaced, (uintptr_t)function + j->displaced);
	memcpy(pad + 64, "\xb8\x27\0\0\0", 5);
	jump(pad + 69, (uintptr_t)pad + 69, (uintptr_t)function + j->displaced);
	jump(j->jump, j->at, (uintptr_t)pad + 64);
	mprotect(pad, PAGE, PROT_READ | PROT_EXEC);
	a->pads = (uintptr_t)pad;
	a->pads_bytes = PAGE;
	a->jumps = 1;
	return 0;
}

int heaptop_attach(struct ht_attached *a)
{
	a->busy_at = distance(state.part);
	a->inside_at = distance(state.part + 8);
	a->state_at = distance(state.part);
	a->state_bytes = sizeof(state.part);
	a->result = a->jumps ? 0 : patch(a, dlsym(RTLD_DEFAULT, "getppid"));
	strcpy(a->why, a->result ? "not so" : "");
	if (strcmp(a->segment, "refuse") == 0) {
		a->result = -ESTALE;
		strcpy(a->why, "as asked");
	}
	if (a->result == 0)
		a->state = HT_ATTACHED_PREPARED;
	return a->result;
}

int heaptop_detach(struct ht_attached *a)
{
	a->result = 0;
	a->state = HT_ATTACHED_RELEASED;
	return 0;
}
