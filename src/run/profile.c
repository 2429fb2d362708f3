/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Named sets of options (profile.h): a table of built-in ones, and the sections "[profile NAME]" of
 * the settings file. Main thread, while the command line is parsed.
 */
#include "src/run/profile.h"

#include <errno.h>
#include <string.h>
#include "src/run/settings_file.h"

/* In the form of a section. */
static const struct {
	const char *name, *lines;
} built_in[] = {
	/* A verdict, the same on every machine: no settings of the user who runs it. */
	{ "ci", "fail-on = definite\nfail-on = badfree\nno-config\n" },
	/* Watched for days: cheap to record, a long past, few refreshes. */
	{ "server", "max-overhead = 5%\ndelay = 5s\nhistory = 256M\n" },
	/* Little memory: few blocks, short stacks, a short past, no copy of the program. */
	{ "tiny", "sample = 64K\ndepth = 32\ndelay = 2s\nhistory = 2M\nleak-copy = never\n" },
};
#define BUILT_IN (sizeof(built_in) / sizeof(built_in[0]))

/* What is beside an option of a profile on the command line and concerns the same, or leaves
 * nothing to record. */
static const struct {
	const char *option, *given;
} gives_way[] = {
	{ "max-overhead", "sample" },
	{ "max-overhead", "read" },
	{ "max-overhead", "diff" },
	{ "sample", "read" },
	{ "sample", "diff" },
};

bool profile_gives_way(
	const char *name, bool (*given)(const void *ctx, const char *option), const void *ctx)
{
	for (size_t i = 0; i < sizeof(gives_way) / sizeof(gives_way[0]); i++)
		if (!strcmp(gives_way[i].option, name) && given(ctx, gives_way[i].given))
			return true;
	return false;
}

static char *trimmed(char *text)
{
	size_t len;

	text += strspn(text, " \t");
	len = strlen(text);
	while (len && strchr(" \t", text[len - 1]))
		text[--len] = '\0';
	return text;
}

/* Adds the option of a line: "name", "name = value", or "name = yes". */
static int line_parse(struct profile *p, char *line)
{
	struct profile_option *o = &p->option[p->count];
	char *equals;

	line = trimmed(line);
	if (!*line || *line == '#')
		return 0;
	if (p->count == PROFILE_OPTIONS_MAX)
		return -ENOSPC;
	equals = strchr(line, '=');
	if (equals)
		*equals = '\0';
	o->value = equals ? trimmed(equals + 1) : NULL;
	o->name = trimmed(line);
	p->count++;
	return 0;
}

/* `text` is in p->text. */
static int lines_parse(struct profile *p, char *text, const char *name, char *why, size_t cap)
{
	char *rest;

	p->count = 0;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (line_parse(p, line) == 0)
			continue;
		snprintf(why, cap, "profile %s: more than %u options", name, PROFILE_OPTIONS_MAX);
		return -EINVAL;
	}
	return 0;
}

/* The name in "[profile NAME]", whose `*len` bytes end before the bracket. */
static const char *section_name(const char *line, size_t *len)
{
	const char *name = line + strlen("[profile ");
	const char *end = name + strcspn(name, "]\n");

	name += strspn(name, " \t");
	*len = end > name ? (size_t)(end - name) : 0;
	while (*len && strchr(" \t", name[*len - 1]))
		--*len;
	return name;
}

/* The section that begins at or after `text`, or NULL: settings.c keeps only such lines. */
static const char *section_next(const char *text)
{
	while (*text && *text != '[') {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return *text ? text : NULL;
}

int profile_parse(
	const char *sections, const char *name, struct profile *out, char *why, size_t cap)
{
	for (const char *s = section_next(sections); s; s = section_next(s)) {
		size_t len;
		const char *found = section_name(s, &len), *end;

		s += strcspn(s, "\n");
		if (len != strlen(name) || strncmp(found, name, len) != 0)
			continue;
		end = section_next(s);
		snprintf(out->text, sizeof(out->text), "%.*s",
			(int)(end ? (size_t)(end - s) : strlen(s)), s);
		return lines_parse(out, out->text, name, why, cap);
	}
	return -ENOENT;
}

/* The sections of the settings file. Its other troubles are reported where it is applied. */
static const char *sections_read(void)
{
	static struct settings s;
	struct strbuf ignored = STRBUF_INIT;

	settings_file_load(&s, &ignored);
	strbuf_free(&ignored);
	return s.profiles;
}

static int built_in_find(const char *name, struct profile *out)
{
	for (size_t i = 0; i < BUILT_IN; i++) {
		if (strcmp(built_in[i].name, name) != 0)
			continue;
		strcpy(out->text, built_in[i].lines);
		return lines_parse(out, out->text, name, NULL, 0);
	}
	return -ENOENT;
}

int profile_find(const char *name, bool no_file, struct profile *out, char *why, size_t cap)
{
	int rc = no_file ? -ENOENT : profile_parse(sections_read(), name, out, why, cap);

	if (rc == -ENOENT)
		rc = built_in_find(name, out);
	if (rc == -ENOENT)
		snprintf(why, cap, "no such profile%s (\"--profile help\" lists them)",
			no_file ? " without the settings file" : "");
	return rc ? -EINVAL : 0;
}

static void one_list(FILE *out, const char *name, size_t len, const struct profile *p)
{
	fprintf(out, "%-*.*s", 10, (int)len, name);
	for (unsigned i = 0; i < p->count; i++)
		fprintf(out, " --%s%s%s", p->option[i].name, p->option[i].value ? "=" : "",
			p->option[i].value ?: "");
	fputc('\n', out);
}

void profile_list(FILE *out)
{
	static struct profile p;
	const char *sections = sections_read();
	char name[PROFILE_NAME_MAX], why[128];

	for (size_t i = 0; i < BUILT_IN; i++) {
		if (profile_parse(sections, built_in[i].name, &p, why, sizeof(why)) != -ENOENT)
			continue;
		built_in_find(built_in[i].name, &p);
		one_list(out, built_in[i].name, strlen(built_in[i].name), &p);
	}
	for (const char *s = section_next(sections); s; s = section_next(s)) {
		size_t len;
		const char *found = section_name(s, &len);

		snprintf(name, sizeof(name), "%.*s", (int)len, found);
		if (profile_parse(sections, name, &p, why, sizeof(why)) == 0)
			one_list(out, name, strlen(name), &p);
		s += strcspn(s, "\n");
	}
}
