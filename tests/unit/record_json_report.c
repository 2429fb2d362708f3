/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON reports read back (src/record/json_report.h): what was written is what is read, a report cut
 * off at any byte or with any byte changed ends in a message or a snapshot, and what is read is
 * safe for a terminal.
 */
#include <stdlib.h>
#include <unistd.h>

#include "src/export/export.h"
#include "src/record/json_report.h"
#include "tests/unit/canned.h"
#include "tests/check.h"

static char message[JSON_REPORT_MESSAGE_MAX];
static const struct export_options options = { .sort = COL_LIVE, .version = "1" };

static void report_make(struct strbuf *out, const struct snapshot *s)
{
	strbuf_reset(out);
	export_json(out, s, &options);
}

static struct snapshot *parse(const char *text)
{
	return json_report_parse(text, strlen(text), "r.json", message);
}

TEST(what_was_written_is_read)
{
	struct strbuf written = STRBUF_INIT, again = STRBUF_INIT;
	struct snapshot *s;

	report_make(&written, &canned);
	s = parse(written.data);
	CHECK(s != NULL);
	if (!s)
		return;
	report_make(&again, s);
	CHECK_STR(again.data, written.data);
	CHECK_STR(s->command, "./server --port 80");
	CHECK_INT(s->signal, 11);
	CHECK_INT(s->sites[0].stack->title, 1);
	CHECK(s->sites[0].stack->resolved);
	CHECK_STR(snapshot_frame(s->sites[0].stack, 1)->module->name, "server");
	CHECK(!s->totals.has_at_peak);
	snapshot_unref(s);
	strbuf_free(&written);
	strbuf_free(&again);
}

TEST(what_is_not_known_stays_so)
{
	struct strbuf written = STRBUF_INIT, again = STRBUF_INIT;
	struct snapshot s = canned, *read;

	s.totals.no_reallocs = s.totals.no_peak_time = true;
	report_make(&written, &s);
	CHECK(strstr(written.data, "\"reallocs\": null") != NULL);
	CHECK(strstr(written.data, "\"peak_ns\": null") != NULL);
	read = parse(written.data);
	CHECK(read && read->totals.no_reallocs && read->totals.no_peak_time);
	if (read)
		report_make(&again, read);
	CHECK_STR(again.data ? again.data : "", written.data);
	snapshot_unref(read);
	strbuf_free(&written);
	strbuf_free(&again);
}

TEST(mapped_memory_is_read_apart)
{
	struct strbuf written = STRBUF_INIT, again = STRBUF_INIT;
	struct snapshot with = canned, *s;

	canned_mapped_add(&with);
	report_make(&written, &with);
	s = parse(written.data);
	CHECK(s != NULL);
	if (!s)
		return;
	CHECK_INT(s->nsites, canned.nsites);
	CHECK_INT(s->nmapped, 2);
	CHECK_INT(s->mapped[0].kind, SNAP_SHM);
	CHECK_INT(s->totals.mapped_bytes, 24576);
	report_make(&again, s);
	CHECK_STR(again.data, written.data);
	snapshot_unref(s);
	strbuf_free(&written);
	strbuf_free(&again);
}

TEST(children_are_read_and_live_as_long_as_their_parent)
{
	struct snapshot child = canned, parent = canned;
	const struct snapshot *const children[] = { &child, &canned };
	struct strbuf written = STRBUF_INIT, again = STRBUF_INIT;
	struct snapshot *s;

	child.pid = 7;
	parent.children = children;
	parent.nchildren = 2;
	report_make(&written, &parent);
	s = parse(written.data);
	CHECK(s && s->nchildren == 2);
	if (s && s->nchildren == 2) {
		CHECK_INT(s->children[0]->pid, 7);
		CHECK(s->children[0]->owner != s->owner);
		report_make(&again, s);
		CHECK_STR(again.data, written.data);
	}
	snapshot_unref(s);
	strbuf_free(&written);
	strbuf_free(&again);
}

TEST(numbers_are_exact_and_others_count_as_unknown)
{
	struct snapshot *s =
		parse("{\"heaptop\":\"1\",\"format\":1,\"totals\":{\"allocs\":18446744073709551615,"
		      "\"frees\":-1,\"alloc_bytes\":1e6,\"live_bytes\":\"12\",\"temporary\":null,"
		      "\"at_peak_bytes\":5},\"sites\":[{\"live_bytes\":9007199254740993}]}");

	CHECK(s != NULL);
	if (!s)
		return;
	CHECK(s->totals.allocs == UINT64_MAX);
	CHECK_INT(s->totals.frees, 0);
	CHECK_INT(s->totals.alloc_bytes, 1000000);
	CHECK_INT(s->totals.live_bytes, 0);
	CHECK(s->totals.has_at_peak);
	CHECK_INT(s->sites[0].live_bytes, 9007199254740993);
	CHECK_INT(s->sites[0].stack->nframes, 1); /* others rely on one */
	CHECK_STR(s->sites[0].alloc_function, "");
	snapshot_unref(s);
}

static void refused(const char *text, const char *why)
{
	struct snapshot *s = parse(text);

	CHECK(!s);
	CHECK_STR(message, why);
	snapshot_unref(s);
}

TEST(what_is_no_report_is_refused_in_one_line)
{
	refused("", "r.json: not a JSON report: line 1: an object expected");
	refused("[]", "r.json: not a JSON report: line 1: an object expected");
	refused("{}", "r.json: not a JSON report: line 1: a member's name expected");
	refused("{\"a\":1}", "r.json: not a JSON report of heaptop: it has no \"format\"");
	refused("{\"format\":1}", "r.json: not a JSON report of heaptop: it has no \"sites\"");
	refused("{\"format\":2,\"sites\":[]}", "r.json: a report of another format (newer), not 1");
	refused("{\"format\":1,\n\"sites\":[17]}",
		"r.json: not a JSON report: line 2: a call site must be an object");
	refused("{\"format\":1,\"sites\":[]}{\"format\":1,\"sites\":[]}",
		"r.json: not a JSON report: line 1: a second report follows; split the file");
	refused("{\"format\":1,\"sites\":[{\"id\":4194303},\n{\"id\":4194304}]}",
		"r.json: not a JSON report: line 2: a call site's id is too large");
	refused("{\"format\":1,\"sites\":[{\"id\":2863311530}]}",
		"r.json: not a JSON report: line 1: a call site's id is too large");
	refused("{\"format\":1,\"sites\":[{\"id\":4294967301,\"kind\":\"mmap\"}]}",
		"r.json: not a JSON report: line 1: a call site's id is too large");
	refused("{\"format\":1,\"sites\":[{},\n{\"id\"",
		"r.json: not a JSON report: line 2: it ends in the middle (was it written to the "
		"end?)");
	refused("{\"format\":1,\"sites\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]",
		"r.json: not a JSON report: line 1: nesting too deep");
}

/* Ids are indices. */
TEST(an_old_row_of_ignored_sites_gets_an_id)
{
	struct snapshot *s = parse("{\"format\":1,\"sites\":[{\"id\":4294967294},{\"id\":3},"
				   "{\"id\":8,\"kind\":\"brk\"},{\"id\":5}]}");

	CHECK(s && s->nsites == 3 && s->nmapped == 1);
	if (!s)
		return;
	CHECK_INT(s->sites[0].id, 9);
	CHECK_INT(s->sites[1].id, 3);
	CHECK_INT(s->sites[2].id, 5);
	snapshot_unref(s);
}

static void clean_check(const char *text)
{
	for (const char *p = text; p && *p; p++)
		CHECK((unsigned char)*p >= ' ');
}

TEST(texts_are_clean)
{
	struct snapshot *s = parse("{\"format\":1,\"process\":{\"command\":[\"a\\u001b[2J\","
				   "\"b\\u0000c\"]},\"notice\":"
				   "\"\\u0007\",\"sites\":[{\"function\":\"m\\n\",\"stack\":[{"
				   "\"function\":\"f\\u009b\","
				   "\"module\":\"/x\\ty\",\"file\":\"\\r\"}]}]}");

	CHECK(s != NULL);
	if (!s)
		return;
	CHECK_STR(s->command, "a?[2J b?c");
	clean_check(s->notice);
	clean_check(s->sites[0].alloc_function);
	CHECK_STR(snapshot_frame(s->sites[0].stack, 0)->function, "f?");
	CHECK_STR(snapshot_frame(s->sites[0].stack, 0)->module->path, "/x?y");
	CHECK_STR(snapshot_frame(s->sites[0].stack, 0)->file, "?");
	snapshot_unref(s);
}

/* Each result must be whole enough to be written. */
static bool tried(const char *text, size_t len)
{
	struct strbuf out = STRBUF_INIT;
	struct snapshot *s = json_report_parse(text, len, "r.json", message);

	if (s)
		report_make(&out, s);
	else
		CHECK(message[0] && !strchr(message, '\n'));
	snapshot_unref(s);
	strbuf_free(&out);
	return s != NULL;
}

TEST(cut_off_at_any_byte)
{
	struct strbuf written = STRBUF_INIT;

	report_make(&written, &canned);
	for (size_t len = 0; len + 1 < written.len; len++) {
		char *exact = malloc(len + 1); /* so that a sanitizer sees a read past it */

		memcpy(exact, written.data, len);
		CHECK(!tried(exact, len));
		free(exact);
	}
	strbuf_free(&written);
}

TEST(any_byte_changed)
{
	static const char other[] = { '"', '{', '}', '[', ',', '9', '-', 'e', '\\', '\0', '\377' };
	struct strbuf written = STRBUF_INIT;

	report_make(&written, &canned);
	for (size_t i = 0; i < written.len; i++) {
		char was = written.data[i];

		written.data[i] = other[i % sizeof(other)];
		tried(written.data, written.len);
		written.data[i] = was;
	}
	CHECK(tried(written.data, written.len));
	strbuf_free(&written);
}

TEST(files)
{
	char path[] = "/tmp/heaptop-json-XXXXXX";
	struct strbuf written = STRBUF_INIT;
	int fd = mkstemp(path);
	struct snapshot *s;

	CHECK(!json_report_is(path));
	report_make(&written, &canned);
	CHECK_INT(strbuf_write(&written, fd), 0);
	CHECK(json_report_is(path));
	s = json_report_open(path, message);
	CHECK(s && s->nsites == 4);
	snapshot_unref(s);
	close(fd);
	unlink(path);
	CHECK(!json_report_is(path));
	CHECK(!json_report_open(path, message));
	CHECK(strstr(message, "No such file") != NULL);
	CHECK(!json_report_open("/", message));
	CHECK_STR(message, "/: not a regular file");
	strbuf_free(&written);
}

int main(void)
{
	RUN(what_was_written_is_read);
	RUN(what_is_not_known_stays_so);
	RUN(mapped_memory_is_read_apart);
	RUN(children_are_read_and_live_as_long_as_their_parent);
	RUN(numbers_are_exact_and_others_count_as_unknown);
	RUN(what_is_no_report_is_refused_in_one_line);
	RUN(an_old_row_of_ignored_sites_gets_an_id);
	RUN(texts_are_clean);
	RUN(cut_off_at_any_byte);
	RUN(any_byte_changed);
	RUN(files);
	return check_end();
}
