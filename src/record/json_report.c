/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a JSON report (json_report.h): steps through the members of its outer objects and has
 * json-c parse each value by itself. Main thread.
 */
#include "src/record/json_report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/record/json_image.h"
#include "src/util/text.h"

#define FORMAT		1 /* of the report, as heaptop writes it */
#define BEGIN_BYTES	64 /* of a file, by which it is recognised */
#define VALUE_DEPTH	32 /* of one value; a call site's needs 5 */
#define CUT_OFF		"it ends in the middle (was it written to the end?)"
#define GENERATIONS_MAX 512 /* children of children; the writer's limit is as low */

struct reader {
	const char *text, *at, *end;
	const char *name;
	char *message;
	struct json_tokener *tokener;
	unsigned generation;
};

/* Only the first message stays. */
__attribute__((format(printf, 2, 3))) static bool fail(struct reader *r, const char *fmt, ...)
{
	char name[JSON_REPORT_MESSAGE_MAX / 2], why[JSON_REPORT_MESSAGE_MAX / 2 - 4];
	va_list ap;

	if (r->message[0])
		return false;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	text_clean(name, sizeof(name), r->name, strlen(r->name));
	snprintf(r->message, JSON_REPORT_MESSAGE_MAX, "%s: %s", name, why);
	return false;
}

static bool fail_here(struct reader *r, const char *why)
{
	unsigned long line = 1;

	for (const char *p = r->text; p < r->at; p++)
		line += *p == '\n';
	return fail(r, "not a JSON report: line %lu: %s", line, why);
}

static void blanks_skip(struct reader *r)
{
	while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
		r->at++;
}

/* Whether `c` follows, which is taken. */
static bool taken(struct reader *r, char c)
{
	blanks_skip(r);
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

/* The next value; the caller drops it. False after a message; *out may be NULL, which is JSON's. */
static bool value_take(struct reader *r, struct json_object **out)
{
	size_t left = (size_t)(r->end - r->at);
	enum json_tokener_error error;

	json_tokener_reset(r->tokener);
	*out = json_tokener_parse_ex(r->tokener, r->at, left < INT_MAX ? (int)left : INT_MAX);
	error = json_tokener_get_error(r->tokener);
	if (error == json_tokener_continue) {
		r->at = r->end;
		return fail_here(r, CUT_OFF);
	}
	r->at += json_tokener_get_parse_end(r->tokener);
	return error == json_tokener_success || fail_here(r, json_tokener_error_desc(error));
}

static struct snapshot *process_take(struct reader *r);

static bool site_take(struct reader *r, struct json_image *m)
{
	struct json_object *o;
	bool ok = value_take(r, &o);
	int rc;

	if (ok && !json_object_is_type(o, json_type_object)) {
		ok = fail_here(r, "a call site must be an object");
	} else if (ok) {
		rc = json_image_site(m, o);
		if (rc == -ERANGE)
			ok = fail_here(r, "a call site's id is too large");
		else if (rc)
			ok = fail(r, "%s", strerror(-rc));
	}
	json_object_put(o);
	return ok;
}

static bool child_take(struct reader *r, struct json_image *m)
{
	struct snapshot *child = process_take(r);

	return child && (json_image_child(m, child) || fail(r, "%s", strerror(ENOMEM)));
}

static bool list_take(struct reader *r, struct json_image *m,
	bool (*item_take)(struct reader *r, struct json_image *m))
{
	if (!taken(r, '['))
		return fail_here(r, "call sites and children must be arrays");
	if (taken(r, ']'))
		return true;
	do {
		if (!item_take(r, m))
			return false;
	} while (taken(r, ','));
	return taken(r, ']') || fail_here(r, "\",\" or \"]\" expected");
}

/* What an object must have to be a report. */
struct needed {
	bool format, sites;
};

static bool plain_take(
	struct reader *r, struct json_image *m, const char *key, struct needed *needed)
{
	struct json_object *o;
	bool ok = value_take(r, &o);

	if (ok && !strcmp(key, "format")) {
		needed->format = json_object_get_int64(o) == FORMAT;
		if (!needed->format)
			ok = fail(r, "a report of another format (%s), not %d",
				json_object_is_type(o, json_type_int) ? "newer" : "unknown",
				FORMAT);
	} else if (ok && !json_image_member(m, key, o)) {
		ok = fail(r, "%s", strerror(ENOMEM));
	}
	json_object_put(o);
	return ok;
}

static bool member_take(struct reader *r, struct json_image *m, struct needed *needed)
{
	struct json_object *key;
	const char *name;
	bool ok;

	blanks_skip(r);
	if (r->at == r->end || *r->at != '"')
		return fail_here(r, "a member's name expected");
	if (!value_take(r, &key))
		return false;
	name = json_object_get_string(key);
	if (!taken(r, ':')) {
		ok = fail_here(r, "\":\" expected");
	} else if (!strcmp(name, "sites")) {
		needed->sites = true;
		ok = list_take(r, m, site_take);
	} else if (!strcmp(name, "children")) {
		ok = list_take(r, m, child_take);
	} else {
		ok = plain_take(r, m, name, needed);
	}
	json_object_put(key);
	return ok;
}

static bool members_take(struct reader *r, struct json_image *m)
{
	struct needed needed = { false, false };

	if (!taken(r, '{'))
		return fail_here(r, "an object expected");
	do {
		if (!member_take(r, m, &needed))
			return false;
	} while (taken(r, ','));
	if (!taken(r, '}'))
		return fail_here(r, r->at == r->end ? CUT_OFF : "\",\" or \"}\" expected");
	if (!needed.format || !needed.sites)
		return fail(r, "not a JSON report of heaptop: it has no %s",
			needed.format ? "\"sites\"" : "\"format\"");
	return true;
}

static struct snapshot *process_take(struct reader *r)
{
	struct json_image *m = r->generation < GENERATIONS_MAX ? json_image_new() : NULL;
	struct snapshot *s;
	bool ok;

	if (!m) {
		fail(r, "%s",
			r->generation < GENERATIONS_MAX ? strerror(ENOMEM)
							: "too many generations");
		return NULL;
	}
	r->generation++;
	ok = members_take(r, m);
	r->generation--;
	if (!ok) {
		json_image_free(m);
		return NULL;
	}
	s = json_image_finish(m);
	if (!s)
		fail(r, "%s", strerror(ENOMEM));
	return s;
}

struct snapshot *json_report_parse(const char *text, size_t len, const char *name, char *message)
{
	struct reader r = { .text = text,
		.at = text,
		.end = text + len,
		.name = name,
		.message = message,
		.tokener = json_tokener_new_ex(VALUE_DEPTH) };
	struct snapshot *s;

	message[0] = '\0';
	if (!r.tokener) {
		fail(&r, "%s", strerror(ENOMEM));
		return NULL;
	}
	s = process_take(&r);
	blanks_skip(&r);
	if (s && r.at < r.end) {
		fail_here(&r, *r.at == '{' ? "a second report follows; split the file"
					   : "something follows the report");
		snapshot_unref(s);
		s = NULL;
	}
	json_tokener_free(r.tokener);
	return s;
}

bool json_report_is(const char *path)
{
	char begin[BEGIN_BYTES + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : pread(fd, begin, BEGIN_BYTES, 0);
	const char *p = begin;

	if (fd >= 0)
		close(fd);
	begin[n < 0 ? 0 : n] = '\0';
	p += strspn(p, " \t\r\n");
	if (*p != '{')
		return false;
	p++;
	p += strspn(p, " \t\r\n");
	return !strncmp(p, "\"heaptop\"", 9);
}

/* All of an open file, up to `len` bytes; the caller frees it. NULL and errno. */
static char *bytes_read(int fd, size_t *len)
{
	char *text = malloc(*len + 1);
	size_t have = 0;
	ssize_t n = 1;

	while (text && have < *len && n != 0) {
		n = read(fd, text + have, *len - have);
		have += n > 0 ? (size_t)n : 0;
		if (n < 0 && errno != EINTR)
			break;
	}
	if (n >= 0 || !text) {
		*len = have;
		return text;
	}
	free(text);
	return NULL;
}

/* A regular file's text, which the caller frees. NULL after a message. */
static char *file_read(struct reader *r, const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char *text = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0) {
		fail(r, "%s", strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		fail(r, "not a regular file");
	} else {
		*len = (size_t)st.st_size;
		text = bytes_read(fd, len);
		if (!text)
			fail(r, "%s", strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	return text;
}

struct snapshot *json_report_open(const char *path, char *message)
{
	struct reader r = { .name = path, .message = message };
	struct snapshot *s;
	char *text;
	size_t len;

	message[0] = '\0';
	text = file_read(&r, path, &len);
	if (!text)
		return NULL;
	s = json_report_parse(text, len, path, message);
	free(text);
	return s;
}
