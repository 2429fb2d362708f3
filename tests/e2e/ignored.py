#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""--ignore and --only: rows that are left out, the row that has what they cost, in each output."""

import json
import os
import re
import signal
import subprocess

from proving import (HEAPTOP, LIBRARY, case, check, check_equal, environment, report, run, run_cases, scratch,
                     segment_files, target, wait_for)
from scanning import Waiting

PROGRAM = [target("truth_apis")]
WHOLE = "site_strdup"


def named(rep):
    return {f["function"]: s for s in rep["sites"] for f in s["stack"]}


def sums(rep):
    return [sum(s[key] for s in rep["sites"] if s.get("kind", "heap") == "heap")
            for key in ("live_bytes", "live_blocks", "allocs", "frees", "alloc_bytes")]


@case("the sum of the rows stays the program's; the row has what is left out")
def sums_stay():
    truth = os.path.join(scratch, "truth")
    env = environment(TRUTH=truth)
    _, whole = report(PROGRAM, env=env)
    for options, left in ((["--ignore", "function:" + WHOLE], False), (["--only", "/^%s$/" % WHOLE], True),
                          (["--ignore", "nowhere", "--ignore", WHOLE], False)):
        _, rep = report(PROGRAM, options, env=env)
        check_equal(sums(rep), sums(whole), " ".join(options) + ": sums")
        check_equal(rep["totals"]["live_bytes"], whole["totals"]["live_bytes"], "total")
        check_equal(WHOLE in named(rep), left, " ".join(options) + ": " + WHOLE)
        row, own = named(rep)["(ignored)"], named(whole)[WHOLE]
        if left:
            check_equal(len(rep["sites"]), 2, "rows")
            check_equal(row["live_bytes"] + named(rep)[WHOLE]["live_bytes"], sums(whole)[0], "live")
        else:
            check_equal([row[k] for k in ("live_bytes", "allocs", "frees")],
                        [own[k] for k in ("live_bytes", "allocs", "frees")], "the row")


@case("leaks, text, folded stacks, groups, and a diff")
def outputs():
    out = {}
    for name, options in (("text", []), ("folded", ["--format", "folded"]), ("group", ["--group", "function"]),
                          ("leaks", ["--leak-check"])):
        done = run([HEAPTOP, "--report", *options, "--top", "0", "--ignore", WHOLE, "--", *PROGRAM],
                   env=environment(TRUTH=os.path.join(scratch, "truth")))
        out[name] = done.stdout.decode() + done.stderr.decode()
        check("(ignored)" in out[name], name + " has no such row: " + out[name][:300])
        check(WHOLE not in out[name], name + " has the site")
    files = []
    for name, program in (("a", PROGRAM), ("b", ["true"])):
        files.append(os.path.join(scratch, name + ".json"))
        with open(files[-1], "w", encoding="utf-8") as f:
            json.dump(report(program, env=environment(TRUTH=os.path.join(scratch, "truth")))[1], f)
    for options, shown in (([], True), (["--ignore", WHOLE], False)):
        done = run([HEAPTOP, "--diff", *files, "--report", "--format", "json", *options])
        check_equal(done.returncode, 0, "diff: " + done.stderr.decode())
        check_equal((WHOLE in done.stdout.decode(), "(ignored)" in done.stdout.decode()), (shown, not shown),
                    "the diff has the site, the row")


@case("the screen has the row")
def screen():
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="utf-8") as f:
        f.write(":size 120x60\n:until exited\n:until (ignored)\n:save-display -\n")
    done = run([HEAPTOP, "-d", "0.1", "--script", script, "--ignore", WHOLE, "--", *PROGRAM],
               env=environment(TRUTH=os.path.join(scratch, "truth")))
    check_equal(done.returncode, 0, "status " + done.stderr.decode())
    check(b"(ignored)" in done.stdout and WHOLE.encode() not in done.stdout, done.stdout.decode())


@case("by thread, with the part of what is left out")
def threads():
    for options in ([], ["--ignore", "site_3"], ["--only", "site_1"], ["--only", "nowhere"]):
        _, rep = report([target("truth_threads"), "4", "2000"], ["--group", "thread", *options])
        for key in ("live_bytes", "live_blocks", "allocs", "alloc_bytes"):
            check_equal(sum(g[key] for g in rep["groups"]), rep["totals"][key],
                        " ".join(options) + ": the threads' " + key)


@case("a diff on the screen: the row has the figures of both sides")
def diff_screen():
    files, lines = [], []
    for name, program in (("a", PROGRAM), ("b", ["true"])):
        files.append(os.path.join(scratch, name + ".json"))
        with open(files[-1], "w", encoding="utf-8") as f:
            json.dump(report(program, env=environment(TRUTH=os.path.join(scratch, "truth")))[1], f)
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="utf-8") as f:
        f.write(":size 160x60\n:save-display -\n")
    for name, options in ((WHOLE, []), ("(ignored)", ["--ignore", "function:" + WHOLE])):
        done = run([HEAPTOP, "--script", script, *options, "--diff", *files])
        check_equal(done.returncode, 0, "status " + done.stderr.decode())
        lines += [line[1:line.index(name)].split() for line in done.stdout.decode().splitlines() if name in line]
    check_equal(len(lines), 2, "rows")
    check_equal(lines[1], lines[0], "figures of the row")
    check(lines[0][3].startswith("-"), "a DELTA: " + " ".join(lines[0]))


def played(keys, *args):
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="utf-8") as f:
        f.write(":size 140x60\n" + keys)
    done = run([HEAPTOP, "-d", "0.1", "--script", script, *args], env=environment(TRUTH=os.path.join(scratch, "truth")))
    check_equal((done.returncode, done.stderr), (0, b""), "status and errors")
    return done.stdout.decode()


@case("the row in the tree, live and of a report; what is saved has it")
def tree_and_saved():
    path, saved = os.path.join(scratch, "row.json"), os.path.join(scratch, "saved")
    rule, tree = ["--ignore", "function:" + WHOLE], "F5\n:save-display -\n"
    _, rep = report(PROGRAM, rule, env=environment(TRUTH=os.path.join(scratch, "truth")))
    ids = [s["id"] for s in rep["sites"]]
    check(len(set(ids)) == len(ids) and max(ids) < 1 << 20, "ids: %s" % ids)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(rep, f)
    live = played(":until exited 0\n:until (ignored)\n" + tree, *rule, "--", *PROGRAM)
    for screen in (live, played(tree, "-r", path)):
        check("(ignored)" in screen and "site_calloc" in screen, screen)
    # As earlier versions wrote it.
    named(rep)["(ignored)"]["id"] = 4294967294
    with open(path, "w", encoding="utf-8") as f:
        json.dump(rep, f)
    screen = played(tree, "-r", path)
    check("(ignored)" in screen and "site_calloc" in screen, screen)
    screen = played(":until exited 0\n:until (ignored)\nx\n:type heaptop\nEnter\n:until saved\n:save-display -\n",
                    *rule, "--", *PROGRAM)
    name = re.search(r"saved (?:as )?(\S+)", screen).group(1)
    os.rename(name, saved)
    done = run([HEAPTOP, "-r", saved, "--report", "--format", "json"])
    again = json.loads(done.stdout)
    check_equal(sums(again), sums(rep), "sums of what was saved")
    check("(ignored)" in named(again), "no row in what was saved")


@case("the leaks of other sites have their names")
def leak_names():
    with Waiting(target("leaks"), "wait") as program:
        screen = played("L\n:until definite_tree\n:save-display -\n", "--ignore", "function:definite_plain", "-a",
                        str(program.pid))
    check("definite_tree" in screen and "definite_plain" not in screen, screen)


@case("rules of the settings file, beside those of the command line")
def settings():
    folder = os.path.join(scratch, "config")
    os.makedirs(os.path.join(folder, "heaptop"))
    with open(os.path.join(folder, "heaptop/config"), "w", encoding="utf-8") as f:
        f.write("version = 1\nignore = %s\n" % WHOLE)
    env = environment(TRUTH=os.path.join(scratch, "truth"), XDG_CONFIG_HOME=folder)
    for options, left in (([], 1), (["--ignore", "/./"], 0)):
        _, rep = report(PROGRAM, options, env=env)
        check(WHOLE not in named(rep) and "(ignored)" in named(rep), "the site is there")
        check_equal(len(rep["sites"]) > 1, bool(left), "other sites")


def said(text):
    return {line.split()[0]: int(line.split()[1]) for line in text.decode().splitlines()}


def check_row(rep, live):
    """The row is exact, with what was recorded before the program knew of the rule and after."""
    totals = rep["totals"]
    for total, key in (("live_bytes",) * 2, ("live_blocks",) * 2, ("allocs",) * 2, ("frees",) * 2,
                       ("alloc_bytes",) * 2, ("peak_live_bytes", "at_peak_bytes")):
        check_equal(sum(s[key] for s in rep["sites"] if s["kind"] == "heap"), totals[total], "sum of " + key)
    check_equal((totals["unknown_frees"], totals["untracked_blocks"]), (0, 0), "unknown frees, untracked blocks")
    check_equal([s["live_bytes"] for s in rep["sites"] if s["stack"][0]["function"] == "(ignored)"], [live],
                "the row's live bytes")


@case("the program itself counts them in one row: exact, without sites of new stacks")
def not_recorded():
    for how in ((), ("fork",)):
        done, rep = report([target("ignored_sites"), *how], ["-d", "0.1", "--ignore", "left_out"])
        truth = said(done.stdout)
        check(truth["sites"] < 60 + 8, "%d sites by 60 new stacks of keep()" % truth["sites"])
        for of in rep["children"] if how else [rep]:
            check_row(of, truth["live"])
    done, rep = report([target("ignored_sites")], ["-d", "0.1", "--only", "keep"])
    check_row(rep, said(done.stdout)["live"] + sum(
        s["live_bytes"] for s in rep["sites"] if s["stack"][0]["function"] == "(ignored)") - said(done.stdout)["live"])


@case("without its viewer the program records all again")
def recorded_again():
    command = subprocess.Popen([target("ignored_sites"), "again"], env=environment(LD_PRELOAD=LIBRARY),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    wait_for(segment_files, "the segment")
    viewer = subprocess.Popen([HEAPTOP, "-d", "0.1", "-b", "-a", str(command.pid), "--ignore", "left_out"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    lines = [command.stdout.readline(), command.stdout.readline()]
    viewer.send_signal(signal.SIGINT)
    viewer.wait(60)
    rest = command.communicate(timeout=60)[0]
    truth = said(b"".join(lines) + rest)
    check(truth["sites"] < 60 + 8, "%d sites by 60 new stacks of keep()" % truth["sites"])
    check(truth["again"] >= 3 * 90, "%d sites by 90 new stacks of three functions" % truth["again"])


@case("a rule names something")
def refused():
    for rule in ("live>1M", "/(/", "", "/.*/"):
        done = run([HEAPTOP, "--ignore", rule, "--report", "--", "true"])
        check_equal(done.returncode, 2, "status of " + rule)


run_cases()
