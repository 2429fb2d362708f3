/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What code compiled with -fsanitize=thread calls for each of its accesses, leading into memory.c
 * instead of the sanitizer's library. The names are those of the interface between compiler and
 * library (LLVM compiler-rt, tsan_interface.h and tsan_interface_atomic.h).
 */
#include <stdlib.h>
#include <string.h>

#include "tests/model/engine.h"

/* The compiler's numbers for memory orders: __ATOMIC_RELAXED is 0, ..., __ATOMIC_SEQ_CST is 5. */
static unsigned order_of(int order)
{
	static const unsigned orders[] = { ENGINE_RELAXED, ENGINE_ACQUIRE, ENGINE_ACQUIRE,
		ENGINE_RELEASE, ENGINE_ACQUIRE | ENGINE_RELEASE, ENGINE_ACQUIRE | ENGINE_RELEASE };

	return orders[order];
}

static uint64_t add(uint64_t old, uint64_t operand)
{
	return old + operand;
}

static uint64_t or_(uint64_t old, uint64_t operand)
{
	return old | operand;
}

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

#define PLAIN(SIZE)                                                                                \
	void __tsan_read##SIZE(void *at);                                                          \
	void __tsan_read##SIZE(void *at)                                                           \
	{                                                                                          \
		memory_plain_read(at, SIZE);                                                       \
	}                                                                                          \
	void __tsan_write##SIZE(void *at);                                                         \
	void __tsan_write##SIZE(void *at)                                                          \
	{                                                                                          \
		memory_plain_write(at, SIZE);                                                      \
	}                                                                                          \
	void __tsan_unaligned_read##SIZE(void *at);                                                \
	void __tsan_unaligned_read##SIZE(void *at)                                                 \
	{                                                                                          \
		memory_plain_read(at, SIZE);                                                       \
	}                                                                                          \
	void __tsan_unaligned_write##SIZE(void *at);                                               \
	void __tsan_unaligned_write##SIZE(void *at)                                                \
	{                                                                                          \
		memory_plain_write(at, SIZE);                                                      \
	}                                                                                          \
	void __tsan_read_write##SIZE(void *at);                                                    \
	void __tsan_read_write##SIZE(void *at)                                                     \
	{                                                                                          \
		memory_plain_read(at, SIZE);                                                       \
		memory_plain_write(at, SIZE);                                                      \
	}

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *at, unsigned long size);
void __tsan_read_range(void *at, unsigned long size)
{
	memory_plain_read(at, size);
}

void __tsan_write_range(void *at, unsigned long size);
void __tsan_write_range(void *at, unsigned long size)
{
	memory_plain_write(at, size);
}

#define ATOMIC(BITS, T)                                                                            \
	T __tsan_atomic##BITS##_load(const T *at, int order);                                      \
	T __tsan_atomic##BITS##_load(const T *at, int order)                                       \
	{                                                                                          \
		return (T)memory_load(at, sizeof(T), order_of(order));                             \
	}                                                                                          \
	void __tsan_atomic##BITS##_store(T *at, T value, int order);                               \
	void __tsan_atomic##BITS##_store(T *at, T value, int order)                                \
	{                                                                                          \
		memory_store(at, sizeof(T), value, order_of(order));                               \
	}                                                                                          \
	T __tsan_atomic##BITS##_fetch_add(T *at, T value, int order);                              \
	T __tsan_atomic##BITS##_fetch_add(T *at, T value, int order)                               \
	{                                                                                          \
		return (T)memory_change(at, sizeof(T), add, value, order_of(order));               \
	}                                                                                          \
	T __tsan_atomic##BITS##_fetch_or(T *at, T value, int order);                               \
	T __tsan_atomic##BITS##_fetch_or(T *at, T value, int order)                                \
	{                                                                                          \
		return (T)memory_change(at, sizeof(T), or_, value, order_of(order));               \
	}                                                                                          \
	int __tsan_atomic##BITS##_compare_exchange_strong(                                         \
		T *at, T *expected, T value, int success, int failure);                            \
	int __tsan_atomic##BITS##_compare_exchange_strong(                                         \
		T *at, T *expected, T value, int success, int failure)                             \
	{                                                                                          \
		uint64_t old = *expected;                                                          \
		bool done = memory_swap(                                                           \
			at, sizeof(T), &old, value, order_of(success), order_of(failure));         \
                                                                                                   \
		*expected = (T)old;                                                                \
		return done;                                                                       \
	}                                                                                          \
	T __tsan_atomic##BITS##_compare_exchange_val(                                              \
		T *at, T expected, T value, int success, int failure);                             \
	T __tsan_atomic##BITS##_compare_exchange_val(                                              \
		T *at, T expected, T value, int success, int failure)                              \
	{                                                                                          \
		uint64_t old = expected;                                                           \
                                                                                                   \
		memory_swap(at, sizeof(T), &old, value, order_of(success), order_of(failure));     \
		return (T)old;                                                                     \
	}

ATOMIC(8, uint8_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	memory_fence(order_of(order));
}

/* Between a thread and its signal handler; there are none here. */
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}

/* The compilers leave copies to the library; the build renames the calls (objcopy
 * --redefine-sym). */
void *model_memcpy(void *to, const void *from, size_t bytes);
void *model_memcpy(void *to, const void *from, size_t bytes)
{
	memory_plain_read(from, bytes);
	memory_plain_write(to, bytes);
	return memcpy(to, from, bytes);
}
