/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of allocators' functions (inner_list.h). Sources: jemalloc(3); gperftools' tcmalloc.h;
 * mimalloc.h; oneTBB's scalable_allocator.h; the Itanium C++ ABI for operators.
 *
 * A function that allocates by calling another of the list needs no entry: its block is recorded
 * there. One that calls the other's inlined body does; so whatever returns blocks is listed.
 */
#include "preload/inner_list.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/bulk.h"
#include "preload/call.h"
#include "shm/kernel.h"
#include "shm/private.h"

#define C_NAMES(p)                                                                                 \
	p "malloc size=arg1 result=ret\n" p "calloc size=arg1*arg2 result=ret\n" p                 \
	  "realloc free=arg1 size=arg2 result=ret\n" p                                             \
	  "reallocarray free=arg1 size=arg2*arg3 result=ret\n" p "free free=arg1\n" p              \
	  "cfree free=arg1\n" p "free_sized free=arg1\n" p "free_aligned_sized free=arg1\n" p      \
	  "posix_memalign size=arg3 result=*arg1 when ret=0\n" p                                   \
	  "aligned_alloc size=arg2 result=ret\n" p "memalign size=arg2 result=ret\n" p             \
	  "valloc size=arg1 result=ret\n" p "pvalloc size=arg1 result=ret\n"

/* clang-format off */
#define NEW_NAMES                                                                                  \
	"_Znwm size=arg1 result=ret\n"                                                             \
	"_Znam size=arg1 result=ret\n"                                                             \
	"_ZnwmRKSt9nothrow_t size=arg1 result=ret\n"                                               \
	"_ZnamRKSt9nothrow_t size=arg1 result=ret\n"                                               \
	"_ZnwmSt11align_val_t size=arg1 result=ret\n"                                              \
	"_ZnamSt11align_val_t size=arg1 result=ret\n"                                              \
	"_ZnwmSt11align_val_tRKSt9nothrow_t size=arg1 result=ret\n"                                \
	"_ZnamSt11align_val_tRKSt9nothrow_t size=arg1 result=ret\n"                                \
	"_ZdlPv free=arg1\n"                                                                       \
	"_ZdaPv free=arg1\n"                                                                       \
	"_ZdlPvm free=arg1\n"                                                                      \
	"_ZdaPvm free=arg1\n"                                                                      \
	"_ZdlPvRKSt9nothrow_t free=arg1\n"                                                         \
	"_ZdaPvRKSt9nothrow_t free=arg1\n"                                                         \
	"_ZdlPvSt11align_val_t free=arg1\n"                                                        \
	"_ZdaPvSt11align_val_t free=arg1\n"                                                        \
	"_ZdlPvmSt11align_val_t free=arg1\n"                                                       \
	"_ZdaPvmSt11align_val_t free=arg1\n"                                                       \
	"_ZdlPvSt11align_val_tRKSt9nothrow_t free=arg1\n"                                          \
	"_ZdaPvSt11align_val_tRKSt9nothrow_t free=arg1\n"

#define JEMALLOC_NAMES(p)                                                                          \
	p "mallocx size=arg1 result=ret\n"                                                         \
	p "rallocx free=arg1 size=arg2 result=ret\n"                                               \
	p "xallocx free=arg1 size=arg2 result=arg1 when ret>=arg2\n"                               \
	p "dallocx free=arg1\n"                                                                    \
	p "sdallocx free=arg1\n"

#define TCMALLOC_NAMES                                                                             \
	"tc_malloc_skip_new_handler size=arg1 result=ret\n"                                        \
	"tc_new size=arg1 result=ret\n"                                                            \
	"tc_new_nothrow size=arg1 result=ret\n"                                                    \
	"tc_newarray size=arg1 result=ret\n"                                                       \
	"tc_newarray_nothrow size=arg1 result=ret\n"                                               \
	"tc_new_aligned size=arg1 result=ret\n"                                                    \
	"tc_new_aligned_nothrow size=arg1 result=ret\n"                                            \
	"tc_newarray_aligned size=arg1 result=ret\n"                                               \
	"tc_newarray_aligned_nothrow size=arg1 result=ret\n"                                       \
	"tc_delete free=arg1\n"                                                                    \
	"tc_delete_sized free=arg1\n"                                                              \
	"tc_delete_nothrow free=arg1\n"                                                            \
	"tc_deletearray free=arg1\n"                                                               \
	"tc_deletearray_sized free=arg1\n"                                                         \
	"tc_deletearray_nothrow free=arg1\n"                                                       \
	"tc_delete_aligned free=arg1\n"                                                            \
	"tc_delete_sized_aligned free=arg1\n"                                                      \
	"tc_delete_aligned_nothrow free=arg1\n"                                                    \
	"tc_deletearray_aligned free=arg1\n"                                                       \
	"tc_deletearray_sized_aligned free=arg1\n"                                                 \
	"tc_deletearray_aligned_nothrow free=arg1\n"

#define MIMALLOC_NAMES                                                                             \
	"mi_zalloc size=arg1 result=ret\n"                                                         \
	"mi_malloc_small size=arg1 result=ret\n"                                                   \
	"mi_zalloc_small size=arg1 result=ret\n"                                                   \
	"mi_mallocn size=arg1*arg2 result=ret\n"                                                   \
	"mi_reallocn free=arg1 size=arg2*arg3 result=ret\n"                                        \
	"mi_reallocf free=arg1 size=arg2 result=ret\n"                                             \
	"mi_expand free=arg1 size=arg2 result=ret\n"                                               \
	"mi_rezalloc free=arg1 size=arg2 result=ret\n"                                             \
	"mi_recalloc free=arg1 size=arg2*arg3 result=ret\n"                                        \
	"mi_strdup size=string result=ret\n"                                                       \
	"mi_strndup size=string result=ret\n"                                                      \
	"mi_realpath size=string result=ret\n"                                                     \
	"mi_malloc_aligned size=arg1 result=ret\n"                                                 \
	"mi_malloc_aligned_at size=arg1 result=ret\n"                                              \
	"mi_zalloc_aligned size=arg1 result=ret\n"                                                 \
	"mi_zalloc_aligned_at size=arg1 result=ret\n"                                              \
	"mi_calloc_aligned size=arg1*arg2 result=ret\n"                                            \
	"mi_calloc_aligned_at size=arg1*arg2 result=ret\n"                                         \
	"mi_realloc_aligned free=arg1 size=arg2 result=ret\n"                                      \
	"mi_realloc_aligned_at free=arg1 size=arg2 result=ret\n"                                   \
	"mi_rezalloc_aligned free=arg1 size=arg2 result=ret\n"                                     \
	"mi_rezalloc_aligned_at free=arg1 size=arg2 result=ret\n"                                  \
	"mi_recalloc_aligned free=arg1 size=arg2*arg3 result=ret\n"                                \
	"mi_recalloc_aligned_at free=arg1 size=arg2*arg3 result=ret\n"                             \
	"mi_aligned_recalloc free=arg1 size=arg2*arg3 result=ret\n"                                \
	"mi_aligned_offset_recalloc free=arg1 size=arg2*arg3 result=ret\n"                         \
	"mi_free_size free=arg1\n"                                                                 \
	"mi_free_size_aligned free=arg1\n"                                                         \
	"mi_free_aligned free=arg1\n"                                                              \
	"mi_new size=arg1 result=ret\n"                                                            \
	"mi_new_n size=arg1*arg2 result=ret\n"                                                     \
	"mi_new_aligned size=arg1 result=ret\n"                                                    \
	"mi_new_nothrow size=arg1 result=ret\n"                                                    \
	"mi_new_aligned_nothrow size=arg1 result=ret\n"                                            \
	"mi_new_realloc free=arg1 size=arg2 result=ret\n"                                          \
	"mi_new_reallocn free=arg1 size=arg2*arg3 result=ret\n"                                    \
	"mi_heap_malloc size=arg2 result=ret\n"                                                    \
	"mi_heap_zalloc size=arg2 result=ret\n"                                                    \
	"mi_heap_calloc size=arg2*arg3 result=ret\n"                                               \
	"mi_heap_mallocn size=arg2*arg3 result=ret\n"                                              \
	"mi_heap_malloc_small size=arg2 result=ret\n"                                              \
	"mi_heap_realloc free=arg2 size=arg3 result=ret\n"                                         \
	"mi_heap_reallocn free=arg2 size=arg3*arg4 result=ret\n"                                   \
	"mi_heap_reallocf free=arg2 size=arg3 result=ret\n"                                        \
	"mi_heap_rezalloc free=arg2 size=arg3 result=ret\n"                                        \
	"mi_heap_recalloc free=arg2 size=arg3*arg4 result=ret\n"                                   \
	"mi_heap_strdup size=string result=ret\n"                                                  \
	"mi_heap_strndup size=string result=ret\n"                                                 \
	"mi_heap_realpath size=string result=ret\n"                                                \
	"mi_heap_malloc_aligned size=arg2 result=ret\n"                                            \
	"mi_heap_malloc_aligned_at size=arg2 result=ret\n"                                         \
	"mi_heap_zalloc_aligned size=arg2 result=ret\n"                                            \
	"mi_heap_zalloc_aligned_at size=arg2 result=ret\n"                                         \
	"mi_heap_calloc_aligned size=arg2*arg3 result=ret\n"                                       \
	"mi_heap_realloc_aligned free=arg2 size=arg3 result=ret\n"

#define TBB_NAMES                                                                                  \
	"scalable_malloc size=arg1 result=ret\n"                                                   \
	"scalable_calloc size=arg1*arg2 result=ret\n"                                              \
	"scalable_realloc free=arg1 size=arg2 result=ret\n"                                        \
	"scalable_free free=arg1\n"                                                                \
	"scalable_posix_memalign size=arg3 result=*arg1 when ret=0\n"                              \
	"scalable_aligned_malloc size=arg1 result=ret\n"                                           \
	"scalable_aligned_realloc free=arg1 size=arg2 result=ret\n"                                \
	"scalable_aligned_free free=arg1\n"
/* clang-format on */

static const char plain[] = C_NAMES("") NEW_NAMES;
static const char named[] = JEMALLOC_NAMES("") C_NAMES("je_") JEMALLOC_NAMES("je_")
	C_NAMES("_rjem_") JEMALLOC_NAMES("_rjem_") C_NAMES("tc_") TCMALLOC_NAMES C_NAMES("mi_")
		MIMALLOC_NAMES TBB_NAMES;

#define NAMES_MAX 1024u /* ours are some 200 */
#define SLOTS	  2048u /* power of two, at least twice that */
#define FILE_MAX  (1u << 20) /* bytes of the user's file */

static BULK struct inner_name names[NAMES_MAX];
static uint32_t count;
static BULK uint16_t slots[SLOTS]; /* 1 + the number in names[]; 0: free */
/* A bit by the first two characters of a name: most symbols fail here. */
#define BEGINNINGS 2048u /* power of two */
static uint64_t beginnings[BEGINNINGS / 64];

static uint32_t hash_of(const char *name, size_t bytes)
{
	uint32_t h = 5381;

	for (size_t i = 0; i < bytes; i++)
		h = h * 33 + (unsigned char)name[i];
	return h;
}

/* `name` is not empty. */
static unsigned beginning_of(const char *name, size_t bytes)
{
	unsigned second = bytes > 1 ? (unsigned char)name[1] : 0;

	return ((unsigned char)name[0] << 5 ^ second) % BEGINNINGS;
}

static bool is_named(const struct inner_name *n, const char *text, size_t bytes)
{
	return n->name_bytes == bytes && __builtin_memcmp(n->name, text, bytes) == 0;
}

/* A name's slot, or the free one where it belongs. */
static uint16_t *slot_of(const char *text, size_t bytes, uint32_t hash)
{
	uint32_t at = hash % SLOTS;

	while (slots[at] != 0 && !is_named(&names[slots[at] - 1], text, bytes))
		at = (at + 1) % SLOTS;
	return &slots[at];
}

/* A user's rule for a name that is known to us replaces ours. */
static void add(const char *line, size_t line_bytes, const char *name, size_t bytes, bool is_plain)
{
	uint32_t hash = hash_of(name, bytes);
	uint16_t *slot = slot_of(name, bytes, hash);

	if (*slot == 0) {
		if (count == NAMES_MAX)
			return;
		*slot = (uint16_t)++count;
	} else {
		is_plain = names[*slot - 1].is_plain;
	}
	names[*slot - 1] = (struct inner_name){ .line = line,
		.line_bytes = (uint32_t)line_bytes,
		.hash = hash,
		.name = name,
		.name_bytes = (uint8_t)bytes,
		.is_plain = is_plain };
	beginnings[beginning_of(name, bytes) / 64] |= 1ull << beginning_of(name, bytes) % 64;
}

/* Our own text: each line begins with its name, and is right. */
static void add_own(const char *text, bool is_plain)
{
	while (*text) {
		const char *end = __builtin_strchr(text, '\n'),
			   *space = __builtin_strchr(text, ' ');

		add(text, (size_t)(end - text), text, (size_t)(space - text), is_plain);
		text = end + 1;
	}
}

/* The file's text, which stays mapped; NULL: unavailable. */
static const char *file_text(const char *file, size_t *bytes)
{
	char *text = NULL;
#ifdef CALL_EXISTS
	struct stat st = { 0 };
	long fd = call(SYS_openat, AT_FDCWD, call_pointer(file), O_RDONLY | O_CLOEXEC, 0, 0), got;

	if (fd < 0)
		return NULL;
	if (call(KERNEL_FSTAT, fd, call_pointer(&st), 0, 0, 0) == 0 && st.st_size <= FILE_MAX &&
		S_ISREG(st.st_mode))
		text = private_map((size_t)st.st_size + 1);
	got = text ? call(SYS_pread64, fd, call_pointer(text), st.st_size, 0, 0) : 0;
	*bytes = got > 0 ? (size_t)got : 0;
	call(SYS_close, fd, 0, 0, 0, 0);
#endif
	return text;
}

static void add_users(const char *file, void (*wrong)(unsigned, const char *))
{
	size_t bytes = 0, length;
	const char *text = file_text(file, &bytes), *why;
	struct allocator_rule rule;

	if (!text)
		wrong(0, "the file cannot be read");
	for (unsigned line = 1; text && bytes > 0; line++) {
		const char *end = __builtin_memchr(text, '\n', bytes);

		length = end ? (size_t)(end - text) : bytes;
		why = allocator_rule_read(text, length, &rule);
		if (why)
			wrong(line, why);
		else if (rule.name_bytes > 0)
			add(text, length, rule.name, rule.name_bytes, false);
		length += end ? 1 : 0;
		text += length;
		bytes -= length;
	}
}

void inner_list_start(const char *file, void (*wrong)(unsigned line, const char *why))
{
	count = 0;
	__builtin_memset(slots, 0, sizeof(slots));
	__builtin_memset(beginnings, 0, sizeof(beginnings));
	add_own(plain, true);
	add_own(named, false);
	if (file)
		add_users(file, wrong);
}

uint32_t inner_list_count(void)
{
	return count;
}

const struct inner_name *inner_list_at(uint32_t number)
{
	return &names[number];
}

const struct inner_name *inner_list_find(const char *text)
{
	unsigned beginning;
	size_t bytes;
	uint16_t slot;

	if (text[0] == '\0')
		return NULL;
	beginning = beginning_of(text, 2);
	if ((beginnings[beginning / 64] >> beginning % 64 & 1) == 0)
		return NULL;
	bytes = __builtin_strlen(text);
	slot = *slot_of(text, bytes, hash_of(text, bytes));
	return slot ? &names[slot - 1] : NULL;
}
