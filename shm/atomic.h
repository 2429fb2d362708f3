/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only file that names memory orders. Objects in the segment are plain integers. Every access
 * that another thread or process may race with goes through one of these, and the order is in the
 * function's name. Source: ISO C11 7.17, through the compiler's __atomic built-ins, which work on
 * plain objects and need no library for naturally aligned words up to 8 bytes.
 *
 * tests/model runs the code that uses them, unchanged, under a search over all interleavings.
 */
#ifndef SHM_ATOMIC_H
#define SHM_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The hot path of malloc and free is one piece of code. */
#define HT_HOT static inline __attribute__((always_inline))

/*
 * i386 loads and stores 8 bytes at once by SSE2 only, which every processor has that runs a 64-bit
 * kernel. The compiler does not use it here: a program's stack may be aligned to 4 bytes, and its
 * own way, the x87 registers, is closed to a program in the middle of MMX code. So no register is
 * taken from it. "memory" makes either an acquire and a release; x86 orders the rest.
 */
#if defined(__i386__) && !defined(__SSE__)
static inline uint64_t ht_load_whole(const void *p)
{
	uint64_t v;

	__asm__ volatile("movq %1, %%xmm7\n\tmovq %%xmm7, %0"
			 : "=m"(v)
			 : "m"(*(const uint64_t *)p)
			 : "memory");
	return v;
}

static inline void ht_store_whole(void *p, uint64_t v)
{
	__asm__ volatile("movq %1, %%xmm7\n\tmovq %%xmm7, %0"
			 : "=m"(*(uint64_t *)p)
			 : "m"(v)
			 : "memory");
}
#define HT_LOAD(p, order)                                                                          \
	(sizeof(*(p)) == 8 ? ht_load_whole(p) : (uint64_t)__atomic_load_n(p, order))
#define HT_STORE(p, v, order)                                                                      \
	(sizeof(*(p)) == 8 ? ht_store_whole(p, v) : __atomic_store_n(p, v, order))
#else
#define HT_LOAD(p, order)     __atomic_load_n(p, order)
#define HT_STORE(p, v, order) __atomic_store_n(p, v, order)
#endif

/* Words of 8 bytes lie at multiples of 8, which i386 does not demand of its own: without that clang
 * would call a library. */
typedef uint8_t ht_aligned_8;
typedef uint32_t ht_aligned_32;
typedef uint64_t ht_aligned_64 __attribute__((aligned(8)));

/* clang-format off */
#define HT_ATOMIC_TYPE(T, S)                                                                       \
	static inline T ht_load_relaxed_##S(const T *p) { return (T)HT_LOAD(p, __ATOMIC_RELAXED); }  \
	static inline T ht_load_acquire_##S(const T *p) { return (T)HT_LOAD(p, __ATOMIC_ACQUIRE); }  \
	static inline void ht_store_relaxed_##S(T *p, T v) { HT_STORE(p, v, __ATOMIC_RELAXED); }  \
	static inline void ht_store_release_##S(T *p, T v) { HT_STORE(p, v, __ATOMIC_RELEASE); }  \
	static inline T ht_add_relaxed_##S(T *p, T v) { return __atomic_fetch_add((ht_aligned_##S *)p, v, __ATOMIC_RELAXED); } \
	static inline T ht_or_relaxed_##S(T *p, T v) { return __atomic_fetch_or((ht_aligned_##S *)p, v, __ATOMIC_RELAXED); }  \
	/* Acquires on success and on failure; *expected gets the value found. */                     \
	static inline bool ht_cas_acquire_##S(T *p, T *expected, T v)                                     \
	{ return __atomic_compare_exchange_n((ht_aligned_##S *)p, expected, v, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE); } \
	/* Releases on success; acquires both ways. */                                                \
	static inline bool ht_cas_acq_rel_##S(T *p, T *expected, T v)                                     \
	{ return __atomic_compare_exchange_n((ht_aligned_##S *)p, expected, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); } \
	static inline bool ht_cas_relaxed_##S(T *p, T *expected, T v)                                     \
	{ return __atomic_compare_exchange_n((ht_aligned_##S *)p, expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); }
/* clang-format on */

HT_ATOMIC_TYPE(uint8_t, 8)
HT_ATOMIC_TYPE(uint32_t, 32)
HT_ATOMIC_TYPE(uint64_t, 64)
#undef HT_ATOMIC_TYPE

/* For a pointer that is published once, after the data that it points to. */
#define ht_load_acquire_pointer(p)     __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define ht_store_release_pointer(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define ht_cas_acq_rel_pointer(p, expected, v)                                                     \
	__atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/* Adds where no other thread writes, but a signal handler of this thread may, between any two
 * instructions. So it is one instruction, though not a locked one. The second returns the old
 * value. */
static inline void ht_add_alone_64(uint64_t *p, uint64_t v)
{
#ifdef __x86_64__
	__asm__("addq %1, %0" : "+m"(*p) : "er"(v) : "cc");
#else
	ht_add_relaxed_64(p, v);
#endif
}

static inline uint64_t ht_take_add_alone_64(uint64_t *p, uint64_t v)
{
#ifdef __x86_64__
	__asm__("xaddq %0, %1" : "+r"(v), "+m"(*p) : : "cc");
	return v;
#else
	return ht_add_relaxed_64(p, v);
#endif
}

/* Adds where only this thread ever writes. A load and a store would do; one instruction is also
 * atomic to a signal handler. The sanitizer, and the model checker that replaces it, cannot see
 * assembly. */
#if defined(__SANITIZE_THREAD__)
#define HT_SEEN_BY_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HT_SEEN_BY_SANITIZER 1
#endif
#endif
static inline void ht_add_own_64(uint64_t *p, uint64_t v)
{
#if defined(__x86_64__) && !defined(HT_SEEN_BY_SANITIZER)
	__asm__("addq %1, %0" : "+m"(*p) : "er"(v) : "cc");
#else
	HT_STORE(p, HT_LOAD(p, __ATOMIC_RELAXED) + v, __ATOMIC_RELAXED);
#endif
}

/* Clears bits where only this thread writes. As ht_add_own_64: one instruction, as a plain store
 * is. */
static inline void ht_clear_own_64(uint64_t *p, uint64_t bits)
{
#if defined(__x86_64__) && !defined(HT_SEEN_BY_SANITIZER)
	__asm__("andq %1, %0" : "+m"(*p) : "er"(~bits) : "cc");
#else
	HT_STORE(p, HT_LOAD(p, __ATOMIC_RELAXED) & ~bits, __ATOMIC_RELAXED);
#endif
}

/* Whether a word has this value: for what each hook asks first. Compares in memory, which is one
 * instruction where a load and a comparison are two. x86 keeps loads in order by itself; "memory"
 * keeps the compiler from moving later ones ahead. */
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__) && !defined(HT_SEEN_BY_SANITIZER)
#define HT_EQUALS(T, S, CMP)                                                                       \
	HT_HOT bool ht_equals_acquire_##S(const T *p, T v)                                         \
	{                                                                                          \
		bool equal;                                                                        \
                                                                                                   \
		__asm__ volatile(CMP " %2, %1" : "=@ccz"(equal) : "m"(*p), "qi"(v) : "memory");    \
		return equal;                                                                      \
	}
#else
#define HT_EQUALS(T, S, CMP)                                                                       \
	HT_HOT bool ht_equals_acquire_##S(const T *p, T v)                                         \
	{                                                                                          \
		return ht_load_acquire_##S(p) == v;                                                \
	}
#endif
HT_EQUALS(uint8_t, 8, "cmpb")
HT_EQUALS(uint32_t, 32, "cmpl")
#undef HT_EQUALS

/* Which of `count` words, at most 32, have the value `want` in the bits of `mask`: bit i for word
 * i. The words are aligned to 16 bytes. Each is loaded once, relaxed: one that is to lead to other
 * memory must be loaded again. */
static inline uint32_t ht_match_relaxed_32(
	const uint32_t *p, uint32_t count, uint32_t mask, uint32_t want)
{
	uint32_t matches = 0, i = 0;
#if defined(__SSE2__) && !defined(HT_SEEN_BY_SANITIZER)
	const __m128i masks = _mm_set1_epi32((int)mask), wanted = _mm_set1_epi32((int)want);

	for (; i + 4 <= count; i += 4) {
		__m128i words = *(const volatile __m128i *)(const volatile void *)(p + i);
		__m128i equal = _mm_cmpeq_epi32(_mm_and_si128(words, masks), wanted);

		matches |= (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(equal)) << i;
	}
#endif
	for (; i < count; i++)
		matches |= (uint32_t)((ht_load_relaxed_32(p + i) & mask) == want) << i;
	return matches;
}

/* Keeps stores before it ahead of stores after it, as an acquiring thread sees them. */
static inline void ht_fence_release(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* Keeps loads before it ahead of loads after it. */
static inline void ht_fence_acquire(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* For two sides that each store first and then load the other's store: at least one sees it. */
static inline void ht_fence_full(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Orders accesses as a signal handler on this thread sees them. No instruction. */
static inline void ht_fence_handler(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#endif
