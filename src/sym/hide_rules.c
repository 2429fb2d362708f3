/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rules that skip frames when a call site gets its name: one table, which is matched and which
 * the help screen prints. They hide the means of allocating (malloc wrappers, allocators,
 * containers of the standard libraries) and keep the frames that show what the memory is for.
 * Called on the main thread; pure.
 */
#include "src/sym/hide_rules.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * A title that ends in ": ", then patterns separated by ", "; a line that begins with a blank
 * continues the one before. "*" stands for any text. Patterns of titles that begin with "in " match
 * the object file's name without its directory, the others the function's name without return type
 * and parameters. Those of Rust match only names without parameters: a C++ program may have a
 * namespace "core".
 */
static const char *const rules[] = {
	"C library: malloc, calloc, realloc, reallocarray, free, posix_memalign,",
	"    aligned_alloc, memalign, valloc, pvalloc, strdup, strndup, __strdup,",
	"    __strndup, wcsdup, asprintf, vasprintf, __asprintf, __vasprintf, getline,",
	"    getdelim, __libc_*alloc*, _IO_*, __GI_*, obstack_*, _obstack_*,",
	"    rpl_obstack_*, rpl_malloc, rpl_calloc, rpl_realloc, __interceptor_*",
	"checked wrappers: xmalloc, xcalloc, xrealloc, xreallocarray,",
	"    xzalloc, xnmalloc, xnrealloc, xcharalloc, ximalloc, xicalloc, xizalloc,",
	"    xirealloc, xireallocarray, xinmalloc, ireallocarray, xpalloc, x2realloc,",
	"    x2nrealloc, x2irealloc, xmemdup, xmemdup0, ximemdup, ximemdup0, xstrdup,",
	"    xstrndup, xasprintf, xvasprintf, do_xmalloc, xmallocz, do_xmallocz,",
	"    xmallocz_gently, xmemdupz, xstrfmt, xstrvfmt, sh_xmalloc, sh_xrealloc,",
	"    safe_malloc, safe_calloc, safe_realloc, safe_strdup, emalloc, ecalloc,",
	"    erealloc, estrdup, checked_malloc, checked_calloc, checked_realloc, alloc,",
	"    lalloc, alloc_clear, lalloc_clear, alloc_clear_id, vim_strsave,",
	"    vim_strnsave, *_mem_alloc*, *_mem_calloc*, *_mem_realloc*, *_mem_strdup*",
	"heaptop.h: heaptop_block_alloc",
	"C++: operator new, operator new[], *::operator new, *::operator new[], std::*,",
	"    __gnu_cxx::*, __cxxabiv1::*, __cxa_*, __gthread*, boost::container::*,",
	"    boost::alloc*, boost::unordered::*, boost::detail::sp_*,",
	"    boost::detail::shared_*",
	"Rust: __rust_*, __rg_*, __rdl_*, alloc::*, core::*, std::*, hashbrown::*,",
	"    rust_begin_unwind",
	"GLib: g_malloc*, g_realloc*, g_try_malloc*, g_try_realloc*, g_aligned_alloc*,",
	"    g_slice_*, g_memdup*, g_strdup*, g_strndup, g_strdup_*printf, g_vasprintf,",
	"    slab_allocator_*, thread_memory_magazine*, magazine_cache_*,",
	"    standard_malloc, standard_calloc, standard_realloc",
	"Python: PyMem_*, _PyMem_*, PyObject_Malloc, PyObject_Calloc, PyObject_Realloc,",
	"    _PyObject_Malloc*, _PyObject_Calloc*, _PyObject_Realloc*, _PyObject_New,",
	"    _PyObject_NewVar, PyObject_GC_*, _PyObject_GC_*, PyType_GenericAlloc,",
	"    _PyType_AllocNoTrack, gc_alloc, pymalloc_alloc, pymalloc_realloc,",
	"    allocate_from_new_pool, new_arena, _PyObject_Arena*",
	"Perl: Perl_safesys*, Perl_malloc, Perl_calloc, Perl_realloc",
	"Ruby: ruby_xmalloc*, ruby_xcalloc*, ruby_xrealloc*, ruby_mimmalloc,",
	"    ruby_strdup, objspace_xmalloc*, objspace_xcalloc*, objspace_xrealloc*,",
	"    rb_gc_impl_*alloc*, rb_alloc_tmp_*, rb_xmalloc_*, rb_xrealloc_*,",
	"    rb_xcalloc_*, rb_aligned_malloc",
	"SQLite: sqlite3MemMalloc, sqlite3MemRealloc, sqlite3Malloc*, sqlite3Realloc,",
	"    sqlite3_malloc*, sqlite3_realloc*, sqlite3DbMalloc*, sqlite3DbRealloc*,",
	"    sqlite3DbStrDup, sqlite3DbStrNDup, sqlite3StrDup, mallocWithAlarm,",
	"    dbMallocRawFinish, dbReallocFinish, pcache1Alloc, sqlite3PageMalloc",
	"GCC: ggc_alloc*, ggc_internal_*alloc*, ggc_realloc, alloc_page, va_heap::*,",
	"    xmalloc_failed, mempool_*alloc*, memory_block_pool::*,",
	"    base_pool_allocator<*, pool_allocator::*",
	"LLVM: llvm::safe_*alloc, llvm::allocate_buffer, llvm::SmallVectorBase<*,",
	"    llvm::BumpPtrAllocator*, llvm::MallocAllocator::*, llvm::AllocatorBase<*",
	"V8 and Node: v8::base::Malloc, v8::base::Calloc, v8::base::Realloc,",
	"    v8::internal::Malloced::*, v8::internal::AlignedAlloc*,",
	"    v8::internal::NewArray*, v8::internal::AllocWithRetry,",
	"    v8::internal::StrDup, node::Malloc*, node::Calloc*, node::Realloc*,",
	"    node::Unchecked*, uv__malloc, uv__calloc, uv__realloc, uv__reallocf,",
	"    uv__strdup",
	"Java: os::malloc, os::realloc, os::strdup*, AllocateHeap, ReallocateHeap,",
	"    ChunkPool::allocate, Arena::grow, Arena::Amalloc*,",
	"    resource_allocate_bytes, resource_reallocate_bytes",
	"Redis: zmalloc*, zcalloc*, zrealloc*, ztrymalloc*, ztrycalloc*, ztryrealloc*,",
	"    zstrdup",
	"Qt: qMalloc*, qRealloc*, QArrayData::*, QTypedArrayData<*, QListData::*,",
	"    QHashData::*",
	"other libraries: CRYPTO_malloc, CRYPTO_zalloc, CRYPTO_calloc, CRYPTO_realloc*,",
	"    CRYPTO_clear_realloc, CRYPTO_strdup, CRYPTO_strndup, CRYPTO_memdup,",
	"    CRYPTO_aligned_alloc, xmlMalloc*, xmlMemMalloc*, xmlMemRealloc, xmlStrdup,",
	"    xmlStrndup, xmlMemStrdup*, talloc_*, _talloc_*, apr_allocator_alloc,",
	"    allocator_alloc, av_malloc*, av_mallocz*, av_calloc, av_realloc*,",
	"    SDL_malloc*, SDL_calloc*, SDL_realloc*, SDL_strdup*, lzma_alloc*,",
	"    png_malloc*, os_malloc, os_zalloc, os_strdup, ber_mem*, je_*, mi_*,",
	"    tc_malloc*, tcmalloc::*, rte_malloc*, OPENSSL_*alloc*",
	"in the C library and the loader: libc.so*, libc-2*, libpthread.so*,",
	"    libpthread-2*, libdl.so*, libdl-2*, ld-linux*, ld-2*, ld64.so*, ld-musl-*,",
	"    libc.musl-*",
	"in the C++ and compiler libraries: libstdc++.so*, libc++.so*, libc++abi.so*,",
	"    libsupc++.so*, libgcc_s.so*, libgcc_s-*, libstd-*.so",
	"in allocators: libjemalloc.so*, libtcmalloc*.so*, libmimalloc*.so*,",
	"    libhoard.so*, librpmalloc*.so*, libsnmalloc*.so*, libscudo*.so*,",
	"    libheaptop.so*",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Bytes of a name that are matched; the rest decides nothing. */
#define NAME_MAX_BYTES 512u

/* Shell-like match with "*" only. On a mismatch the last star matches one byte more. */
static bool glob_match(const char *pattern, size_t pattern_len, const char *text, size_t text_len)
{
	size_t p = 0, t = 0, star = SIZE_MAX, resume = 0;

	while (t < text_len) {
		if (p < pattern_len && pattern[p] == '*') {
			star = p++;
			resume = t;
		} else if (p < pattern_len && pattern[p] == text[t]) {
			p++;
			t++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			t = ++resume;
		} else {
			return false;
		}
	}
	while (p < pattern_len && pattern[p] == '*')
		p++;
	return p == pattern_len;
}

/* What a pattern matches. */
enum matched { FUNCTIONS, RUST_FUNCTIONS, MODULES };

/* A pattern of the table; not terminated. */
struct pattern {
	const char *text;
	size_t len;
	enum matched of;
};

#define PATTERNS_MAX 512u

static struct pattern pattern[PATTERNS_MAX];
static size_t pattern_count;

static void line_read(const char *line, enum matched of)
{
	const char *title = strstr(line, ": ");
	const char *p = title && line[0] != ' ' ? title + 2 : line + strspn(line, " ");

	while (*p) {
		size_t n = strcspn(p, ",");

		assert(pattern_count < PATTERNS_MAX);
		pattern[pattern_count++] = (struct pattern){ p, n, of };
		p += n;
		p += strspn(p, ", ");
	}
}

/* Once: each name is matched against all of them. */
static void rules_read(void)
{
	enum matched of = FUNCTIONS;

	for (size_t i = 0; i < COUNT(rules); i++) {
		if (rules[i][0] != ' ')
			of = !strncmp(rules[i], "in ", 3)      ? MODULES
			     : !strncmp(rules[i], "Rust: ", 6) ? RUST_FUNCTIONS
							       : FUNCTIONS;
		line_read(rules[i], of);
	}
}

static bool rules_match(enum matched of, const char *text, size_t len)
{
	if (pattern_count == 0)
		rules_read();
	for (size_t i = 0; i < pattern_count; i++) {
		const struct pattern *p = &pattern[i];

		if (p->of == of && (p->text[0] == '*' || (len && p->text[0] == text[0])) &&
			glob_match(p->text, p->len, text, len))
			return true;
	}
	return false;
}

static char **extra;
static size_t extra_count;

static void extra_free(void)
{
	for (size_t i = 0; i < extra_count; i++)
		free(extra[i]);
	free(extra);
	extra = NULL;
	extra_count = 0;
}

int hide_rules_set(const char *const *patterns, size_t count)
{
	char **copy = calloc(count + 1, sizeof(*copy));

	extra_free();
	if (!copy)
		return -ENOMEM;
	extra = copy;
	for (; extra_count < count; extra_count++) {
		extra[extra_count] = strdup(patterns[extra_count]);
		if (!extra[extra_count]) {
			extra_free();
			return -ENOMEM;
		}
	}
	return 0;
}

/* A user's pattern may match the bare name or the full one. */
static bool extra_match(const char *function, const char *base, size_t len)
{
	for (size_t i = 0; i < extra_count; i++)
		if (glob_match(extra[i], strlen(extra[i]), base, len) ||
			glob_match(extra[i], strlen(extra[i]), function, strlen(function)))
			return true;
	return false;
}

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* Bytes from `s` through the bracket that closes the one at `s`; to the end if none does. */
static size_t group_length(const char *s)
{
	size_t depth = 0, i = 0;

	for (; s[i]; i++) {
		if (strchr("(<[{", s[i]))
			depth++;
		else if (s[i] == '>' && i > 0 && s[i - 1] == '-')
			continue;
		else if (strchr(")>]}", s[i]) && --depth == 0)
			return i + 1;
	}
	return i;
}

/*
 * Length of the part that names the function: from `*name`, which is moved past a return type, to
 * the parameters. The "(" of "(anonymous namespace)" and of "operator()" opens no parameters.
 */
static size_t base_length(const char **name)
{
	const char *s = *name;

	while (*s && *s != '(' && s - *name < (ptrdiff_t)NAME_MAX_BYTES) {
		if (starts(s, "operator"))
			return (size_t)(s - *name) + strcspn(s, "(<");
		if (*s == '<' && s != *name)
			s += group_length(s);
		else if (*s == '<')
			return strlen(s); /* Rust's "<T as Trait>::f" */
		else if (*s++ == ' ' && *s != '(')
			*name = s;
		if (starts(s, "(anonymous namespace)"))
			s += group_length(s);
	}
	return (size_t)(s - *name);
}

static bool is_rust_std(const char *path)
{
	return starts(path, "alloc::") || starts(path, "core::") || starts(path, "std::") ||
	       starts(path, "hashbrown::");
}

/*
 * "<X as Y>::f" belongs to the standard library if X and Y both do: "<alloc::vec::Vec<T> as
 * core::clone::Clone>" does; a program's own type with core::fmt::Display does not, nor does its
 * own trait on Vec. A bare "T", "[T]" or "u8" belongs to no program.
 */
static bool is_rust_std_impl(const char *name)
{
	const char *self = name + 1 + strspn(name + 1, "&*[( ");
	const char *trait = strstr(name, " as "), *end = name + group_length(name);
	const char *self_end;

	if (!starts(end, "::"))
		return false;
	if (starts(self, "mut "))
		self += 4;
	if (starts(self, "dyn "))
		self += 4;
	if (trait && trait < end && !is_rust_std(trait + 4))
		return false;
	self_end = trait && trait < end ? trait : end;
	return is_rust_std(self) || !memmem(self, (size_t)(self_end - self), "::", 2);
}

static bool function_hidden(const char *function)
{
	const char *base = function;
	size_t len;

	if (function[0] == '<')
		return is_rust_std_impl(function) || extra_match(function, function, 0);
	len = base_length(&base);
	return rules_match(FUNCTIONS, base, len) ||
	       (base[len] != '(' && rules_match(RUST_FUNCTIONS, base, len)) ||
	       extra_match(function, base, len);
}

bool hide_rules_match(const char *function, const char *module_path)
{
	const char *slash = module_path ? strrchr(module_path, '/') : NULL;
	const char *file = slash ? slash + 1 : module_path;

	if (file && rules_match(MODULES, file, strlen(file)))
		return true;
	return function && function_hidden(function);
}

const char *const *hide_rules_lines(size_t *count)
{
	*count = COUNT(rules);
	return rules;
}
