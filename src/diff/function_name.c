/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Function names as they compare across builds (function_name.h). */
#include "src/diff/function_name.h"

#include <ctype.h>
#include <string.h>

#define RUST_HASH_DIGITS 16

static bool ends_with(const char *name, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && !memcmp(name + len - n, end, n);
}

/* "f.isra.0", "f.cold": the length without it, or `len`. */
static size_t without_clone(const char *name, size_t len)
{
	static const char *const words[] = { ".isra", ".part", ".constprop", ".lto_priv", ".cold",
		".localalias", ".llvm" };
	size_t end = len;

	while (end > 0 && isdigit((unsigned char)name[end - 1]))
		end--;
	if (end < len && (end == 0 || name[end - 1] != '.'))
		return len;
	end -= end < len;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (ends_with(name, end, words[i]))
			return end - strlen(words[i]);
	return len;
}

/* "f(int) [clone .isra.0]" */
static size_t without_demangled_clone(const char *name, size_t len)
{
	static const char begin[] = " [clone .";
	size_t at;

	if (!ends_with(name, len, "]"))
		return len;
	at = len - 1;
	while (at > 0 && name[at] != '[')
		at--;
	return at > 1 && !strncmp(name + at - 1, begin, sizeof(begin) - 1) ? at - 1 : len;
}

static size_t without_rust_hash(const char *name, size_t len)
{
	size_t at = len;

	while (at > 0 && isxdigit((unsigned char)name[at - 1]))
		at--;
	return len - at == RUST_HASH_DIGITS && ends_with(name, at, "::h") ? at - 3 : len;
}

size_t function_name_plain(const char *name)
{
	size_t len = strlen(name), before;

	do {
		before = len;
		len = without_clone(name, len);
		len = without_demangled_clone(name, len);
		len = without_rust_hash(name, len);
	} while (len < before);
	return len;
}

bool function_name_starts(const char *name)
{
	static const char *const names[] = { "_start", "__libc_start_main",
		"__libc_start_call_main", "__libc_start_main_impl", "start_thread", "clone",
		"clone3", "__clone", "__clone3", "thread_start" };
	size_t len = strcspn(name, "@");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return true;
	return false;
}
