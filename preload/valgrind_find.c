/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds and patches client requests (valgrind_find.h). The code is searched in its file: in memory,
 * each page that is read would count as the program's.
 */
#include "preload/valgrind_find.h"

#ifdef __x86_64__

#include <emmintrin.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "preload/call.h"
#include "preload/environment.h"
#include "preload/inner_memory.h"
#include "preload/jumps.h"
#include "preload/state.h"
#include "preload/valgrind_thunk.h"
#include "shm/private.h"

#define REQUEST_BYTES 19u
#define LAST	      (REQUEST_BYTES - 1)
#define CALL_AT	      5u /* where the call is in what replaces a request */
#define CALL_BYTES    5u
#define PIECE_BYTES   65536u /* read at a time */
#define BEYOND	      32u /* ends() reads beyond a piece */

/* rol $3, %rdi; rol $13, %rdi; rol $61, %rdi; rol $51, %rdi; xchg %rbx, %rbx */
static const uint8_t request[REQUEST_BYTES] = { 0x48, 0xc1, 0xc7, 0x03, 0x48, 0xc1, 0xc7, 0x0d,
	0x48, 0xc1, 0xc7, 0x3d, 0x48, 0xc1, 0xc7, 0x33, 0x48, 0x87, 0xdb };
/* lea -128(%rsp), %rsp; call PAD; lea 128(%rsp), %rsp; nop: a function may have data in the 128
 * bytes below its stack pointer. */
static const uint8_t replacement[REQUEST_BYTES] = { 0x48, 0x8d, 0x64, 0x24, 0x80, 0xe8, 0, 0, 0, 0,
	0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0, 0x90 };
/* jmp *(%rip), and the address. */
static const uint8_t pad_head[] = { 0xff, 0x25, 0, 0, 0, 0 };

static bool is_on;

/* Under Valgrind itself the requests are its own: asks it, by the request RUNNING_ON_VALGRIND. */
static bool is_on_valgrind(void)
{
	const volatile uint64_t arg[6] = { 0x1001 };
	uint64_t answer = 0;

	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(arg)
			 : "cc", "memory");
	return answer != 0;
}

void valgrind_find_start(void)
{
	const char *choice = environment_variable("HEAPTOP_REQUESTS");

	if (!choice || __builtin_strcmp(choice, "1") != 0 || is_on_valgrind())
		return;
	valgrind_thunk_start();
	is_on = true;
}

/* One object while it is searched. */
struct search {
	const struct inner_object *object;
	long fd;
	uint8_t *piece; /* PIECE_BYTES of the file */
	uint8_t *pad; /* NULL: none is made yet */
	struct entry_memory memory;
	bool failed;
};

/* ---- patching ---- */

static bool pad_make(struct search *s)
{
	uint64_t thunk = (uint64_t)(uintptr_t)valgrind_thunk;
	void *pad;

	segment_extents_narrow(&state_segment);
	pad = inner_memory_pads(s->object->start, s->object->end, sizeof(pad_head) + sizeof(thunk));
	if (!pad)
		return false;
	__builtin_memcpy(pad, pad_head, sizeof(pad_head));
	__builtin_memcpy((uint8_t *)pad + sizeof(pad_head), &thunk, sizeof(thunk));
	if (inner_memory_seal(pad) != 0) {
		inner_memory_release(pad);
		return false;
	}
	s->pad = pad;
	s->memory = inner_memory_open();
	return true;
}

/* The call is listed as a jump, so that a viewer can take it out to detach: a nop of its length
 * stays. One beyond the list's room stays, and does nothing then. */
static void call_list(const struct search *s, uint64_t at, const uint8_t call_bytes[CALL_BYTES])
{
	static const uint8_t nop[CALL_BYTES] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	struct entry e = {
		.at = at, .original = (uint64_t)(uintptr_t)s->pad, .displaced = CALL_BYTES
	};

	__builtin_memcpy(e.before, nop, CALL_BYTES);
	__builtin_memcpy(e.jump, call_bytes, CALL_BYTES);
	__builtin_memset(e.moved, RELOCATE_NOWHERE, sizeof(e.moved));
	(void)jumps_add(&e);
}

/* Patches the request that the file has at this address, if memory has it, too. */
static void patch(struct search *s, uint64_t at)
{
	uint8_t new[REQUEST_BYTES];
	int32_t distance;

	if (__builtin_memcmp((const void *)(uintptr_t)at, request, REQUEST_BYTES) != 0)
		return;
	s->failed = s->failed || (!s->pad && !pad_make(s));
	if (s->failed)
		return;
	__builtin_memcpy(new, replacement, REQUEST_BYTES);
	distance = (int32_t)((uint64_t)(uintptr_t)s->pad - (at + CALL_AT + CALL_BYTES));
	__builtin_memcpy(new + CALL_AT + 1, &distance, sizeof(distance));
	call_list(s, at + CALL_AT, new + CALL_AT);
	(void)s->memory.write(s->memory.of, at, new, REQUEST_BYTES);
}

/* ---- searching ---- */

/* Where in 16 bytes the last two bytes of a request are, which are rare: a bit for each. */
static unsigned ends(const uint8_t *at)
{
	__m128i a = _mm_loadu_si128((const __m128i *)(const void *)at),
		b = _mm_loadu_si128((const __m128i *)(const void *)(at + 1)),
		both = _mm_and_si128(_mm_cmpeq_epi8(a, _mm_set1_epi8((char)request[LAST - 1])),
			_mm_cmpeq_epi8(b, _mm_set1_epi8((char)request[LAST])));

	return (unsigned)_mm_movemask_epi8(both);
}

/* Searches `bytes` bytes of the piece, which are at `at` in memory. What is beyond them there is of
 * an earlier piece, and not in memory where this says. */
static void piece_search(struct search *s, uint64_t at, size_t bytes)
{
	const uint8_t *piece = s->piece;

	for (size_t i = 0; i < bytes; i += 16)
		for (unsigned found = ends(piece + i); found != 0; found &= found - 1) {
			size_t end = i + (unsigned)__builtin_ctz(found) + 2;

			if (end >= REQUEST_BYTES && end <= bytes &&
				__builtin_memcmp(
					piece + end - REQUEST_BYTES, request, REQUEST_BYTES) == 0)
				patch(s, at + end - REQUEST_BYTES);
		}
}

/* Pieces overlap, so that each request is whole in one. */
static void segment_search(struct search *s, const ElfW(Phdr) * ph)
{
	uint64_t done = 0;

	while (done + REQUEST_BYTES <= ph->p_filesz && !s->failed) {
		uint64_t left = ph->p_filesz - done;
		long got = call(SYS_pread64, s->fd, call_pointer(s->piece),
			left < PIECE_BYTES ? (long)left : (long)PIECE_BYTES,
			(long)(ph->p_offset + done), 0);

		if (got < (long)REQUEST_BYTES)
			return;
		piece_search(s, s->object->bias + ph->p_vaddr + done, (size_t)got);
		done += (uint64_t)got - LAST;
	}
}

static void object_search(struct search *s)
{
	const struct inner_object *o = s->object;
	const char *path = o->is_executable ? "/proc/self/exe" : o->path;

	s->fd = call(SYS_openat, AT_FDCWD, call_pointer(path), O_RDONLY | O_CLOEXEC, 0, 0);
	if (s->fd < 0)
		return;
	for (unsigned i = 0; i < o->info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &o->info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X)
			segment_search(s, ph);
	}
	call(SYS_close, s->fd, 0, 0, 0, 0);
	if (s->pad)
		inner_memory_close(&s->memory);
}

void valgrind_find(const struct inner_object *o)
{
	struct search s = { .object = o };

	if (!is_on || o->code_relocated)
		return;
	s.piece = private_map(PIECE_BYTES + BEYOND);
	if (!s.piece)
		return;
	object_search(&s);
	private_unmap(s.piece, PIECE_BYTES + BEYOND);
}

#else

void valgrind_find_start(void)
{
}

void valgrind_find(const struct inner_object *o)
{
}

#endif
