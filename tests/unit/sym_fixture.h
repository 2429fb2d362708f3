/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the tests of src/sym share: a temporary folder, small programs compiled in it, and asking
 * one address. A fixture program includes "where.h" and calls WHERE("tag"), which prints "tag VADDR
 * LINE" of the place it stands at; so the tests know addresses and lines for certain.
 */
#ifndef TESTS_UNIT_SYM_FIXTURE_H
#define TESTS_UNIT_SYM_FIXTURE_H

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/sym/sym.h"
#include "tests/check.h"

#define FIXTURE_FOREVER_NS ((uint64_t)120 * 1000000000)

static char fixture_dir[256];
static struct sym *fixture_sym;

static const char fixture_where[] =
	"#define _GNU_SOURCE\n"
	"#include <link.h>\n"
	"#include <stdio.h>\n"
	"static int where_bias(struct dl_phdr_info *i, size_t n, void *out)\n"
	"{ (void)n; *(unsigned long *)out = i->dlpi_addr; return 1; }\n"
	"__attribute__((noinline)) static void where(const char *tag, int line)\n"
	"{ unsigned long bias = 0; dl_iterate_phdr(where_bias, &bias);\n"
	"  printf(\"%s %lx %d\\n\", tag,\n"
	"    (unsigned long)__builtin_return_address(0) - bias, line); }\n"
	"static volatile int where_sink;\n"
	"#define WHERE(tag) (where(tag, __LINE__), where_sink++)\n";

/* Runs a shell command in the folder; true when it succeeded. */
__attribute__((format(printf, 1, 2))) static inline bool fixture_shell(const char *fmt, ...)
{
	char cmd[2048], all[2560];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	snprintf(all, sizeof(all), "cd '%s' && { %s; } >>log 2>&1 </dev/null", fixture_dir, cmd);
	return system(all) == 0;
}

static inline bool fixture_write(const char *name, const char *text, size_t len)
{
	char path[512];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", fixture_dir, name);
	f = fopen(path, "w");
	ok = f && fwrite(text, 1, len, f) == len;
	return (f && fclose(f) == 0) && ok;
}

static inline bool fixture_begin(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(fixture_dir, sizeof(fixture_dir), "%s/heaptop-sym.XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(fixture_dir) &&
	       fixture_write("where.h", fixture_where, strlen(fixture_where));
}

static inline void fixture_end(void)
{
	char cmd[320];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", fixture_dir);
	if (fixture_dir[0] && system(cmd) != 0)
		fprintf(stderr, "cannot remove %s\n", fixture_dir);
}

/* Compiles `source` as NAME.c or NAME.cc into NAME with `compiler` ("gcc -g -O2"), and runs it. */
static inline bool fixture_program(
	const char *name, const char *ext, const char *compiler, const char *source)
{
	char file[128];

	snprintf(file, sizeof(file), "%s.%s", name, ext);
	return fixture_write(file, source, strlen(source)) &&
	       fixture_shell("%s -o %s %s && ./%s >%s.out", compiler, name, file, name, name);
}

/* What the program printed of `tag`. */
static inline bool fixture_place(const char *name, const char *tag, uint64_t *vaddr, uint32_t *line)
{
	char path[512], got[64];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.out", fixture_dir, name);
	f = fopen(path, "r");
	while (f && !found && fscanf(f, "%63s %" SCNx64 " %" SCNu32, got, vaddr, line) == 3)
		found = !strcmp(got, tag);
	if (f)
		fclose(f);
	return found;
}

/* Asks one address of one file by a new sym, which lives until the next call. */
static inline struct sym_result fixture_ask(const char *path, const struct sym_options *options,
	uint64_t vaddr, enum sym_quality *quality)
{
	struct sym_module m = { .id = 7, .path = path };
	struct sym_result r = { 0 };

	sym_free(fixture_sym);
	fixture_sym = sym_new(options);
	if (!fixture_sym || sym_module_add(fixture_sym, &m) != 0 ||
		sym_request(fixture_sym, 7, vaddr, true, 42) != 0 ||
		sym_drain(fixture_sym, FIXTURE_FOREVER_NS) != 0 || !sym_collect(fixture_sym, &r))
		check_fail(__FILE__, __LINE__, "sym answers");
	if (quality)
		*quality = sym_module_quality(fixture_sym, 7);
	return r;
}

/* Asks for the place `tag` of the program NAME, looked up in FILE (another copy of it). */
static inline struct sym_result fixture_ask_in(const char *file, const char *name, const char *tag,
	const struct sym_options *options, enum sym_quality *quality, uint32_t *line)
{
	char path[512];
	uint64_t vaddr = 0;

	if (!fixture_place(name, tag, &vaddr, line))
		check_fail(__FILE__, __LINE__, tag);
	snprintf(path, sizeof(path), "%s/%s", fixture_dir, file);
	return fixture_ask(path, options, vaddr, quality);
}

static inline const char *fixture_base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

#endif
