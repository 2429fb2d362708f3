/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libiberty's demanglers behind one bounded function. Called by resolve.c on the symboliser's
 * worker thread. A hostile name can expand to output of exponential length, so the demanglers write
 * through callbacks, and the callback leaves by longjmp when the output is full; on that path the
 * demanglers hold no memory but the stack.
 */
#include "src/sym/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/text.h"

/* libiberty refuses names over 1,024 bytes unless its recursion limit is off; real names reach 4
 * KB. */
#define RAW_MAX	 8192u
#define RAW_SAFE 1000u
/* Stack bytes needed per byte of a name. */
#define STACK_A_BYTE (DEMANGLE_STACK_BYTES / RAW_MAX)
/* Output beyond DEMANGLE_MAX would be cut anyway. */
#define OUT_MAX DEMANGLE_MAX

struct output {
	char *text;
	size_t len;
	jmp_buf full;
};

static void output_add(const char *bytes, size_t len, void *opaque)
{
	struct output *o = opaque;
	size_t room = OUT_MAX - 1 - o->len;

	if (len == 0)
		return;
	memcpy(o->text + o->len, bytes, len < room ? len : room);
	o->len += len < room ? len : room;
	if (len > room)
		longjmp(o->full, 1);
}

typedef int demangler(const char *mangled, int options, demangle_callbackref cb, void *opaque);

static bool demangler_run(demangler *f, const char *raw, int options, struct output *o)
{
	o->len = 0;
	if (setjmp(o->full) == 0)
		return f(raw, options, output_add, o) != 0 && o->len > 0;
	return true; /* truncated, but correct so far */
}

/* D's demangler has no callback; the length of its input bounds its output. */
static bool d_run(const char *raw, struct output *o)
{
	char *text = dlang_demangle(raw, DMGL_DLANG);
	size_t len = text ? strlen(text) : 0;

	if (len > 0 && len < OUT_MAX)
		memcpy(o->text, text, len);
	o->len = len < OUT_MAX ? len : 0;
	free(text);
	return o->len > 0;
}

static bool mangled_run(const char *raw, struct output *o)
{
	size_t len = strlen(raw);
	int options = DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP;

	if (raw[0] != '_' || len > RAW_MAX)
		return false;
	if (len > RAW_SAFE)
		options |= DMGL_NO_RECURSE_LIMIT;
	/* Rust first: its older names are valid C++ ones with a hash at the end. */
	if (raw[1] == 'R' || raw[1] == 'Z') {
		return demangler_run(rust_demangle_callback, raw, DMGL_PARAMS, o) ||
		       demangler_run(cplus_demangle_v3_callback, raw, options, o);
	}
	if (raw[1] == 'D' && raw[2] >= '0' && raw[2] <= '9' && len <= RAW_SAFE)
		return d_run(raw, o);
	return false;
}

/* Appended to the names of a function's copies and parts. */
static const struct suffix {
	const char *word;
	bool numbered; /* a number always follows */
} suffixes[] = { { ".constprop", true }, { ".isra", true }, { ".part", true },
	{ ".lto_priv", true }, { ".llvm", true }, { ".localalias", false }, { ".cold", false },
	{ ".warm", false }, { ".hot", false }, { ".unlikely", false } };

/*
 * Length of the first `len` bytes of a name without the last suffix. Only an end is a suffix: Go
 * and OCaml have dots in their names, as in "main.coldStart".
 */
static size_t without_suffix(const char *raw, size_t len)
{
	size_t end = len, n;
	bool numbered;

	while (end > 0 && raw[end - 1] >= '0' && raw[end - 1] <= '9')
		end--;
	numbered = end < len && end > 0 && raw[end - 1] == '.';
	end = numbered ? end - 1 : len;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		n = strlen(suffixes[i].word);
		if (end > n && !memcmp(raw + end - n, suffixes[i].word, n) &&
			(numbered || !suffixes[i].numbered))
			return end - n;
	}
	return len;
}

/* Length of the name without "@VERSION" and the suffixes that compilers append to copies. */
static size_t stem_length(const char *raw)
{
	size_t len = strlen(raw), before;
	const char *at = len > 1 ? strchr(raw + 1, '@') : NULL;

	if (at)
		len = (size_t)(at - raw);
	do {
		before = len;
		len = without_suffix(raw, len);
	} while (len < before);
	return len;
}

size_t demangle_name_within(char out[DEMANGLE_MAX], const char *raw, size_t stack_bytes)
{
	size_t len = stem_length(raw), most = stack_bytes / STACK_A_BYTE;
	char *stem = len <= most && len <= RAW_MAX ? malloc(len + 1 + OUT_MAX) : NULL;
	struct output o = { .text = stem ? stem + len + 1 : NULL };

	if (!stem)
		return text_clean(out, DEMANGLE_MAX, raw, len);
	memcpy(stem, raw, len);
	stem[len] = '\0';
	if (mangled_run(stem, &o))
		len = text_clean(out, DEMANGLE_MAX, o.text, o.len);
	else
		len = text_clean(out, DEMANGLE_MAX, stem, len);
	free(stem);
	return len;
}

size_t demangle_name(char out[DEMANGLE_MAX], const char *raw)
{
	return demangle_name_within(out, raw, DEMANGLE_STACK_BYTES);
}
