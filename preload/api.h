/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions that heaptop.h's inline functions call if this library is loaded. Their C ABI
 * never changes: programs that were built with an older heaptop.h call them as well. Any thread.
 * errno is kept.
 */
#ifndef PRELOAD_API_H
#define PRELOAD_API_H

#include <stddef.h>

/* Whether this process is being recorded. */
int heaptop_api_is_on(void);
void heaptop_api_mark(const char *name);
void heaptop_api_scan(void);
void heaptop_api_snapshot(void);
void heaptop_api_thread_name(const char *name);
void heaptop_api_leak_intended(const void *p);
void heaptop_api_block_alloc(const void *p, size_t bytes);
void heaptop_api_block_free(const void *p);
void heaptop_api_pool_reset(const void *start, size_t bytes);
void heaptop_api_pause(void);
void heaptop_api_resume(void);

/* LeakSanitizer's interface (sanitizer/lsan_interface.h), for programs that have it. */
void __lsan_ignore_object(const void *p);
void __lsan_disable(void);
void __lsan_enable(void);
void __lsan_do_leak_check(void);
int __lsan_do_recoverable_leak_check(void);

#endif
