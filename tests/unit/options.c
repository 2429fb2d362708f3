/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line: what each option sets, what is refused, and that every refusal is one line. */
#include "src/export/formats.h"
#include "src/run/option_values.h"
#include "tests/unit/options_fixture.h"

/* The model has the words for grouping, too. */
TEST(words)
{
	char keys[200] = "";

	for (int i = 0; i < GROUP_COUNT; i++)
		snprintf(keys + strlen(keys), sizeof(keys) - strlen(keys), "%s\n",
			group_table[i].key);
	CHECK_STR(PARSE("--group", "help").out, keys);
	CHECK_INT(PARSE("--group", "help").status, 0);
	CHECK_STR(PARSE("-C", "help", "x").out, "auto\nalways\nnever\n");
	CHECK(refused(PARSE("--group", "threads", "x"),
		"must be stack, caller, function, file, module, type or thread;"));
	CHECK(refused(PARSE("--leak-roots", "all", "x"),
		"must be one or more of registers,vectors,stacks,globals,maps,tls;"));
}

TEST(defaults)
{
	struct parsed p = PARSE("--", "./app", "-b", "--help");

	CHECK_INT(p.status, -1);
	CHECK_STR(p.err, "");
	CHECK_INT(p.o.mode, OPTIONS_RUN);
	CHECK_STR(p.o.command[0], "./app");
	CHECK_STR(p.o.command[1], "-b");
	CHECK_STR(p.o.command[2], "--help");
	CHECK(!p.o.command[3]);
	CHECK_INT(p.o.delay_ns, 1000000000);
	CHECK_INT(p.o.depth, 128);
	CHECK_INT(p.o.top, 20);
	CHECK_INT(p.o.frames, 0);
	CHECK_INT(p.o.sort, COL_LIVE);
	CHECK(!p.o.batch && !p.o.report && !p.o.output && !p.o.fail_on && !p.o.leak_check &&
		!p.o.library);
	CHECK_INT(p.o.color, OPTIONS_COLOR_AUTO);
	CHECK_INT(p.o.follow, OPTIONS_FOLLOW_DEFAULT);
}

TEST(command_without_dashes)
{
	struct parsed p = PARSE("-b", "ls", "-l", "--clean");

	CHECK_INT(p.status, -1);
	CHECK(p.o.batch);
	CHECK_INT(p.o.mode, OPTIONS_RUN);
	CHECK_STR(p.o.command[0], "ls");
	CHECK_STR(p.o.command[1], "-l");
}

TEST(modes)
{
	struct parsed p = PARSE("-a", "123");

	CHECK_INT(p.status, -1);
	CHECK_INT(p.o.mode, OPTIONS_ATTACH);
	CHECK_INT(p.o.pid, 123);
	p = PARSE("--read=left.seg", "--report");
	CHECK_INT(p.o.mode, OPTIONS_READ);
	CHECK_STR(p.o.file, "left.seg");
	CHECK_INT(PARSE("-l").o.mode, OPTIONS_LIST);
	CHECK_INT(PARSE("--list").o.mode, OPTIONS_LIST);
	CHECK_INT(PARSE("--clean").o.mode, OPTIONS_CLEAN);
}

/* Processes: by pid, by name, to be chosen, to be waited for, with children. */
TEST(attaching)
{
	struct parsed p = PARSE("-a", "12,15,12", "--keep", "--attach-timeout", "90s");

	CHECK_INT(p.status, -1);
	CHECK(p.o.attach.count == 2 && p.o.attach.pids[0] == 12 && p.o.attach.pids[1] == 15);
	CHECK(p.o.pid == 12 && p.o.attach.keep && !p.o.attach.choose && !p.o.attach.name);
	CHECK(p.o.attach.timeout_ns == UINT64_C(90000000000));
	p = PARSE("--attach=nginx", "-b");
	CHECK(p.status == -1 && p.o.mode == OPTIONS_ATTACH && p.o.batch && p.o.pid == 0);
	CHECK(p.o.attach.timeout_ns == UINT64_C(30000000000) && !p.o.attach.wait);
	CHECK_STR(PARSE("-a", "/usr/bin/7z").o.attach.name, "/usr/bin/7z");
	p = PARSE("-b", "-a");
	CHECK(p.status == -1 && p.o.attach.choose && p.o.batch && !p.o.attach.name);
	p = PARSE("-a", "-d", "2");
	CHECK(p.status == -1 && p.o.attach.choose && p.o.delay_ns == 2000000000);
	p = PARSE("--attach", "--ascii");
	CHECK(p.status == -1 && p.o.attach.choose && p.o.ascii);
	p = PARSE("--wait", "nginx", "-b");
	CHECK(p.status == -1 && p.o.mode == OPTIONS_ATTACH && p.o.attach.wait && p.o.pid == 0);
	CHECK_INT(PARSE("--detach", "12,15", "--attach-timeout=5").o.attach.count, 2);
	p = PARSE("--detach", "nginx");
	CHECK(p.status == -1 && p.o.mode == OPTIONS_DETACH && p.o.attach.count == 0);
	CHECK_STR(p.o.attach.name, "nginx");
	CHECK(refused(PARSE("-a", "nginx", "ls"), "only one of"));
	CHECK(refused(PARSE("-a", "1", "--wait", "nginx"), "not with -a"));
	CHECK(refused(PARSE("--keep", "ls"), "--keep requires -a"));
	CHECK(refused(PARSE("--attach-timeout", "5", "ls"), "--attach-timeout requires -a"));
	CHECK(refused(PARSE("--detach", "1", "-b"), "cannot be combined"));
	CHECK_INT(PARSE("--allocators", "none", "-a", "1").status, -1);
	CHECK(refused(PARSE("--allocators", "none", "-r", "f"), "requires a COMMAND or -a"));
}

/* One option has both meanings: a number behind it is no command. */
TEST(tree_of_a_process)
{
	struct parsed p = PARSE("--tree", "4211", "-d", "2");

	CHECK(p.status == -1 && p.o.mode == OPTIONS_ATTACH && p.o.pid == 4211);
	CHECK(p.o.attach.descendants && !p.o.tree && p.o.delay_ns == 2000000000);
	CHECK(PARSE("--tre", "1", "-t").o.tree);
	p = PARSE("--tree", "--", "4211");
	CHECK(p.o.mode == OPTIONS_RUN && p.o.tree && !p.o.attach.descendants);
	p = PARSE("-t", "4211");
	CHECK(p.o.mode == OPTIONS_RUN && p.o.tree);
	CHECK_INT(PARSE("--tree", "4211x").o.mode, OPTIONS_RUN);
	CHECK(refused(PARSE("--tree", "1", "ls"), "only one of"));
}

TEST(filter)
{
	CHECK_STR(PARSE("-F", "live>1M json", "x").o.filter, "live>1M json");
	CHECK(refused(PARSE("-F", "live>", "x"), "the comparison needs a number"));
	CHECK(refused(PARSE("--filter=", "x"), "nothing to search for"));
}

TEST(tree)
{
	CHECK(PARSE("-t", "ls").o.tree);
	CHECK(PARSE("--tree", "-a", "1").o.tree);
	CHECK(!PARSE("ls", "-t").o.tree);
	CHECK_INT(PARSE("-t", "-b", "ls").status, OPTIONS_EXIT_USAGE);
}

TEST(sampling)
{
	struct parsed p = PARSE("--sample", "500K", "x");

	CHECK_INT(p.status, -1);
	CHECK(p.o.sample.given && p.o.sample.has_rate && p.o.sample.limit == 0);
	CHECK_INT(p.o.sample.bytes, 512 << 10);
	p = PARSE("--max-overhead=2%", "-a", "1");
	CHECK(p.o.sample.given && !p.o.sample.has_rate && p.o.sample.limit == 0.02);
	p = PARSE("--sample", "auto", "x");
	CHECK(p.o.sample.limit == 0.05);
	CHECK(!PARSE("x").o.sample.given);
	CHECK(refused(PARSE("--sample", "some", "x"), "--sample some: must be"));
	CHECK(refused(PARSE("--max-overhead", "0", "x"), "--max-overhead 0: must be"));
	CHECK(refused(PARSE("--sample", "1M", "-r", "f"), "require a COMMAND or -a"));
	CHECK(refused(PARSE("--max-overhead", "5", "-l"), "require a COMMAND or -a"));
	/* A gate must not guess. */
	CHECK(refused(PARSE("--sample", "1M", "--fail-on", "unfreed", "x"), "every block"));
	CHECK(refused(PARSE("--sample", "auto", "--fail-on", "unfreed", "x"), "every block"));
	CHECK_INT(PARSE("--sample", "exact", "--fail-on", "unfreed", "x").status, -1);
}

TEST(one_mode_only)
{
	CHECK(refused(PARSE_NOTHING(), "nothing to watch"));
	CHECK(refused(PARSE("-b"), "nothing to watch"));
	CHECK(refused(PARSE("--"), "nothing to watch"));
	CHECK(refused(PARSE("-a", "1", "ls"), "only one of"));
	CHECK(refused(PARSE("-a", "1", "-r", "f"), "only one of"));
	CHECK(refused(PARSE("-l", "--clean"), "only one of"));
	CHECK(refused(PARSE("-l", "-b"), "cannot be combined"));
}

TEST(marks)
{
	struct parsed p = PARSE("--mark", "4211", "after warm-up");

	CHECK_INT(p.status, -1);
	CHECK_INT(p.o.mode, OPTIONS_MARK);
	CHECK_INT(p.o.pid, 4211);
	CHECK_STR(p.o.mark_name, "after warm-up");
	CHECK(PARSE("--mark", "4211").o.mark_name == NULL);
	CHECK_INT(PARSE("--mark-every", "2m", "x").o.mark_every_ns, 120000000000);
	CHECK(refused(PARSE("--mark", "one"), "must be a process ID"));
	CHECK(refused(PARSE("--mark", "1", "two", "words"), "only one of"));
	CHECK(refused(PARSE("--mark", "1", "-a", "2"), "only one of"));
	CHECK(refused(PARSE("--mark", "1", "-b"), "cannot be combined"));
	CHECK(refused(PARSE("--mark-every", "0", "x"), "0.1 s or more"));
	CHECK(refused(PARSE("--mark-every", "1", "-r", "f"), "requires a COMMAND"));
	CHECK(refused(PARSE("--mark-every", "1", "--readonly", "x"), "--readonly"));
}

TEST(source_path)
{
	struct parsed p = PARSE("--source-path", "/a:/b", "--source-path=c", "x");

	CHECK_INT(p.status, -1);
	CHECK_INT(p.o.nsource_paths, 2);
	CHECK_STR(p.o.source_paths[0], "/a:/b");
	CHECK_STR(p.o.source_paths[1], "c");
	CHECK(refused(PARSE("--source-path", "", "x"), "separated by colons"));
	CHECK(refused(PARSE("--source-path", "/a::/b", "x"), "separated by colons"));
	CHECK(refused(PARSE("--source-path", "/a:", "x"), "separated by colons"));
	CHECK(refused(PARSE("--source-path", "/a", "--report", "x"), "only to the screen"));
}

TEST(values)
{
	struct parsed p = PARSE("-d", "500ms", "-n3", "-s", "blocks", "-o", "f", "-b", "-D", "1024",
		"--top=0", "-C", "never", "-U", "-M", "--library", "/l.so", "--debuginfod",
		"--no-follow", "x");

	CHECK_INT(p.status, -1);
	CHECK_STR(p.err, "");
	CHECK_INT(p.o.delay_ns, 500000000);
	CHECK_INT(p.o.frames, 3);
	CHECK_INT(p.o.sort, COL_BLOCKS);
	CHECK_STR(p.o.output, "f");
	CHECK_INT(p.o.depth, 1024);
	CHECK_INT(p.o.top, 0);
	CHECK_INT(p.o.color, OPTIONS_COLOR_NEVER);
	CHECK(p.o.ascii && p.o.no_mouse && p.o.debuginfod);
	CHECK_STR(p.o.library, "/l.so");
	CHECK_INT(p.o.follow, OPTIONS_FOLLOW_NO);
	p = PARSE("--follow", "--show-hidden", "--full-names", "--color=always", "-d", "0.1", "x");
	CHECK_INT(p.o.follow, OPTIONS_FOLLOW_YES);
	CHECK(p.o.show_hidden && p.o.names == NAMES_FULL);
	CHECK_INT(p.o.color, OPTIONS_COLOR_ALWAYS);
	CHECK_INT(p.o.delay_ns, 100000000);
}

TEST(report_and_format)
{
	struct parsed p = PARSE("--report", "x");

	CHECK(p.o.report);
	CHECK_INT(p.o.format, OPTIONS_TEXT);
	p = PARSE("--format", "json", "--fail-on", "unfreed", "-o", "r.json", "x");
	CHECK_INT(p.status, -1);
	CHECK(p.o.report && p.o.fail_on == OPTIONS_FAIL_UNFREED && !p.o.leak_check);
	CHECK_INT(p.o.format, OPTIONS_JSON);
	/* --format implies --report, unless -b is there, in whichever order the two come. */
	p = PARSE("--format", "text", "-b", "x");
	CHECK_INT(p.status, -1);
	CHECK(p.o.batch && !p.o.report);
	p = PARSE("-b", "--format=json", "x"); /* one JSON object a frame */
	CHECK_INT(p.status, -1);
	CHECK(p.o.batch && p.o.format == OPTIONS_JSON);
	p = PARSE("--fail-on", "unfreed", "x"); /* so does --fail-on */
	CHECK(p.o.report && p.o.fail_on == OPTIONS_FAIL_UNFREED && !p.o.leak_check);
	p = PARSE("--fail-on", "unfreed", "-b", "x");
	CHECK_INT(p.status, -1);
	CHECK(!p.o.report);
	CHECK(refused(PARSE("-b", "--report", "x"), "cannot be combined"));
	CHECK(refused(PARSE("-o", "f", "x"), "-o requires"));
	CHECK(refused(PARSE("--fail-on", "unfreed", "-a", "1"), "requires a COMMAND"));
}

TEST(leak_check)
{
	struct parsed p = PARSE("--leak-check", "x");

	CHECK_INT(p.status, -1);
	CHECK(p.o.leak_check && p.o.report && !p.o.fail_on);
	CHECK_INT(p.o.leak_roots, OPTIONS_ROOTS_ALL);
	p = PARSE("--leak-check", "-a", "1");
	CHECK_INT(p.status, -1);
	p = PARSE("--fail-on", "definite", "--fail-on", "possible", "x"); /* needs it */
	CHECK_INT(p.status, -1);
	CHECK(p.o.leak_check && p.o.report);
	CHECK_INT(p.o.fail_on, OPTIONS_FAIL_DEFINITE | OPTIONS_FAIL_POSSIBLE);
	CHECK_INT(PARSE("--fail-on", "definite", "-a", "1").status, -1);
	p = PARSE("--leak-check", "--leak-roots", "stacks,globals", "x");
	CHECK_INT(p.status, -1);
	CHECK_INT(p.o.leak_roots, 4 | 8);
	p = PARSE("--suppressions", "a", "--suppressions", "b", "x");
	CHECK_INT(p.status, -1);
	CHECK_INT(p.o.nsuppressions, 2);
	CHECK_STR(p.o.suppressions[1], "b");
	CHECK(!p.o.leak_check && !p.o.report); /* of the screen's scans */
	CHECK(refused(PARSE("--suppressions", "a", "-b", "x"), "--leak-check"));
	CHECK(refused(PARSE("--suppressions", "a", "--report", "x"), "--leak-check"));
	p = PARSE("--gen-suppressions", "x");
	CHECK_INT(p.status, -1);
	CHECK(p.o.leak_check && p.o.report && p.o.gen_suppressions);
	CHECK(refused(PARSE("--gen-suppressions", "--format", "json", "x"), "a text report"));
	CHECK(refused(PARSE("--leak-roots", "stacks,wishes", "x"), "must be one or more of"));
	CHECK(refused(PARSE("--leak-roots=", "x"), "must be one or more of"));
	CHECK(refused(PARSE("--leak-heuristics=", "x"), "must be"));
	CHECK(refused(PARSE("--leak-check", "-b", "x"), "with -b, use --leak-check=every"));
	CHECK_INT(PARSE("--leak-check", "-r", "core").status, -1);
	CHECK(refused(
		PARSE("--gen-suppressions", "--leak-check=every:1s", "-b", "x"), "not with -b"));
	CHECK(refused(PARSE("--leak-check", "--sample", "1M", "x"), "every block"));
}

TEST(leak_check_every)
{
	struct parsed p = PARSE("--leak-check=every:30s", "x");

	CHECK_INT(p.status, -1);
	CHECK(p.o.leak_check && p.o.report && !p.o.batch);
	CHECK(p.o.leak_every_ns == UINT64_C(30000000000));
	CHECK_STR(p.o.command[0], "x");
	p = PARSE("-b", "--leak-check=every:100ms", "-a", "1");
	CHECK_INT(p.status, -1);
	CHECK(p.o.leak_check && !p.o.report && p.o.batch);
	CHECK(p.o.leak_every_ns == 100000000);
	p = PARSE("--leak-check", "every:30s"); /* a command of that name */
	CHECK_INT(p.status, -1);
	CHECK(p.o.leak_every_ns == 0);
	CHECK_STR(p.o.command[0], "every:30s");
	CHECK(refused(PARSE("--leak-check=every:10ms", "x"), "0.1 s or more"));
	CHECK(refused(PARSE("--leak-check=always", "x"), "must be every:TIME"));
	CHECK(refused(PARSE("--leak-check=every:1s", "-r", "f"), "requires a COMMAND"));
}

/* JUnit reports failures: those of --fail-on, or definite leaks. The exit status is --fail-on's. */
TEST(junit)
{
	struct parsed p = PARSE("--format", "junit", "x");

	CHECK_INT(p.status, -1);
	CHECK(p.o.report && p.o.format == OPTIONS_JUNIT && p.o.leak_check);
	CHECK_INT(p.o.failures, OPTIONS_FAIL_DEFINITE);
	CHECK_INT(p.o.fail_on, 0);
	p = PARSE("--format", "junit", "--fail-on", "unfreed", "x");
	CHECK_INT(p.status, -1);
	CHECK(!p.o.leak_check);
	CHECK_INT(p.o.failures, OPTIONS_FAIL_UNFREED);
	CHECK(refused(PARSE("--format", "junit", "-b", "x"), "not with -b"));
	CHECK_INT(PARSE("--format", "junit", "-r", "core").status, -1);
}

TEST(bad_values)
{
	static const char *const bad[][2] = { { "-d", "0.05" }, { "-d", "61" }, { "-d", "fast" },
		{ "-d", "" }, { "-d", "-1" }, { "-n", "0" }, { "-n", "-3" }, { "-n", "3x" },
		{ "-n", "" }, { "-n", "99999999999999999999" }, { "-s", "nonsense" }, { "-D", "0" },
		{ "-D", "1025" }, { "--top", "-1" }, { "--top", " 1" }, { "-C", "sometimes" },
		{ "-a", "0" }, { "-a", "12," }, { "-a", "4294967297" }, { "-a", "1x" },
		{ "-a", "1,,2" }, { "-a", "" }, { "--detach", "" }, { "--detach", "1,x" },
		{ "--wait", "" }, { "--attach-timeout", "0" }, { "--attach-timeout", "2h" },
		{ "--format", "xml" }, { "--fail-on", "bugs" }, { "--library", "" } };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(refused(PARSE(bad[i][0], bad[i][1], "x"), bad[i][0]));
		CHECK(refused(PARSE(bad[i][0], bad[i][1], "x"), *bad[i][1] ? bad[i][1] : "\"\""));
	}
}

TEST(missing_values)
{
	CHECK(refused(PARSE("-d"), "-d requires a value (SECS)"));
	CHECK(refused(PARSE("--delay"), "-d requires a value (SECS)"));
	CHECK(refused(PARSE("--top"), "--top requires a value (N)"));
	CHECK(refused(PARSE("--detach"), "--detach requires a value (PID)"));
	/* What follows is another option, and not its value; unless it is said to be. */
	CHECK(refused(PARSE("--record", "--report", "a"),
		"--record requires a value (FILE) before --report"));
	CHECK(refused(
		PARSE("--diff", "--top", "5", "a"), "--diff requires a value (FILE) before --top"));
	CHECK(refused(PARSE("-o", "--", "a"), "-o requires a value (FILE) before --"));
	CHECK_STR(PARSE("--record=--report", "a").o.record, "--report");
	CHECK(refused(PARSE("--list=3"), "-l takes no value"));
}

TEST(unknown_options)
{
	CHECK(refused(PARSE("-Z", "x"), "unknown option -Z"));
	CHECK(refused(PARSE("-bZ", "x"), "unknown option -Z"));
	CHECK(refused(PARSE("-x", "x"), "unknown option -x"));
	CHECK(refused(PARSE("-p", "1"), "unknown option -p"));
	CHECK(refused(PARSE("-b", "--nonsense", "x"), "unknown option --nonsense"));
	CHECK(refused(PARSE("--nonsense=1", "x"), "unknown option --nonsense"));
	CHECK(refused(PARSE("--n\033[31m", "x"), "unknown option --n?[31m"));
}

TEST(formats_and_values)
{
	struct parsed p = PARSE("--format", "pprof", "--value", "allocated", "x");

	CHECK(p.o.report && p.o.format == OPTIONS_PPROF && p.o.format_given);
	CHECK(p.o.value == VALUE_ALLOCATED && p.o.value_given);
	p = PARSE("--format", "folded", "-b", "-n", "1", "x");
	CHECK(p.o.batch && !p.o.report && p.o.value == VALUE_LIVE && !p.o.value_given);
	CHECK(refused(PARSE("--format", "mtrac", "x"), "perfetto, mtrace or heaptrack"));
	CHECK(refused(PARSE("--format", "mtrace", "x"), "require -r FILE"));
	CHECK(refused(PARSE("--lossless", "x"), "requires --record-events"));
	CHECK(refused(PARSE("--record-events", "f", "-r", "g"), "--record-events requires"));
	CHECK(refused(PARSE("--record-events", "f", "--sample", "1M", "x"), "not with --sample"));
	CHECK(refused(PARSE("--trace", "7", "x"), "--trace requires -a"));
	CHECK(refused(PARSE("--format", "folded", "--value", "own-peak", "x"), "must be live"));
	CHECK(refused(PARSE("--format", "csv", "--value", "live", "x"), "--value requires"));
	CHECK(refused(PARSE("--format", "csv", "-b", "x"), "use -n 1"));
	for (int i = 0; i < EXPORT_FORMATS; i++)
		CHECK_STR(option_values_words("format")->words[i], export_formats[i].name);
	for (int v = 0; v < VALUE_OWN_PEAK; v++)
		CHECK_STR(option_values_words("value")->words[v], value_table[v].word);
}

TEST(version)
{
	struct parsed p = PARSE("-V");

	CHECK_INT(p.status, 0);
	CHECK_STR(p.out, "heaptop " HEAPTOP_VERSION "\n");
}

TEST(sort_help_lists_every_column)
{
	struct parsed p = PARSE("-s", "help");

	CHECK_INT(p.status, 0);
	for (int i = 0; i < COL_COUNT; i++)
		CHECK(strstr(p.out, column_table[i].key));
	for (int i = 0; i < COL_COUNT; i++)
		CHECK_INT(PARSE("-s", column_table[i].key, "x").o.sort, i);
}

TEST(recordings)
{
	struct parsed p = PARSE("--record", "f", "--record-limit", "64M", "--history", "0", "a");

	CHECK_INT(p.status, -1);
	CHECK_STR(p.o.record, "f");
	CHECK(p.o.record_limit == 64u << 20);
	CHECK(p.o.history_limit == 0);
	p = PARSE("--record", "f", "-a", "1");
	CHECK(p.o.history_limit == 32u << 20 && p.o.record_limit == 1u << 30);
	CHECK_INT(PARSE("--record", "f", "-b", "a").status, -1);
	CHECK_INT(PARSE("--record", "f", "--report", "a").status, -1);
	CHECK(PARSE("--headless", "--record", "f", "a").o.headless);
	CHECK(refused(PARSE("--record", "f", "-r", "s"), "--record requires"));
	CHECK(refused(PARSE("--record", "", "a"), "--record \"\": must be"));
	CHECK(refused(PARSE("--headless", "a"), "--headless requires --record"));
	CHECK(refused(PARSE("--headless", "--record", "f", "-b", "a"), "--headless excludes"));
	CHECK(refused(PARSE("--history", "1K", "a"), "--history 1K: must be 1M or more"));
	CHECK(refused(PARSE("--record-limit", "x", "a"), "--record-limit x: must be"));
	CHECK(refused(PARSE("--record-limit", "1G", "a"), "requires --record"));
	CHECK(p.o.record_rate == 60u << 20);
	CHECK(PARSE("--record", "f", "--record-rate", "0", "a").o.record_rate == 0);
	CHECK(PARSE("--record", "f", "--record-rate", "2G", "a").o.record_rate == 2ull << 30);
	CHECK(refused(PARSE("--record", "f", "--record-rate", "1", "a"), "must be 1M an hour"));
	CHECK(refused(PARSE("--record-rate", "9M", "a"), "requires --record"));
}

TEST(moments)
{
	CHECK_STR(PARSE("-r", "f", "--at", "1m30s").o.at, "1m30s");
	CHECK_INT(PARSE("-r", "f", "--at", "peak", "-b").status, -1);
	CHECK_INT(PARSE("--at", "1s..2s", "--report", "a").status, -1);
	CHECK(refused(PARSE("--at", "x", "--report", "a"), "--at x: must be a time"));
	CHECK(refused(PARSE("--at", "peak", "a"), "--at requires -r FILE, --diff or a report"));
	CHECK(refused(
		PARSE("--at", "peak", "-b", "a"), "--at requires -r FILE, --diff or a report"));
}

TEST(diff)
{
	struct parsed p = PARSE("--diff", "a", "b");

	CHECK_INT(p.status, -1);
	CHECK_INT(p.o.mode, OPTIONS_DIFF);
	CHECK_INT(p.o.diff[0].count, 1);
	CHECK_STR(p.o.diff[1].file[0], "b");
	CHECK(!p.o.report);
	p = PARSE("--diff", "a", "b", "--format", "json"); /* options may follow */
	CHECK_INT(p.status, -1);
	CHECK(p.o.format == OPTIONS_JSON && p.o.report && p.o.diff[1].count == 1);
	p = PARSE("--diff", "a1", "--value", "allocs", "a2", "--", "b1", "--top", "b3");
	CHECK_INT(p.status, -1);
	CHECK_INT(p.o.value, VALUE_ALLOCS);
	CHECK_INT(p.o.diff[0].count, 2);
	CHECK_INT(p.o.diff[1].count, 3); /* behind -- all are files */
	CHECK_STR(p.o.diff[1].file[1], "--top");
	p = PARSE("--diff", "a", "--", "b");
	CHECK(p.status == -1 && p.o.diff[0].count == 1 && p.o.diff[1].count == 1);
	CHECK(PARSE("--diff", "a", "b", "-o", "f").o.report);
	CHECK(refused(PARSE("--diff"), "requires a value"));
	CHECK(refused(PARSE("--diff", "a"), "requires two files"));
	CHECK(refused(PARSE("--diff", "a", "b", "c"), "requires two files"));
	CHECK(refused(PARSE("--diff", "--", "b"), "A's files come before"));
	CHECK(refused(PARSE("--diff", "a", "--"), "requires two files"));
	CHECK(refused(PARSE("--diff", "a", "b", "-a", "1"), "only one of"));
	CHECK(refused(PARSE("--diff", "a", "b", "-b"), "not with -b"));
	CHECK(refused(PARSE("--diff", "a", "b", "--format", "pprof"), "text, json or folded"));
	CHECK(refused(PARSE("--value", "allocs", "x"), "--value requires --diff"));
	CHECK(refused(PARSE("--value", "size", "x"), "must be live, blocks, "));
}

TEST(limits)
{
	struct parsed p = PARSE("--fail-on", "peak>64M", "--fail-on", "definite", "x");

	CHECK_INT(p.status, -1);
	CHECK(p.o.report && p.o.leak_check && p.o.nconditions == 1);
	CHECK_INT(p.o.fail_on, OPTIONS_FAIL_DEFINITE);
	p = PARSE("--fail-on", "allocs>1e6", "-b", "-a", "1");
	CHECK(p.status == -1 && !p.o.report && !p.o.leak_check);
	p = PARSE("--diff", "a", "b", "--fail-on", "site-growth>5%");
	CHECK(p.status == -1 && p.o.report);
	CHECK(refused(PARSE("--fail-on", "growth>5%", "x"), "requires --diff"));
	CHECK(refused(PARSE("--diff", "a", "b", "--fail-on", "peak>1"), "takes growth"));
	CHECK(refused(PARSE("--diff", "a", "b", "--fail-on", "unfreed"), "takes growth"));
	CHECK(refused(PARSE("--fail-on", "peak>", "x"), "must be a limit such as"));
	CHECK(refused(PARSE("--fail-on", "bugs", "x"), "or a limit such as"));
}

int main(void)
{
	RUN(words);
	RUN(defaults);
	RUN(command_without_dashes);
	RUN(modes);
	RUN(attaching);
	RUN(tree_of_a_process);
	RUN(filter);
	RUN(tree);
	RUN(sampling);
	RUN(one_mode_only);
	RUN(marks);
	RUN(source_path);
	RUN(values);
	RUN(report_and_format);
	RUN(leak_check);
	RUN(leak_check_every);
	RUN(junit);
	RUN(recordings);
	RUN(moments);
	RUN(bad_values);
	RUN(missing_values);
	RUN(unknown_options);
	RUN(formats_and_values);
	RUN(version);
	RUN(sort_help_lists_every_column);
	RUN(diff);
	RUN(limits);
	return check_end();
}
