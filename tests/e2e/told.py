#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a program tells heaptop through heaptop.h, and LeakSanitizer's functions of the same meaning."""

import glob
import json
import os
import subprocess

from proving import (HEAPTOP, LIBRARY, ROOT, case, check, check_consistent, check_equal, environment, kill_hard,
                     report, run, run_cases, scratch, sites_named, target, wait_for)


def say(process, *lines):
    for line in lines:
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
        check_equal(process.stdout.readline(), b"done\n", line)


class Told:
    """The program, under heaptop with these options."""

    def __init__(self, *options, cwd=scratch):
        env = environment(XDG_STATE_HOME=os.path.join(scratch, "state"))
        self.process = subprocess.Popen([HEAPTOP, *options, "--", target("told")], env=env, cwd=cwd,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        check_equal(self.process.stdout.readline(), b"1\n", "heaptop_is_on")

    def say(self, *lines):
        say(self.process, *lines)

    def end(self):
        self.process.stdin.close()
        check_equal(self.process.wait(60), 0, "the end")


def read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


@case("without heaptop the functions do nothing, and are there all the same")
def absent():
    done = run([target("told")], stdin=b"mark a\nscan\nsnapshot\npause 4\nmean\n")
    check_equal((done.returncode, done.stdout), (0, b"0\n" + 5 * b"done\n"), "the program alone")


@case("what a program allocates while it has paused recording is left out, and counted")
def paused():
    done, rep = report([target("told")], stdin=b"keep\npause 10\nunpause\nkeep\npause 7\n")
    check_equal(done.stdout, b"1\n" + 5 * b"done\n", "what the program says")
    check_consistent(rep)
    check_equal(len(sites_named(rep, "told_pause")), 0, "sites of what was paused")
    # realloc of a new block: two for each
    check_equal(rep["totals"]["paused_blocks"], 2 * 17, "blocks left out")
    check_equal(rep["totals"]["paused_bytes"], 17 * 110, "bytes left out")
    kept = sites_named(rep, "told_keep")
    check_equal(sum(s["allocs"] for s in kept), 2, "blocks after that")


@case("marks, a thread's name and a snapshot, as the program asks for them")
def marked():
    path = os.path.join(scratch, "told.json")
    program = Told("-d", "0.1", "--report", "--format", "json", "-o", path)
    program.say("name the one and only", "keep", "mark warm", "snapshot")
    saved = wait_for(lambda: glob.glob(os.path.join(scratch, "heaptop-snapshot-*.heaptop")), "a snapshot")
    program.say("keep", "mark again")
    program.end()
    rep = read(path)
    check_equal(rep["threads"][0]["name"], "the one and only", "the thread's name")
    check_equal(rep["marks"][0]["name"], "warm", "the first mark")
    check(rep["marks"][0]["live_blocks"] >= 1, "the mark has counts")
    done = run([HEAPTOP, "-r", saved[0], "--report", "--format", "json"])
    then = json.loads(done.stdout or done.stderr)
    check_equal(sum(s["allocs"] for s in sites_named(then, "told_keep")), 1, "blocks in the snapshot")


def documents(lines):
    """The reports of a viewer in batch mode, one after another."""
    text = ""
    for line in lines:
        text += line
        if line == "}\n":
            yield json.loads(text)
            text = ""


@case("marks and a snapshot of a program that is seen over a link, as it asks for them")
def far():
    folder = os.path.join(scratch, "far")
    os.mkdir(folder)
    program = subprocess.Popen([target("told")], env=environment(LD_PRELOAD=LIBRARY), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    desk = None
    try:
        check_equal(program.stdout.readline(), b"1\n", "heaptop_is_on")
        say(program, "mark before the viewer", "snapshot")
        desk = subprocess.Popen([HEAPTOP, "--no-config", "--via", "env", "--agent", HEAPTOP, "-a", str(program.pid), "-b",
                                 "-d", "0.1", "--format", "json"], env=environment(), cwd=folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, text=True)
        frames = documents(desk.stdout)
        check("marks" not in next(frames), "no mark from before the viewer came")
        say(program, "keep", "mark warm", "snapshot", "keep")
        saved = wait_for(lambda: glob.glob(os.path.join(folder, "heaptop-snapshot-*.heaptop")), "a snapshot")
        marks = next(frame["marks"] for frame in frames if "marks" in frame)
        check_equal([m["name"] for m in marks], ["warm"], "marks")
        check_equal(len(saved), 1, "snapshots")
        program.stdin.close()
        last = list(frames)[-1]
        check_equal((len(last["marks"]), desk.wait(60)), (1, 0), "marks at the end, exit status")
    finally:
        kill_hard(program)
        if desk:
            kill_hard(desk)


@case("a recorder of events, which looks at no call site before the end, saves a snapshot with them")
def marked_unseen():
    folder, events = os.path.join(scratch, "unseen"), os.path.join(scratch, "unseen.events")
    os.mkdir(folder)
    program = Told("-d", "0.1", "--record-events", events, "--headless", cwd=folder)
    program.say("keep", "snapshot")
    saved = wait_for(lambda: glob.glob(os.path.join(folder, "heaptop-snapshot-*.heaptop")), "a snapshot")
    program.say("keep")
    program.end()
    for path, kept in ((saved[0], 1), (events, 2)):
        done = run([HEAPTOP, "-r", path, "--report", "--format", "json"])
        then = json.loads(done.stdout or done.stderr)
        check_equal(sum(s["allocs"] for s in sites_named(then, "told_keep")), kept, "blocks in " + path)


@case("a snapshot that cannot be saved is said")
def unsaved():
    path = os.path.join(scratch, "unsaved.json")
    program = Told("-b", "-d", "0.1", "--format", "json", "-o", path, cwd="/proc")
    program.say("snapshot")
    wait_for(lambda: "the program asked for a snapshot: heaptop-snapshot-" in open(path, encoding="utf-8").read(),
             "a notice")
    program.end()


@case("a leak that is meant is none, nor what only it points to")
def intended():
    _, rep = report([target("told")], ["--leak-check"], stdin=b"lose\nmean\nmean\n")
    definite = rep["leaks"]["definite"]
    check_equal((definite["blocks"], definite["bytes"]), (1, 700), "definite")
    check_equal(rep["leaks"]["indirect"]["blocks"], 0, "indirect")
    check(rep["leaks"]["reachable"]["bytes"] >= 700, "the others are reachable")
    roots = [row.get("root") for row in rep["leaks"]["held"]["by"]]
    check("the loader, or heaptop_leak_intended" in roots, str(roots))


@case("a scan that the program asks for is made")
def scanned():
    path = os.path.join(scratch, "rounds")
    program = Told("-d", "0.1", "--report", "--leak-check=every:1h", "-o", path)
    program.say("lose", "scan")
    wait_for(lambda: os.path.exists(path) and "700" in open(path, encoding="utf-8").read(), "a scan")
    program.end()


def build(name, text, *flags):
    source, out = os.path.join(scratch, name + ".c"), os.path.join(scratch, name)
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    done = run([os.environ.get("CC", "cc"), "-I", os.path.join(ROOT, "preload"), "-g", *flags,
                source, "-o", out])
    check_equal((done.returncode, done.stderr), (0, b""), "cc " + " ".join(flags))
    return out


@case("heaptop.h in programs of every kind: position-independent or not, static, optimised or not")
def linked():
    text = '#include "heaptop.h"\n#include <stdio.h>\n' \
           'int main(void) { heaptop_mark("m"); printf("%d", heaptop_is_on()); return 0; }\n'
    for flags, on in ((["-O0"], b"1"), (["-O2", "-no-pie", "-fno-pic"], b"1"), (["-O2", "-no-pie", "-fno-pic", "-fno-plt", "-flto"], b"1"), (["-O2", "-flto"], b"1"),
                      (["-static"], b"0"), (["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"], b"1"),
                      (["-x", "c++", "-Wall", "-Wextra", "-Werror"], b"1"), (["-DHEAPTOP_NONE"], b"0")):
        program = build("linked", text, *flags)
        check_equal(run([program]).stdout, b"0", "alone: %s" % flags)
        check_equal(run([program], env=environment(LD_PRELOAD=LIBRARY)).stdout, on, "recorded: %s" % flags)


@case("LeakSanitizer's interface, in a program that has it")
def sanitized():
    program = build("sanitized", """
#include <stdlib.h>
void __lsan_ignore_object(const void *p) __attribute__((weak));
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));
void *volatile last;
int main(void)
{
	if (!__lsan_ignore_object)
		return 0;
	last = malloc(600);
	__lsan_ignore_object(last);
	__lsan_disable();
	last = malloc(400);
	__lsan_enable();
	last = malloc(30);
	last = NULL;
	return __lsan_do_recoverable_leak_check();
}
""")
    check_equal(run([program]).returncode, 0, "alone")
    _, rep = report([program], ["--leak-check"])
    check_equal(rep["leaks"]["definite"]["bytes"], 30, "definite")
    check_equal(rep["totals"]["paused_bytes"], 400, "left out")


@case("of what is allocated in a pause, a sample counts for all")
def paused_sampled():
    program = build("paused", """
#include <heaptop.h>
#include <stdlib.h>
int main(void)
{
	static void *volatile p[40000];

	free(malloc(10)); /* after it the thread samples */
	for (int i = 0; i < 40000; i++) {
		heaptop_pause();
		p[i] = realloc(malloc(600), 1000);
		heaptop_resume();
	}
	return 0;
}
""")
    _, rep = report([program], ["--sample", "16K"])
    totals = rep["totals"]
    check(72000 < totals["paused_blocks"] < 88000, "blocks left out: %d" % totals["paused_blocks"])
    check(57e6 < totals["paused_bytes"] < 71e6, "bytes left out: %d" % totals["paused_bytes"])


@case("what a block of a pause points to is no leak")
def pointed_to():
    program = build("pointed", """
#include <heaptop.h>
#include <stdlib.h>
void **root;
int main(void)
{
	heaptop_pause();
	root = malloc(64);
	heaptop_resume();
	for (int i = 0; i < 8; i++)
		root[i] = malloc(1000);
	return 0;
}
""")
    _, rep = report([program], ["--leak-check"])
    check_equal((rep["leaks"]["definite"]["blocks"], rep["leaks"]["reachable"]["blocks"]), (0, 8), "definite, reachable")
    check_equal(rep["leaks"]["unknown_blocks"], True, "blocks that are not recorded")


run_cases()
