#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""heaptop --diff of real programs: built twice, with a planted change or with none but other flags, folders and
addresses; in each format; of reports and segments; of several runs; and what --fail-on makes of it."""

import json
import os
import re
import subprocess

from proving import (HEAPTOP, LIBRARY, ROOT, case, check, check_equal, environment, kill_hard, need, report, run,
                     run_cases, scratch, segment_files, target)

SOURCES = {"C": ("gcc", "diff_parse.c", []), "C++": ("g++", "diff_shop.cc", ["-std=gnu++17"])}


def built(language, change="", *flags, source=None):
    """The program with that change, in a folder of its own. source: other than its own."""
    compiler, own, needed = SOURCES[language]
    source = source or os.path.join(ROOT, "tests/targets", own)
    folder = os.path.join(scratch, "-".join([language, change, *flags]))
    path = os.path.join(folder, "program")
    if not os.path.exists(path):
        os.makedirs(folder)
        done = run([need(compiler), "-g", "-fno-builtin", *needed, *(flags or ["-O2"]), *(["-D" + change] if change else []),
                    "-o", path, source], env=dict(os.environ))
        check_equal(done.returncode, 0, "status of the compiler: " + done.stderr.decode())
    return path


def recorded(path, *args):
    """The file of the report of a run, made once."""
    out = "%s%s.json" % (path, "-".join(args))
    if os.path.exists(out):
        return out
    done, rep = report([path, *args])
    check_equal(done.returncode, 0, "status of " + path)
    with open(out, "w", encoding="utf-8") as f:
        json.dump(rep, f)
    return out


def diff(*args, status=0):
    done = run([HEAPTOP, "--diff", *args])
    check_equal(done.returncode, status, "status of --diff %s (%s)" % (" ".join(args), done.stderr.decode()))
    return done


def diff_json(*args, status=0):
    return json.loads(diff(args[0], "--format", "json", *args[1:], status=status).stdout)


def functions(site):
    return [frame["function"] for frame in site["stack"]]


CLEAN = {"C": (["-O0"], ["-O1"], ["-O3"], ["-Os"], ["-O2", "-fno-pie", "-no-pie"]), "C++": (["-O0"],)}
# The C++ compiler takes its time.
BUILDS = {"C": (["-O2"], ["-O0"]), "C++": (["-O0"],)}
# What is planted: by what kind of change in which functions it must show, the first ones of the diff.
PLANTED = {
    "C": {"ADDED": [("appeared", "finish")], "GROWN": [("grew", "cache")],
          "MOVED": [("moved", "finish")], "INLINED": [("grew", "token")]},
    "C++": {"ADDED": [("appeared", "shop::Store::remember()")], "GROWN": [("grew", "shop::Store::index()")],
            "MOVED": [("appeared", "shop::Store::fill(int)"), ("vanished", "shop::Store::index()")],
            "INLINED": [("grew", "shop::Store::make(int)")]},
}


def planted(language, change, flags):
    before = recorded(built(language, ""))
    after = recorded(built(language, change, *flags))
    found = diff_json(before, after)["sites"]
    for (kind, function), site in zip(PLANTED[language][change], found):
        check_equal(site["kind"], kind, "the kind of the change in %s" % functions(site))
        check(function in functions(site)[:10], "%s first, not %s" % (functions(site), function))
    check(len(found) >= len(PLANTED[language][change]), "%d sites changed" % len(found))


for _language, _changes in PLANTED.items():
    for _change in _changes:
        @case("%s: %s is named first" % (_language, _change))
        def _(language=_language, change=_change):
            for flags in BUILDS[language]:
                planted(language, change, flags)


@case("what goes is named first, too: it vanished, or shrank")
def reversed_changes():
    for language, change in (("C", "ADDED"), ("C", "GROWN"), ("C++", "ADDED"), ("C++", "GROWN")):
        kind, function = PLANTED[language][change][0]
        first = diff_json(recorded(built(language, change)), recorded(built(language)))["sites"][0]
        check_equal(first["kind"], {"appeared": "vanished", "grew": "shrank"}[kind], "the kind of " + change)
        check(function in functions(first)[:10], "%s first, not %s" % (functions(first), function))


@case("a file with another name and other lines is no change; what grows there is named first")
def renamed_file():
    source = os.path.join(scratch, "other_name.c")
    with open(os.path.join(ROOT, "tests/targets/diff_parse.c"), encoding="utf-8") as f, open(source, "w", encoding="utf-8") as g:
        g.write("\n" * 100 + f.read())
    before = recorded(built("C"))
    found = diff_json(before, recorded(built("C", "", "-O1", source=source)))
    check_equal([functions(s) for s in found["sites"] if s["values"]["live"]["change"]], [], "changes")
    first = diff_json(before, recorded(built("C", "GROWN", "-O1", source=source)))["sites"][0]
    check_equal((first["kind"], "cache" in functions(first)), ("grew", True), "the first change")


@case("other optimisation, folders and addresses are no change")
def clean():
    for language in SOURCES:
        before = recorded(built(language))
        for flags in CLEAN[language]:
            after = recorded(built(language, "", *flags))
            found = diff_json(before, after, "--fail-on", "growth>0", "--fail-on", "site-growth>0")
            check_equal([functions(s) for s in found["sites"] if s["values"]["live"]["change"]], [],
                        "changes between -O2 and %s" % " ".join(flags))
            check_equal(found["verdict"].split(":")[0], "passed", "verdict")


@case("a renamed function is the same call site")
def renamed():
    for language in SOURCES:
        found = diff_json(recorded(built(language)), recorded(built(language, "RENAMED")))
        check_equal(sum(s["values"]["live"]["change"] for s in found["sites"]), 0, "total change")
        kinds = {s["kind"] for s in found["sites"]}
        check(kinds <= {"moved", "appeared", "vanished"}, "kinds: %s" % kinds)


@case("the formats agree: totals of text, JSON and folded stacks are the reports'")
def formats():
    files = recorded(built("C++")), recorded(built("C++", "GROWN"))
    live = []
    for path in files:
        with open(path, encoding="utf-8") as f:
            live.append(json.load(f)["totals"]["live_bytes"])
    found = diff_json(*files)
    check_equal((found["values"]["live"]["a"], found["values"]["live"]["b"]), tuple(live), "totals in JSON")
    check_equal(sum(s["values"]["live"]["change"] for s in found["sites"]), live[1] - live[0], "sum of changes")
    lines = diff(*files, "--format", "folded").stdout.decode().splitlines()
    columns = [re.fullmatch(r"(.*) (\d+) (\d+)", line) for line in lines]
    check(all(columns), "folded lines: %s" % lines)
    check_equal([sum(int(c[i]) for c in columns) for i in (2, 3)], live, "totals in folded stacks")
    text = diff(*files).stdout.decode()
    check(re.search(r"^live +{:,} +{:,} +\+{:,} ".format(*live, live[1] - live[0]), text, re.M), text)
    check("1. grew: +25,000 live bytes" in text and "by shop::Store::index()" in text, text)


@case("a segment is compared with a report")
def segment():
    with subprocess.Popen([target("crash"), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=environment(LD_PRELOAD=LIBRARY)) as program:
        check_equal(program.stdout.readline(), b"ready\n", "what the program says first")
        kill_hard(program)
    found = diff_json(segment_files()[0], recorded(built("C")))
    kinds = {name: s["kind"] for s in found["sites"] for name in functions(s)}
    check_equal((kinds.get("site_crash"), kinds.get("parse")), ("vanished", "appeared"), "kinds of change")
    same = diff(segment_files()[0], segment_files()[0], "--fail-on", "growth>0").stdout.decode()
    check("no call site changed" in same, same)
    run([HEAPTOP, "--clean"])


@case("the screen shows B with its changes from A, the largest first")
def screen():
    files = recorded(built("C++")), recorded(built("C++", "GROWN"))
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="ascii") as f:
        f.write(":size 120x24\n:save-display -\nEnter\n:save-display -\n")
    done = run([HEAPTOP, "--script", script, "--diff", *files])
    check_equal((done.returncode, done.stderr), (0, b""), "status and errors")
    table, detail = done.stdout.decode().split("Site detail", 1)
    first = [line for line in table.splitlines() if line.startswith(">")]
    check(len(first) == 1 and re.search(r"\+24\.4k +\+50 .*shop::Store::index\(\)", first[0]), table)
    check("A (program.json) to B (program.json)" in table and "DELTA▼" in table and "SINCE" not in table, table)
    check("since A (program.json): +24.4k" in detail, detail)


@case("the screen's tree and modules show what changed, and --value says of what")
def screen_of_changes():
    files = recorded(built("C++")), recorded(built("C++", "GROWN"))
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="ascii") as f:
        f.write(":size 150x30\n:save-display -\nt E\n:save-display -\nTab Tab Tab\n:save-display -\n")
    for value, change in (("live", r"\+24\.4k"), ("allocated", r"\+24\.4k"), ("blocks", r"\+50"), ("allocs", r"\+50")):
        done = run([HEAPTOP, "--script", script, "--value", value, "--diff", *files])
        check_equal((done.returncode, done.stderr), (0, b""), "status and errors")
        table, tree, modules = re.split(r"\n(?= heaptop )", done.stdout.decode())
        check("DELTA▼" in table, table)
        first = [line for line in table.splitlines() if line.startswith(">")]
        check(len(first) == 1 and re.search(change + r" .*shop::Store::index\(\)", first[0]), table)
        line = [line for line in tree.splitlines() if "shop::Store::index()" in line and "─" in line]
        check(len(line) == 1 and re.search(change + " ", line[0]) and "3DELTA▼" in tree, tree)
        line = [line for line in modules.splitlines() if line.startswith(">")]
        check(len(line) == 1 and re.search(change + " ", line[0]) and "2DELTA▼" in modules, modules)


@case("the screen's sizes and threads show both sides")
def screen_of_sides():
    for names in (("program", "(main thread)"), ("(main thread)", "program")):
        sides_shown([named_thread(recorded(built("C++", change)), name) for change, name in zip(("", "GROWN"), names)])


def named_thread(path, name):
    """That report with another name of its only thread: a short run may end before the name is read."""
    with open(path, encoding="utf-8") as f:
        rep = json.load(f)
    check(len(rep["threads"]) == 1 and rep["threads"][0]["name"] in ("program", "(main thread)"), rep["threads"])
    rep["threads"][0]["name"] = name
    with open(path, "w", encoding="utf-8") as f:
        json.dump(rep, f)
    return path


def sides_shown(files):
    sides = []
    for name in files:
        with open(name, encoding="utf-8") as f:
            sides.append(json.load(f))
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="ascii") as f:
        f.write(":size 150x40\n:save-display -\nTab Tab\n:save-display -\nTab\n:save-display -\n")
    done = run([HEAPTOP, "--script", script, "--diff", *files])
    check_equal((done.returncode, done.stderr), (0, b""), "status and errors")
    _, sizes, threads = re.split(r"\n(?= heaptop )", done.stdout.decode())
    for side, letter in zip(sides, "AB"):
        totals = side["totals"]
        check("%s (program.json)   {:,} live blocks   {:,} allocated".format(totals["live_blocks"], totals["allocs"])
              % letter in sizes, sizes)
    line = next(line for line in threads.splitlines() if line.startswith(">"))
    check("DELTA▼" in threads and "ALLOC A" in threads and "ALLOC B" in threads, threads)
    check(re.search(" +".join("{:,}".format(s["totals"]["allocs"]) for s in sides) + " .* program", line), line)


@case("moments of a recording, or of its peak, are compared")
def moments():
    recording, program = os.path.join(scratch, "run.rec"), built("C")
    done = run([HEAPTOP, "--record", recording, "--report", "-o", "/dev/null", "--", program, "100000"])
    check_equal(done.returncode, 0, "status of --record: " + done.stderr.decode())
    plain = recorded(program)
    found = diff_json(plain, recording)
    check_equal(found["values"]["live"]["change"], 100000, "the change of the recording's end")
    check_equal([functions(s)[0] for s in found["sites"]], ["finish"], "what changed")
    found = diff_json(recording + "@end", recording + "@peak")
    check_equal(found["values"]["live"]["b"] - found["values"]["live"]["a"], found["values"]["own_peak"]["a"] -
                found["values"]["live"]["a"], "peak and end")
    check_equal(diff_json(plain + "@peak", plain, "--at", "peak")["values"]["live"]["change"], 0, "two ways of peak")
    for names, words in (([recording + "@50d", plain], "what follows @ must be a time"), ([recording + "@9h", plain], "too late"),
                         ([plain + "@1s", plain], "only \"peak\" and \"end\""),
                         ([recording + "@0%..end", plain], "a range of time is not one moment")):
        lines = diff(*names, status=125).stderr.decode().splitlines()
        check(len(lines) == 1 and words in lines[0], "%s: %s" % (names, lines))


@case("a JSON report is read again: as text, frame, JSON and on the screen")
def read_again():
    path = recorded(built("C++"))
    again = os.path.join(scratch, "again.json")
    done = run([HEAPTOP, "-r", path, "--format", "json", "-o", again])
    check_equal((done.returncode, done.stderr), (0, b""), "status and errors")
    with open(path, encoding="utf-8") as f, open(again, encoding="utf-8") as g:
        first, second = json.load(f), json.load(g)
    for key in ("process", "time", "totals", "proc", "sites", "threads", "size_histogram", "lifetime_histogram"):
        check_equal(second[key], first[key], key)
    check("shop::Store::index()" in run([HEAPTOP, "-r", path, "--report"]).stdout.decode(), "the text report")
    check("shop::Store::index()" in run([HEAPTOP, "-r", path, "-b"]).stdout.decode(), "the frame")
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="ascii") as f:
        f.write(":size 100x24\n:save-display -\nEnter\nEsc\nF5\nTab\nTab\nL\n:save-display -\n")
    done = run([HEAPTOP, "-r", path, "--script", script])
    check_equal((done.returncode, done.stderr), (0, b""), "status and errors of the screen")
    check("shop::Store::index()" in done.stdout.decode(), done.stdout.decode())
    for condition, status in (("live>1", 1), ("live>1G", 0)):
        done = run([HEAPTOP, "-r", path, "--fail-on", condition, "-o", "/dev/null"])
        check_equal((done.returncode, done.stderr.count(b"\n")), (status, status), "status and lines, " + condition)


def runs(sizes):
    return [recorded(built("C"), str(size)) for size in sizes]


@case("several runs: exact where they repeat, otherwise no alarm without more than chance")
def several():
    one, two = recorded(built("C")), recorded(built("C", "ADDED"))
    text = diff(one, one, one, "--", two, two).stdout.decode()
    check("exact: the same in all of 3 and 2 runs" in text, text)
    low, other, high = (runs(range(start, start + 10000, 2000)) for start in (10000, 10500, 40000))
    found = diff_json(*low, "--", *other)
    check(not found["values"]["live"]["real"] and found["changed"] == 0, "chance: %s" % found["values"])
    found = diff_json(low[0], "--fail-on", "growth>10%", *low[1:], "--", *high, status=1)
    check(found["values"]["live"]["real"] and found["interval"][0] > 0, "a change: %s" % found["values"])
    check_equal([functions(s)[0] for s in found["sites"][:1]], ["finish"], "what changed")
    text = diff(*low[:3], "--", *high[:3]).stdout.decode()
    check("90.0% sure of a change, from 3 and 3 runs, which are too few for 95%" in text, text)


@case("--fail-on: the status, and one line with figures")
def fail_on():
    files = recorded(built("C")), recorded(built("C", "ADDED"))
    for condition, status in (("growth>5%", 1), ("growth>1M", 0), ("growth>4999", 1), ("growth>5000", 0),
                              ("allocs-growth>1", 1), ("allocs-growth>2", 0), ("site-growth>10%", 1),
                              ("site-growth>1M", 0), ("temporary-growth>1", 0), ("peak-growth>1%", 1)):
        done = diff(*files, "--fail-on", condition, status=status)
        lines = done.stderr.decode().splitlines()
        check_equal(len(lines), status, "lines on stderr with %s" % condition)
        check(not lines or "because of --fail-on: %s: +" % condition in lines[0], "the line: %s" % lines)
        check("verdict   %s: %s: " % ("failed" if status else "passed", condition) in done.stdout.decode(),
              "the report's verdict with %s" % condition)
    # Without an increase in A's favour.
    diff(files[1], files[0], "--fail-on", "growth>0")


@case("--fail-on limits a run without a diff, too")
def fail_on_run():
    program = built("C")
    for condition, status in (("peak>4k", 1), ("peak>64M", 0), ("allocs>100", 1), ("allocs>1e6", 0), ("live>4340", 0),
                              ("live>4339", 1), ("site-live>2999", 1), ("site-live>3000", 0),
                              ("site-allocs>99", 1), ("temporary>99", 1)):
        for options in ([["-o", "/dev/null"]] if condition != "site-live>2999" else [["-b", "-n", "1", "-d", "60"]]):
            done = run([HEAPTOP, "--fail-on", condition, *options, "--", program])
            check_equal(done.returncode, status, "status with %s %s: %s" % (condition, options, done.stderr.decode()))
            check_equal(done.stderr.count(b"because of --fail-on: " + condition.encode() + b": "), status,
                        "lines with %s" % condition)
    done = run([HEAPTOP, "--fail-on", "peak>4k", "-o", "/dev/null", "--", "sh", "-c", program + "; true"])
    check_equal(done.returncode, 1, "status when a child is above the limit")


@case("what cannot be compared is said in one line")
def refused():
    good = recorded(built("C"))
    broken = os.path.join(scratch, "broken.json")
    with open(good, "rb") as f, open(broken, "wb") as g:
        g.write(f.read()[:3000])
    for files, status, words in (([good], 2, "requires two files"), ([good, good, good], 2, "requires two files"),
                                 ([good, "--"], 2, "requires two files"), ([good, "nowhere"], 125, "No such file"),
                                 ([good, scratch], 125, scratch), ([good, broken], 125, "ends in the middle"),
                                 ([broken, good], 125, "ends in the middle"),
                                 ([good, good, "--fail-on", "peak>1"], 2, "takes growth"),
                                 ([good, good, "--fail-on", "unfreed"], 2, "takes growth"),
                                 ([good, good, "-o", good], 125, "input file")):
        lines = diff(*files, status=status).stderr.decode().splitlines()
        check(len(lines) == 1 and words in lines[0], "%s: %s" % (files, lines))


run_cases()
