/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of C++ functions as their sources write them (plain_types.h): in one pass namespaces and
 * default arguments go, and in a second one the long names of strings. Called for rows that look
 * the same, on the main thread.
 */
#include "src/model/plain_types.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define ARGUMENTS_MOST 4096 /* bytes of one argument: names of programs may be of any length */
#define DEFAULTS_MOST  4 /* default arguments of a template */

/* A class that is a default argument of the standard library's templates. */
static const char *const defaults[] = { "allocator<", "char_traits<", "default_delete<", "less<",
	"hash<", "equal_to<" };
static const char *const namespaces[] = { "std::", "__cxx11::", "__1::" };
static const struct {
	const char *from, *to;
} strings[] = {
	{ "basic_string<char>", "string" },
	{ "basic_string<wchar_t>", "wstring" },
	{ "basic_string<allocator<char>>", "string" }, /* the constructor */
	{ "string::basic_string", "string::string" },
};

static size_t begins(const char *name, const char *with)
{
	size_t len = strlen(with);

	return strncmp(name, with, len) ? 0 : len;
}

static size_t namespaces_length(const char *name)
{
	size_t len = 0, more;

	do {
		more = 0;
		for (size_t i = 0; !more && i < sizeof(namespaces) / sizeof(namespaces[0]); i++)
			more = begins(name + len, namespaces[i]);
		len += more;
	} while (more);
	return len;
}

/* From the '<' before `name` to behind its '>'; 0: there is none. */
static size_t arguments_length(const char *name)
{
	int depth = 1;

	for (size_t i = 0; name[i] && i < ARGUMENTS_MOST; i++) {
		depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
		if (!depth)
			return i + 1;
	}
	return 0;
}

/* The length of ", std::allocator<char> " at a comma; 0: it is another argument. */
static size_t argument_length(const char *name)
{
	size_t at = 1, len = 0, end;

	at += strspn(name + at, " ");
	at += namespaces_length(name + at);
	for (size_t i = 0; !len && i < sizeof(defaults) / sizeof(defaults[0]); i++)
		len = begins(name + at, defaults[i]);
	end = len ? arguments_length(name + at + len) : 0;
	if (!end)
		return 0;
	at += len + end;
	return at + strspn(name + at, " ");
}

/* The length of a default argument at a comma, if none but others follow; 0: it stays. */
static size_t default_length(const char *name)
{
	size_t first = argument_length(name), at = first, len = first;

	for (int i = 0; i < DEFAULTS_MOST && len && name[at] == ','; i++) {
		len = argument_length(name + at);
		at += len;
	}
	return first && name[at] == '>' ? first : 0;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == ':';
}

static size_t left_out(const char *name, size_t at)
{
	if (name[at] == ',')
		return default_length(name + at);
	if (name[at] == ' ' && name[at + 1] == '>' && at && name[at - 1] == '>')
		return 1;
	return at == 0 || !is_word(name[at - 1]) ? namespaces_length(name + at) : 0;
}

static void replace(char *text, const char *from, const char *to)
{
	size_t old = strlen(from), new = strlen(to);

	for (char *at = text; (at = strstr(at, from)); at += new) {
		if (at > text && is_word(at[-1]) && at[-1] != ':')
			continue;
		memcpy(at, to, new);
		memmove(at + new, at + old, strlen(at + old) + 1);
	}
}

void plain_types_text(const char *name, char *out, size_t cap)
{
	size_t used = 0;

	for (size_t at = 0; name[at] && used + 1 < cap;) {
		size_t skip = left_out(name, at);

		at += skip;
		if (!skip)
			out[used++] = name[at++];
	}
	out[used] = '\0';
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		replace(out, strings[i].from, strings[i].to);
}
