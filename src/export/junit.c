/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A report for CI: each checked class of leaks or wrong frees is a test, which fails once per call
 * site; each limit is a test, too. The form is the JUnit XML schema that Jenkins and GitLab read
 * (testsuites, testsuite, testcase, failure, error).
 */
#include <stdio.h>
#include <string.h>
#include "src/export/text.h"
#include "src/export/wrong_frees.h"
#include "src/model/site_index.h"
#include "src/model/wrong_frees.h"
#include "src/util/text.h"
#include "src/util/units.h"

/* Writes escaped text. Cleaned text may still contain what XML 1.0 section 2.2 forbids: U+FFFE and
 * U+FFFF. */
static void xml_text(struct strbuf *out, const char *text)
{
	size_t len = strlen(text), n;
	uint32_t code;

	for (size_t at = 0; at < len; at += n) {
		n = text_decode(text + at, len - at, &code);
		if (code == '&')
			strbuf_puts(out, "&amp;");
		else if (code == '<')
			strbuf_puts(out, "&lt;");
		else if (code == '>')
			strbuf_puts(out, "&gt;");
		else if (code == '"')
			strbuf_puts(out, "&quot;");
		else if (code == 0xfffe || code == 0xffff || (code < 0x20 && code != '\n') ||
			 (code == 0xfffd && n == 1))
			strbuf_putc(out, '?');
		else
			strbuf_add(out, text + at, n);
	}
}

static void xml_attribute(struct strbuf *out, const char *name, const char *value)
{
	strbuf_printf(out, " %s=\"", name);
	xml_text(out, value);
	strbuf_putc(out, '"');
}

/* The tests, buffered until their number is known. */
struct suite {
	struct strbuf cases;
	const char *program; /* the tested program */
	unsigned tests, failures, errors;
};

static void case_begin(struct suite *u, const char *name)
{
	u->tests++;
	strbuf_puts(&u->cases, "    <testcase");
	xml_attribute(&u->cases, "classname", u->program);
	xml_attribute(&u->cases, "name", name);
}

static void case_passed(struct suite *u, const char *name)
{
	case_begin(u, name);
	strbuf_puts(&u->cases, "/>\n");
}

/* `what`: "failure" or "error"; takes ownership of `body`, the details. */
static void case_failed(struct suite *u, const char *name, const char *what, const char *type,
	const char *message, struct strbuf *body)
{
	*(what[0] == 'f' ? &u->failures : &u->errors) += 1;
	case_begin(u, name);
	strbuf_printf(&u->cases, ">\n      <%s", what);
	xml_attribute(&u->cases, "type", type);
	xml_attribute(&u->cases, "message", message);
	strbuf_putc(&u->cases, '>');
	xml_text(&u->cases, strbuf_text(body));
	strbuf_printf(&u->cases, "</%s>\n    </testcase>\n", what);
	u->cases.failed |= body->failed;
	strbuf_free(body);
}

static void sum_text(struct strbuf *out, uint64_t blocks, uint64_t bytes)
{
	char b[UNITS_MAX + 8], n[UNITS_MAX + 8];

	strbuf_printf(out, "%s bytes in %s block%s", units_exact(b, bytes), units_exact(n, blocks),
		units_plural(blocks));
}

/* `site` may be NULL. */
static void leak_case(struct suite *u, const struct snap_leak_site *l, const struct snap_site *site,
	const struct export_options *o)
{
	const struct row_style style = { .names = o->names, .show_hidden = o->show_hidden };
	char function[COLUMN_TEXT_MAX] = "?", place[COLUMN_TEXT_MAX] = "";
	struct strbuf body = STRBUF_INIT, name = STRBUF_INIT, message = STRBUF_INIT;

	if (site) {
		site_name(site, &style, function, sizeof(function));
		site_place(site, &style, place, sizeof(place));
		strbuf_putc(&body, '\n');
		text_stack(&body, site, o);
	}
	strbuf_printf(&name, "%s leak: %s%s%s", snapshot_leak_word(l->class), function,
		place[0] ? " " : "", place);
	sum_text(&message, l->sum.blocks, l->sum.bytes);
	if (l->indirect.blocks) {
		strbuf_puts(&message, ", with ");
		sum_text(&message, l->indirect.blocks, l->indirect.bytes);
		strbuf_puts(&message, " lost indirectly");
	}
	case_failed(u, strbuf_text(&name), "failure", snapshot_leak_word(l->class),
		strbuf_text(&message), &body);
	u->cases.failed |= name.failed || message.failed;
	strbuf_free(&name);
	strbuf_free(&message);
}

static void class_cases(struct suite *u, const struct snap_leaks *l, const struct site_index *by_id,
	enum snap_leak_class class, const struct export_options *o)
{
	char name[64];
	bool any = false;

	for (size_t i = 0; i < l->nsites; i++) {
		if (l->sites[i].class != class || l->sites[i].suppressed)
			continue;
		leak_case(u, &l->sites[i], site_index_find(by_id, l->sites[i].site), o);
		any = true;
	}
	if (any)
		return;
	snprintf(name, sizeof(name), "no %s leaks", snapshot_leak_word(class));
	case_passed(u, name);
}

static void leak_cases(struct suite *u, const struct snapshot *s, const struct export_options *o)
{
	struct strbuf nothing = STRBUF_INIT;
	struct site_index by_id;

	if (!s->leaks)
		return;
	if (s->leaks->failed) {
		case_failed(u, "leak scan", "error", "scan", s->leaks->failed, &nothing);
		return;
	}
	site_index_make(&by_id, s);
	for (unsigned i = 0; i < SNAP_LEAK_REACHABLE; i++)
		if (o->failures >> i & 1)
			class_cases(u, s->leaks, &by_id, (enum snap_leak_class)i, o);
	site_index_free(&by_id);
}

static void unfreed_case(struct suite *u, const struct snapshot *s, const struct export_options *o)
{
	struct strbuf body = STRBUF_INIT, message = STRBUF_INIT;

	if (!(o->failures & EXPORT_FAILURE_UNFREED))
		return;
	if (s->totals.live_blocks == 0) {
		case_passed(u, "all freed");
		return;
	}
	sum_text(&message, s->totals.live_blocks, s->totals.live_bytes);
	strbuf_puts(&message, " not freed");
	text_sites(&body, s, o);
	case_failed(u, "all freed", "failure", "unfreed", strbuf_text(&message), &body);
	u->cases.failed |= message.failed;
	strbuf_free(&message);
}

/* ---- wrong frees ---- */

static bool is_mismatch(enum snap_wrong_kind kind)
{
	return kind == SNAP_WRONG_MISMATCHED || kind == SNAP_WRONG_SIZED;
}

static void wrong_case(struct suite *u, const struct snap_wrong_free *f, const char *type,
	const struct export_options *o)
{
	const struct row_style style = { .names = o->names, .show_hidden = o->show_hidden };
	const struct snap_site site = { .alloc_function = f->freed_by, .stack = f->stack };
	char function[COLUMN_TEXT_MAX] = "?", place[COLUMN_TEXT_MAX] = "",
	     line[WRONG_FREES_LINE_MAX];
	struct strbuf body = STRBUF_INIT, name = STRBUF_INIT;

	if (f->stack) {
		site_name(&site, &style, function, sizeof(function));
		site_place(&site, &style, place, sizeof(place));
	}
	strbuf_printf(&name, "%s free: %s%s%s", type, function, place[0] ? " " : "", place);
	strbuf_putc(&body, '\n');
	wrong_frees_text_stacks(&body, f, o);
	case_failed(u, strbuf_text(&name), "failure", type, wrong_frees_line(f, line), &body);
	u->cases.failed |= name.failed;
	strbuf_free(&name);
}

/* Those at places that there was no room for. */
static void unlisted_case(struct suite *u, const char *type, uint64_t count)
{
	struct strbuf body = STRBUF_INIT;
	char name[64], message[96], exact[UNITS_MAX + 8];

	snprintf(name, sizeof(name), "%s frees elsewhere", type);
	snprintf(message, sizeof(message), "%s at places that did not fit into the table",
		units_exact(exact, count));
	case_failed(u, name, "failure", type, message, &body);
}

/* `count`: of all such frees. */
static void wrong_cases_of(struct suite *u, const struct snapshot *s, bool mismatch, uint64_t count,
	const struct export_options *o)
{
	const char *type = mismatch ? "mismatched" : "bad";
	uint64_t listed = 0;
	char name[64];

	for (size_t i = 0; i < s->nwrong; i++) {
		if (is_mismatch(s->wrong[i].kind) != mismatch)
			continue;
		wrong_case(u, &s->wrong[i], type, o);
		listed += s->wrong[i].count;
	}
	if (count > listed)
		unlisted_case(u, type, count - listed);
	if (count > 0)
		return;
	snprintf(name, sizeof(name), "no %s frees", type);
	case_passed(u, name);
}

static void wrong_cases(struct suite *u, const struct snapshot *s, const struct export_options *o)
{
	struct strbuf nothing = STRBUF_INIT;
	bool bad = o->failures & EXPORT_FAILURE_BADFREE,
	     mismatch = o->failures & EXPORT_FAILURE_MISMATCH;

	if ((bad || mismatch) && !s->totals.has_wrong) {
		case_failed(u, "wrong frees", "error", "wrong frees",
			"wrong frees are not known for this moment", &nothing);
		return;
	}
	if (bad)
		wrong_cases_of(u, s, false, wrong_frees_bad(s), o);
	if (mismatch)
		wrong_cases_of(u, s, true, wrong_frees_mismatched(s), o);
}

/* ---- limits ---- */

static void limit_cases(struct suite *u, const struct export_options *o)
{
	struct strbuf nothing = STRBUF_INIT;

	for (unsigned i = 0; i < o->nlimits; i++)
		if (o->limits[i].failed)
			case_failed(u, o->limits[i].name, "failure", "limit", o->limits[i].line,
				&nothing);
		else
			case_passed(u, o->limits[i].name);
}

static void suite_put(struct strbuf *out, const struct snapshot *s, const struct suite *u)
{
	strbuf_puts(out, "  <testsuite");
	xml_attribute(out, "name", "heaptop");
	strbuf_printf(out, " tests=\"%u\" failures=\"%u\" errors=\"%u\" time=\"%.3f\"", u->tests,
		u->failures, u->errors, (double)s->uptime_ns / 1e9);
	strbuf_puts(out, ">\n");
	strbuf_puts(out, strbuf_text(&u->cases));
	strbuf_puts(out, "  </testsuite>\n");
	out->failed |= u->cases.failed;
}

static struct suite suite_of(const struct snapshot *s)
{
	return (struct suite){ .cases = STRBUF_INIT, .program = s->command ? s->command : "?" };
}

/* The tests of one process. */
static void process_cases(struct suite *u, const struct snapshot *s, const struct export_options *o)
{
	leak_cases(u, o->whole ? o->whole : s, o); /* a filter does not hide a failure's stack */
	wrong_cases(u, o->whole ? o->whole : s, o);
}

/* One of the launch's other processes, with what was checked there. */
static void child_put(
	struct strbuf *out, const struct snapshot *of, size_t i, const struct export_options *o)
{
	const struct snapshot *s = of->children[i];
	struct suite u = suite_of(s);

	process_cases(&u, s, o);
	if (snapshot_child_left(of, i))
		unfreed_case(&u, s, o);
	if (u.tests)
		suite_put(out, s, &u);
	strbuf_free(&u.cases);
}

void export_junit(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	struct suite u = suite_of(s);

	process_cases(&u, s, o);
	unfreed_case(&u, s, o);
	limit_cases(&u, o);
	strbuf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	suite_put(out, s, &u);
	strbuf_free(&u.cases);
	for (size_t i = 0; i < s->nchildren; i++) {
		const struct export_options child = export_child_options(o, i);

		child_put(out, s, i, &child);
	}
	strbuf_puts(out, "</testsuites>\n");
}
