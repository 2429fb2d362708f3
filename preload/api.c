/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions that a program calls through heaptop.h (api.h), and LeakSanitizer's of the same
 * meaning. On any thread of the program, in signal handlers too: no locks.
 */
#include "preload/api.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/clock.h"
#include "preload/lifecycle.h"
#include "preload/record.h"
#include "preload/record_map.h"
#include "preload/recorder.h"
#include "shm/before.h"
#include "shm/note.h"

#define API __attribute__((visibility("default")))

ENTRY(heaptop_api_block_alloc);

#define PAUSES_MAX UINT8_MAX /* nested ones beyond that are not counted, and end too early */

static uint64_t live_bytes(void)
{
	struct recorder *r = state_thread.recorder;

	return before_live(&state_segment, r ? r->slot : 0);
}

static void note(enum ht_note_kind kind, const char *text)
{
	int saved = errno;
	struct note n = { .kind = kind, .text = text };

	state_enter();
	if (lifecycle_on()) {
		n.tid = (uint32_t)syscall(SYS_gettid);
		n.live_bytes = live_bytes();
		n.ns = clock_monotonic();
		note_write(&state_segment, &n);
	}
	state_leave();
	errno = saved;
}

API int heaptop_api_is_on(void)
{
	return lifecycle_on();
}

API void heaptop_api_mark(const char *name)
{
	note(HT_NOTE_MARK, name);
}

API void heaptop_api_scan(void)
{
	note(HT_NOTE_SCAN, NULL);
}

API void heaptop_api_snapshot(void)
{
	note(HT_NOTE_SNAPSHOT, NULL);
}

API void heaptop_api_thread_name(const char *name)
{
	note(HT_NOTE_THREAD, name);
}

API void heaptop_api_leak_intended(const void *p)
{
	int saved = errno;

	state_enter();
	if (p && lifecycle_on()) {
		clock_publish();
		note_intend(&state_segment, (uint64_t)(uintptr_t)p, segment_tick(&state_segment));
	}
	state_leave();
	errno = saved;
}

/* The stack begins at the caller of the inline function, which has called this. */
API void ENTRY_BODY(heaptop_api_block_alloc)(const void *p, size_t bytes)
{
	record_map_pool_alloc(RECORD_FRAME, (uint64_t)(uintptr_t)p, bytes, 0);
}

API void heaptop_api_block_free(const void *p)
{
	record_map_pool_free((uint64_t)(uintptr_t)p);
}

API void heaptop_api_pool_reset(const void *start, size_t bytes)
{
	record_map_pool_reset((uint64_t)(uintptr_t)start, bytes);
}

/* From here on the thread takes the slow path, which hides what it allocates. */
API void heaptop_api_pause(void)
{
	struct state_thread *t = &state_thread;

	if (!lifecycle_on() || t->paused == PAUSES_MAX)
		return;
	t->paused++;
	ht_fence_handler();
	if (t->recorder)
		recorder_set_aside(t->recorder);
}

API void heaptop_api_resume(void)
{
	struct state_thread *t = &state_thread;

	if (t->paused == 0 || --t->paused > 0)
		return;
	ht_fence_handler();
	recorder_take_back();
}

API void __lsan_ignore_object(const void *p)
{
	heaptop_api_leak_intended(p);
}

/* For LeakSanitizer, what is allocated in between is no leak. */
API void __lsan_disable(void)
{
	heaptop_api_pause();
}

API void __lsan_enable(void)
{
	heaptop_api_resume();
}

API void __lsan_do_leak_check(void)
{
	heaptop_api_scan();
}

API int __lsan_do_recoverable_leak_check(void)
{
	heaptop_api_scan();
	return 0;
}
