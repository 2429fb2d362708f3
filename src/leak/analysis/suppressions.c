/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suppressions (suppressions.h). Sources: valgrind's manual, 2.5; LeakSanitizer's wiki page. */
#include "src/leak/analysis/suppressions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX     (16u << 20) /* more than is written by hand or by --gen-suppressions */
#define PATTERNS_MAX 512u /* frames of one rule: valgrind's own limit is 500 callers */

/* What a line matches. */
enum line_kind { LINE_FUNCTION, LINE_OBJECT, LINE_SOURCE, LINE_ANY, LINE_SOMEWHERE };

struct line {
	enum line_kind kind;
	char *pattern; /* NULL for LINE_ANY */
	uint32_t number; /* of LINE_SOURCE; 0: any */
};

struct rule {
	unsigned kinds;
	struct line *line;
	size_t lines;
};

struct suppressions {
	struct rule *rule;
	size_t rules;
	bool has_braces; /* also rules of other tools */
};

/* The text being read. */
struct reader {
	struct suppressions *to;
	const char *at, *end, *name;
	unsigned number; /* of the line */
	char *message;
};

struct suppressions *suppressions_new(void)
{
	return calloc(1, sizeof(struct suppressions));
}

static void rule_free(struct rule *r)
{
	for (size_t i = 0; i < r->lines; i++)
		free(r->line[i].pattern);
	free(r->line);
}

void suppressions_free(struct suppressions *s)
{
	for (size_t i = 0; s && i < s->rules; i++)
		rule_free(&s->rule[i]);
	if (s)
		free(s->rule);
	free(s);
}

/* ---- patterns ---- */

/* "*" matches anything, "?" one character if `one`. No recursion: only the last "*" is ever
 * retried. */
static bool is_like(const char *pattern, const char *text, bool one)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			from = text;
		} else if ((one && *pattern == '?') || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

/* LeakSanitizer's form: anywhere in the name, unless "^" or "$" anchors it. */
static char *anywhere(const char *pattern, size_t len)
{
	bool from_start = len > 0 && pattern[0] == '^';
	bool to_end = len > 0 && pattern[len - 1] == '$';
	char *out = malloc(len + 3), *p = out;

	if (!out)
		return NULL;
	if (!from_start)
		*p++ = '*';
	memcpy(p, pattern + from_start, len - from_start - to_end);
	p += len - from_start - to_end;
	if (!to_end)
		*p++ = '*';
	*p = '\0';
	return out;
}

/* ---- reading ---- */

static int complain(struct reader *r, const char *what)
{
	snprintf(r->message, SUPPRESSIONS_MESSAGE_MAX, "%.120s, line %u: %s", r->name, r->number,
		what);
	return -EINVAL;
}

/* The next line, without surrounding blanks; false at the end. */
static bool line_next(struct reader *r, const char **line, size_t *len)
{
	const char *newline;

	if (r->at >= r->end)
		return false;
	*line = r->at;
	newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
	*len = (size_t)((newline ? newline : r->end) - r->at);
	r->at += *len + 1;
	r->number++;
	while (*len > 0 && (**line == ' ' || **line == '\t')) {
		(*line)++;
		(*len)--;
	}
	while (*len > 0 && strchr(" \t\r", (*line)[*len - 1]))
		(*len)--;
	return true;
}

static bool begins(const char *line, size_t len, const char *with)
{
	return len >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

static int line_add(struct reader *r, struct rule *rule, enum line_kind kind, char *pattern)
{
	struct line *more;

	if (rule->lines >= PATTERNS_MAX) {
		free(pattern);
		return complain(r, "too many frames");
	}
	more = realloc(rule->line, (rule->lines + 1) * sizeof(*more));
	if (!more || (!pattern && kind != LINE_ANY)) {
		rule->line = more ? more : rule->line;
		free(pattern);
		snprintf(r->message, SUPPRESSIONS_MESSAGE_MAX, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	rule->line = more;
	rule->line[rule->lines++] = (struct line){ .kind = kind, .pattern = pattern };
	return 0;
}

static int rule_keep(struct reader *r, const struct rule *rule)
{
	struct suppressions *s = r->to;
	void *more = realloc(s->rule, (s->rules + 1) * sizeof(*s->rule));

	if (!more) {
		snprintf(r->message, SUPPRESSIONS_MESSAGE_MAX, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	s->rule = more;
	s->rule[s->rules++] = *rule;
	return 0;
}

/* "definite,possible", "all", "none" */
static int kinds_read(struct reader *r, const char *line, size_t len, unsigned *kinds)
{
	static const char *const words[] = { "definite", "indirect", "possible", "reachable" };

	*kinds = 0;
	for (size_t at = 0; at < len;) {
		size_t n = at, known = 0;

		while (n < len && line[n] != ',')
			n++;
		for (unsigned i = 0; i < 4; i++)
			if (n - at == strlen(words[i]) && begins(line + at, n - at, words[i])) {
				*kinds |= 1u << i;
				known = 1;
			}
		if (n - at == 3 && begins(line + at, 3, "all")) {
			*kinds = 15;
			known = 1;
		}
		if (n - at == 4 && begins(line + at, 4, "none"))
			known = 1;
		if (!known)
			return complain(
				r, "kinds are definite, indirect, possible, reachable, all, none");
		at = n + 1;
	}
	return 0;
}

/* "FILE" or "FILE:LINE"; as in valgrind, a LINE that is no number matches any. */
static int source_read(struct reader *r, struct rule *rule, const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len);
	size_t file = colon ? (size_t)(colon - text) : len;
	int rc = line_add(r, rule, LINE_SOURCE, strndup(text, file));
	uint64_t number = 0;

	if (rc != 0)
		return rc;
	for (size_t i = file + 1; i < len && text[i] >= '0' && text[i] <= '9'; i++)
		if (number < UINT32_MAX)
			number = number * 10 + (uint64_t)(text[i] - '0');
	rule->line[rule->lines - 1].number = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
	return 0;
}

/* A line inside { }, after the name and the kind. */
static int frame_read(struct reader *r, struct rule *rule, const char *line, size_t len)
{
	static const char kinds[] = "match-leak-kinds:";
	size_t skip = strlen(kinds);

	if (begins(line, len, kinds)) {
		while (skip < len && line[skip] == ' ')
			skip++;
		return kinds_read(r, line + skip, len - skip, &rule->kinds);
	}
	if (len == 3 && begins(line, len, "..."))
		return line_add(r, rule, LINE_ANY, NULL);
	if (begins(line, len, "fun:"))
		return line_add(r, rule, LINE_FUNCTION, strndup(line + 4, len - 4));
	if (begins(line, len, "obj:"))
		return line_add(r, rule, LINE_OBJECT, strndup(line + 4, len - 4));
	if (begins(line, len, "src:"))
		return source_read(r, rule, line + 4, len - 4);
	return complain(r, "expected fun:, obj:, src:, ... or }");
}

/* Rules of other tools, and of other errors, do not apply. */
static bool is_of_leaks(const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);
	size_t tools = colon ? (size_t)(colon - line) : 0;

	return colon && len - tools == 5 && memcmp(colon, ":Leak", 5) == 0 &&
	       memmem(line, tools, "emcheck", 7) != NULL;
}

/* Reads from "{" to "}". */
static int braces_read(struct reader *r)
{
	struct rule rule = { .kinds = 15 };
	unsigned line_number = 0;
	bool leaks = false;
	const char *line;
	size_t len;
	int rc = 0;

	r->to->has_braces = true;
	while (rc == 0 && line_next(r, &line, &len)) {
		if (len == 0 || *line == '#')
			continue;
		if (len == 1 && *line == '}') {
			rc = leaks && rule.lines > 0 ? rule_keep(r, &rule) : 1;
			if (rc != 0)
				rule_free(&rule);
			return rc < 0 ? rc : 0;
		}
		if (line_number == 1)
			leaks = is_of_leaks(line, len);
		else if (line_number > 1 && leaks)
			rc = frame_read(r, &rule, line, len);
		line_number++;
	}
	rule_free(&rule);
	return rc != 0 ? rc : complain(r, "the last { has no }");
}

static int leak_read(struct reader *r, const char *line, size_t len)
{
	struct rule rule = { .kinds = 15 };
	int rc = line_add(r, &rule, LINE_SOMEWHERE, anywhere(line + 5, len - 5));

	if (rc == 0)
		rc = rule_keep(r, &rule);
	if (rc != 0)
		rule_free(&rule);
	return rc;
}

int suppressions_parse(
	struct suppressions *s, const char *text, size_t len, const char *name, char *message)
{
	struct reader r = {
		.to = s, .at = text, .end = text + len, .name = name, .message = message
	};
	const char *line;
	size_t n;
	int rc = 0;

	while (rc == 0 && line_next(&r, &line, &n)) {
		if (n == 0 || *line == '#')
			continue;
		if (n == 1 && *line == '{')
			rc = braces_read(&r);
		else if (begins(line, n, "leak:") && n > 5)
			rc = leak_read(&r, line, n);
		else
			rc = complain(&r, "expected leak:PATTERN or {");
	}
	return rc;
}

int suppressions_load(struct suppressions *s, const char *path, char *message)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), rc = fd < 0 ? -errno : 0;
	char *text = rc == 0 ? malloc(FILE_MAX) : NULL;
	ssize_t got = 0, used = 0;

	if (rc == 0 && !text)
		rc = -ENOMEM;
	while (rc == 0 && (got = read(fd, text + used, FILE_MAX - (size_t)used)) > 0)
		used += got;
	if (got < 0)
		rc = -errno;
	else if (rc == 0 && used == (ssize_t)FILE_MAX)
		rc = -EFBIG;
	if (rc != 0)
		snprintf(message, SUPPRESSIONS_MESSAGE_MAX, "%.120s: %s", path, strerror(-rc));
	else
		rc = suppressions_parse(s, text, (size_t)used, path, message);
	if (fd >= 0)
		close(fd);
	free(text);
	return rc;
}

bool suppressions_is_sanitizers(const struct suppressions *s)
{
	return s->rules > 0 && !s->has_braces;
}

/* ---- matching ---- */

static bool is_name(const struct line *l, const char *name)
{
	return is_like(l->pattern, name ? name : "", true);
}

/* valgrind matches file names without directories. */
static bool is_source(const struct line *l, const struct suppressions_frame *f)
{
	const char *slash = f->file ? strrchr(f->file, '/') : NULL;

	if (!f->file || (l->number && l->number != f->line))
		return false;
	return is_name(l, f->file) || (slash && is_name(l, slash + 1));
}

static bool is_frame(const struct line *l, const struct suppressions_frame *f)
{
	if (l->kind == LINE_OBJECT)
		return is_name(l, f->object);
	if (l->kind == LINE_SOURCE)
		return is_source(l, f);
	return is_name(l, f->function) || is_name(l, f->symbol);
}

static bool is_part(const struct line *l, const char *name)
{
	return name && is_like(l->pattern, name, false);
}

static bool is_somewhere(const struct line *l, const struct suppressions_frame *f, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_part(l, f[i].function) || is_part(l, f[i].symbol) ||
			is_part(l, f[i].object) || is_part(l, f[i].file))
			return true;
	return false;
}

/* As is_like, for frames: "..." matches any number of them, and frames after the last line are
 * free. */
static bool is_stack(const struct rule *r, const struct suppressions_frame *f, size_t count)
{
	size_t line = 0, frame = 0, any = SIZE_MAX, from = 0;

	while (line < r->lines) {
		if (r->line[line].kind == LINE_ANY) {
			any = line++;
			from = frame;
		} else if (frame < count && is_frame(&r->line[line], &f[frame])) {
			line++;
			frame++;
		} else if (any != SIZE_MAX && from < count) {
			line = any + 1;
			frame = ++from;
		} else {
			return false;
		}
	}
	return true;
}

enum suppressions_how suppressions_matches(const struct suppressions *s, unsigned kind,
	const struct suppressions_frame *frames, size_t count)
{
	enum suppressions_how how = SUPPRESSIONS_NONE;

	for (size_t i = 0; i < s->rules && how != SUPPRESSIONS_WITH_INDIRECT; i++) {
		const struct rule *r = &s->rule[i];

		if (!(r->kinds & kind))
			continue;
		if (r->line[0].kind == LINE_SOMEWHERE && is_somewhere(&r->line[0], frames, count))
			how = SUPPRESSIONS_WITH_INDIRECT;
		else if (r->line[0].kind != LINE_SOMEWHERE && is_stack(r, frames, count))
			how = SUPPRESSIONS_MATCH;
	}
	return how;
}
