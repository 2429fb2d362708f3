/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Catching a thread at its allocator's entry (park.h). Any thread of the process makes the system
 * calls that map the pad; the pad stays, unused, and the next viewer finds it by its
 * identification.
 */
#include "src/attach/park.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "preload/patch/place.h"
#include "preload/patch/relocate.h"
#include "src/attach/jumps.h"
#include "src/attach/loader.h"
#include "src/attach/park_pad.h"
#include "src/attach/prove.h"
#include "src/trace/stack.h"
#include "src/util/clock.h"

#define PARK_MS	     50u /* longer than it takes us to stop the process, on a busy machine, too */
#define PARK_MOST    16u /* times as long, where we have come too late */
#define CALIBRATE_NS 2000000
#define FUNCTION_MOST                                                                              \
	(64u << 10) /* bytes of an allocator's entry that are searched for branches                \
		     */

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static const char magic[] = PARK_PAD_MAGIC;

_Static_assert(ATTACH_PARK_ENTRIES == PARK_PAD_ENTRIES, "the same ones");

/* ---- what is there ---- */

static bool head_read(const struct attach_process *p, uint64_t at, struct park_pad_head *head)
{
	return trace_memory_read(&p->memory, at, head, sizeof(*head)) &&
	       memcmp(head->magic, magic, sizeof(magic)) == 0 && head->entries <= PARK_PAD_ENTRIES;
}

/* A killed viewer's, or our own of an earlier time. 0: none. */
static uint64_t pad_find(const struct attach_process *p, struct park_pad_head *head)
{
	for (size_t i = 0; i < p->image.maps; i++) {
		const struct trace_map *m = &p->image.map[i];

		if (m->executes && m->reads && m->inode == 0 && m->path[0] == '\0' &&
			m->end - m->start >= PARK_PAD_CODE && head_read(p, m->start, head))
			return m->start;
	}
	return 0;
}

static bool is_jump_there(const struct attach_process *p, const struct park_pad_entry *e)
{
	uint8_t is[sizeof(e->jump)];

	return trace_memory_read(&p->memory, e->at, is, sizeof(is)) &&
	       memcmp(is, e->jump, sizeof(is)) == 0;
}

bool attach_park_is_left(const struct attach_process *p)
{
	struct park_pad_head head;
	bool left = false;

	if (pad_find(p, &head))
		for (uint32_t i = 0; i < head.entries; i++)
			left |= is_jump_there(p, &head.entry[i]);
	return left;
}

int attach_park_clear_left(const struct attach_process *p)
{
	struct park_pad_head head;
	int rc = 0;

	if (!pad_find(p, &head))
		return 0;
	for (uint32_t i = 0; i < head.entries; i++) {
		const struct park_pad_entry *e = &head.entry[i];

		if (is_jump_there(p, e) &&
			!trace_memory_write(&p->memory, e->at, e->before, sizeof(e->before)))
			rc = -EFAULT;
	}
	return rc;
}

uint64_t attach_park_bytes(const struct attach_process *p)
{
	struct park_pad_head head;

	return pad_find(p, &head) ? PARK_PAD_BYTES : 0;
}

/* ---- the pad ---- */

/* The program's own allocator: the executable's, or another module's, or else libc's. */
static const struct trace_module *allocator_find(const struct attach_process *p)
{
	struct trace_symbol s;

	for (size_t i = 0; i < p->image.modules; i++) {
		const struct trace_module *m = &p->image.module[i];

		if (m != p->libc && m != p->loader && m != p->library && !m->apart &&
			trace_image_symbol(&p->image, m, "malloc", &s))
			return m;
	}
	return p->libc;
}

static struct trace_thread *thread_choose(struct attach_job *j, struct trace_stop *s)
{
	for (size_t i = 0; i < s->count; i++) {
		if (attach_prove_may_call(&j->process, &s->thread[i], 0))
			return &s->thread[i];
	}
	return NULL;
}

/* Whether a viewer was killed when it had mapped the pad here, and written nothing. */
static bool is_begun(const struct attach_process *p, uint64_t at)
{
	const struct trace_map *m = trace_image_map(&p->image, at);
	const struct trace_map *data = trace_image_map(&p->image, at + PARK_PAD_CODE);
	struct park_pad_head head, none = { 0 };

	return m && data && m->start == at && m->inode == 0 && m->path[0] == '\0' && m->executes &&
	       !m->writes &&
	       (m->end == at + PARK_PAD_BYTES ||
		       (m->end == at + PARK_PAD_CODE && data->writes && data->inode == 0)) &&
	       trace_memory_read(&p->memory, at, &head, sizeof(head)) &&
	       memcmp(&head, &none, sizeof(head)) == 0;
}

/* -errno, or its address. `begun`: it is mapped. */
static long pad_map_at(struct trace_remote *r, uint64_t at, bool begun)
{
	const uint64_t map[TRACE_REMOTE_ARGS] = { at, PARK_PAD_BYTES, PROT_READ | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, (uint64_t)-1, 0 };
	const uint64_t protect[TRACE_REMOTE_ARGS] = { at + PARK_PAD_CODE, PARK_PAD_DATA,
		PROT_READ | PROT_WRITE };
	const uint64_t wipe[TRACE_REMOTE_ARGS] = { at + PARK_PAD_CODE, PARK_PAD_DATA,
		MADV_WIPEONFORK };
	const uint64_t unmap[TRACE_REMOTE_ARGS] = { at, PARK_PAD_BYTES };
	long rc = begun ? (long)at : trace_remote_syscall(r, SYS_mmap, map);

	if (rc >= 0 && (uint64_t)rc != at)
		return -EEXIST; /* before Linux 4.17: elsewhere */
	if (rc >= 0)
		rc = trace_remote_syscall(r, SYS_mprotect, protect);
	if (rc >= 0)
		rc = trace_remote_syscall(r, SYS_madvise, wipe);
	if (rc < 0 && rc != -EEXIST)
		trace_remote_syscall(r, SYS_munmap, unmap);
	return rc;
}

static bool is_free(const struct attach_process *p, uint64_t at)
{
	for (size_t i = 0; i < p->image.maps; i++)
		if (p->image.map[i].start < at + PARK_PAD_BYTES && p->image.map[i].end > at)
			return false;
	return true;
}

static int pad_map(struct attach_park *k, struct attach_job *j, struct trace_stop *s,
	const struct trace_module *near)
{
	struct trace_thread *t = thread_choose(j, s);
	struct place place = { near->start, near->end, PARK_PAD_BYTES, 0 };
	struct trace_remote r;
	uint64_t at;
	long rc = t ? trace_remote_begin(
			      &r, s, t, &j->process.memory, &j->process.code, j->process.filtered)
		    : -EAGAIN;

	if (rc != 0)
		return (int)rc;
	rc = -ENOMEM;
	while (rc < 0 && !r.lost && place_next(&place, &at))
		if (is_free(&j->process, at) || is_begun(&j->process, at))
			rc = pad_map_at(&r, at, is_begun(&j->process, at));
	if (!trace_remote_end(&r) && rc >= 0)
		rc = -EIO;
	k->pad = rc >= 0 ? at : 0;
	return rc >= 0 ? 0 : (int)rc;
}

/* Whether a thread is in an old pad, or will come back to it. */
static bool is_in_use(const struct attach_process *p, const struct trace_stop *s, uint64_t pad)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct trace_thread *t = &s->thread[i];

		if (t->state == TRACE_THREAD_STOPPED &&
			(t->regs.rip - pad < PARK_PAD_CODE ||
				trace_stack_has(&p->image, t, pad, pad + PARK_PAD_CODE)))
			return true;
	}
	return false;
}

/* ---- its content ---- */

static uint64_t ticks_of(uint64_t ms)
{
	const struct timespec pause = { .tv_nsec = CALIBRATE_NS };
	uint64_t from = clock_monotonic_ns(), ticks = __builtin_ia32_rdtsc();

	nanosleep(&pause, NULL);
	ticks = __builtin_ia32_rdtsc() - ticks;
	return ticks * (ms * 1000000) / (clock_monotonic_ns() - from);
}

int attach_park_begin(struct attach_park *k)
{
	*k = (struct attach_park){ .limit = ticks_of(PARK_MS), .list = malloc(sizeof(*k->list)) };
	k->limit_most = k->limit * PARK_MOST;
	return k->list ? 0 : -ENOMEM;
}

static void entry_add(struct attach_park *k, const struct attach_job *j,
	const struct trace_symbol *s, uint8_t *code)
{
	const struct attach_process *p = &j->process;
	struct park_pad_head *head = (struct park_pad_head *)code;
	const struct park_pad_outside outside = { { p->libc->start, p->loader->start },
		{ p->libc->end - p->libc->start, p->loader->end - p->loader->start } };
	uint8_t *function = malloc(FUNCTION_MOST);
	const char *why;
	size_t readable;

	if (function && head->entries < PARK_PAD_ENTRIES) {
		readable = trace_memory_some(&p->memory, s->at, function, FUNCTION_MOST);
		if (s->bytes <= readable &&
			park_pad_entry_make(code, k->pad, head->entries, s->at, function, s->bytes,
				readable, &outside, &head->entry[head->entries], &why))
			k->function[head->entries++] = s->at;
	}
	free(function);
}

/* An allocator's, and those by which a program enters the loader: one may do nothing else. */
static void entries_add(struct attach_park *k, const struct attach_job *j,
	const struct trace_module *m, uint8_t *code)
{
	static const char *const names[] = { "malloc", "calloc", "realloc", "free" };
	static const char *const loads[] = { "dlopen", "dlclose" };
	struct trace_symbol s;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (trace_image_symbol(&j->process.image, m, names[i], &s))
			entry_add(k, j, &s, code);
	for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++)
		if (attach_loader_symbol(&j->process, loads[i], &s))
			entry_add(k, j, &s, code);
}

/* The same in the form in which jumps are written. */
static void list_make(struct attach_park *k, const struct park_pad_head *head)
{
	memset(k->list, 0, sizeof(*k->list));
	k->list->jumps = head->entries;
	for (uint32_t i = 0; i < head->entries; i++) {
		struct ht_attached_jump *to = &k->list->jump[i];

		to->at = head->entry[i].at;
		memcpy(to->before, head->entry[i].before, sizeof(to->before));
		memcpy(to->jump, head->entry[i].jump, sizeof(to->jump));
		memset(to->moved, 255, sizeof(to->moved)); /* who stands there is waited for */
	}
}

static int pad_fill(struct attach_park *k, struct attach_job *j, const struct trace_module *m)
{
	uint8_t *code = calloc(1, PARK_PAD_CODE);
	struct park_pad_head *head = (struct park_pad_head *)code;
	struct park_pad_data data = { .armed = 1, .limit = k->limit };
	int rc = 0;

	if (!code)
		return -ENOMEM;
	memcpy(head->magic, magic, sizeof(magic));
	entries_add(k, j, m, code);
	if (head->entries == 0)
		rc = -ENOTSUP;
	else if (!trace_memory_write(&j->process.memory, k->pad, code, PARK_PAD_CODE) ||
		 !trace_memory_write(
			 &j->process.memory, k->pad + PARK_PAD_CODE, &data, sizeof(data)))
		rc = -EFAULT;
	list_make(k, head);
	free(code);
	return rc;
}

int attach_park_set(struct attach_park *k, struct attach_job *j, struct trace_stop *s)
{
	const struct trace_module *m = allocator_find(&j->process);
	struct place reach = { m->start, m->end, PARK_PAD_BYTES, 0 };
	struct park_pad_head head;
	int rc = 0;

	k->pad = pad_find(&j->process, &head);
	if (k->pad && !place_is_near(&reach, k->pad))
		k->pad = 0;
	if (k->pad && is_in_use(&j->process, s, k->pad))
		return -EAGAIN;
	if (!k->pad)
		rc = pad_map(k, j, s, m);
	if (rc == 0)
		rc = pad_fill(k, j, m);
	if (rc == 0)
		rc = attach_jumps_write(&j->process, s, k->list);
	k->armed = rc == 0;
	if (rc != 0 && rc != -EAGAIN)
		attach_phase_refuse(j, rc,
			"none of its threads can be used, and its allocator cannot be patched: %s",
			rc == -ENOTSUP ? "its first instructions are not understood"
				       : strerror(-rc));
	return rc;
}

bool attach_park_arrived(const struct attach_park *k, const struct attach_job *j)
{
	struct park_pad_data data;

	return trace_memory_read(&j->process.memory, k->pad + PARK_PAD_CODE, &data, sizeof(data)) &&
	       data.arrived != 0;
}

void attach_park_arm(const struct attach_park *k, const struct attach_job *j, bool arm)
{
	uint32_t word = arm;

	(void)trace_memory_write(&j->process.memory,
		k->pad + PARK_PAD_CODE + offsetof(struct park_pad_data, armed), &word,
		sizeof(word));
}

/* Nobody waits: a handler may have left by longjmp, or we came too late. Then the next waits
 * longer. */
static void missed(struct attach_park *k, const struct attach_job *j)
{
	struct park_pad_data none = { 0 };

	k->limit = k->limit * 2 < k->limit_most ? k->limit * 2 : k->limit_most;
	none.limit = k->limit;
	(void)trace_memory_write(&j->process.memory, k->pad + PARK_PAD_CODE, &none, sizeof(none));
}

struct trace_thread *attach_park_find(struct attach_park *k, const struct attach_job *j,
	struct trace_stop *s, struct user_regs_struct *regs)
{
	bool arrived = attach_park_arrived(k, j);
	unsigned number;

	for (size_t i = 0; i < s->count; i++) {
		struct trace_thread *t = &s->thread[i];

		if (t->state != TRACE_THREAD_STOPPED ||
			!park_pad_is_waiting(k->pad, t->regs.rip, &number) ||
			number >= k->list->jumps)
			continue;
		*regs = t->regs;
		regs->rip = k->function[number];
		return t;
	}
	if (arrived || k->caught)
		missed(k, j);
	k->caught = false;
	return NULL;
}

int attach_park_clear(struct attach_park *k, const struct attach_job *j)
{
	if (!k->armed)
		return 0;
	k->armed = false;
	return attach_jumps_clear(&j->process, k->list);
}

void attach_park_free(struct attach_park *k)
{
	free(k->list);
	*k = (struct attach_park){ 0 };
}
