#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of a moment of the past (--at), from the history in memory."""

import json
import os
import subprocess

from proving import (HEAPTOP, case, check, check_equal, environment, run, run_cases, scratch,
                     segment_files, target)


def env():
    return environment(XDG_STATE_HOME=os.path.join(scratch, "state"))


def asked(*options, stdin=b"keep 3\n"):
    return run([HEAPTOP, "--report", *options, "--", target("asked")], env=env(), stdin=stdin)


def kept(rep):
    """The blocks that asked_keep holds."""
    return sum(s["live_blocks"] for s in rep["sites"]
               if any(f["function"] == "asked_keep" for f in s["stack"]))


@case("reports at marks, between them, and at the end")
def marks():
    out = os.path.join(scratch, "report")
    for at, blocks, moment in (("mark:few", None, "past"), ("mark:few..mark:many", None, "range"),
                               ("end", 40, "now"), ("100%", 40, "past")):
        program = subprocess.Popen(
            [HEAPTOP, "--report", "--format", "json", "-o", out, "-d", "0.1", "--at", at, "--",
             target("asked")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env())
        pid = program.stdout.readline().decode().strip()
        for line, name in (("keep 10", "few"), ("keep 90", "many"), ("drop 60", None)):
            program.stdin.write(line.encode() + b"\n")
            program.stdin.flush()
            check_equal(program.stdout.readline(), b"done\n", line)
            if name:
                check_equal(run([HEAPTOP, "--mark", pid, name], env=env()).returncode, 0, "--mark")
        program.stdin.close()
        check_equal(program.wait(60), 0, "the end")
        with open(out, encoding="utf-8") as f:
            rep = json.load(f)
        check_equal(rep["time"]["moment"], moment, "moment of " + at)
        # What was live at the mark is exact; a range ends at the last refresh before it.
        check(all(m["ns"] <= rep["time"]["uptime_ns"] for m in rep.get("marks", [])), "later marks at " + at)
        if at == "mark:few":
            check_equal([m["name"] for m in rep["marks"]][:1], ["few"], "the marks at it")
            check_equal(kept(rep), 10, "blocks at the mark")
        check(kept(rep) == blocks if blocks else kept(rep) <= 100, "%d blocks at %s" % (kept(rep), at))


@case("without a history only the peak and the end can be reported")
def no_history():
    for options, status in ((["--history", "0", "--at", "50%"], 125), (["--at", "50%"], 0),
                            (["--history", "0", "--at", "end"], 0)):
        done = asked(*options)
        check_equal(done.returncode, status, " ".join(options) + done.stderr.decode())
        check_equal(b"no history is kept" in done.stderr, status != 0, " ".join(options))
    check_equal(segment_files(), [], "what is left")


@case("a text report says which moment it is of")
def text():
    done = asked("--at", "100%")
    check(b"\nmoment    the past, at " in done.stderr, done.stderr.decode())
    check(b"\nmoment " not in asked("--at", "end").stderr, "a report of now")


@case("a moment that is not there is refused in one line")
def refused():
    for at, why in (("9h", b"too late"), ("mark:none", b"no mark has the name or number none")):
        done = asked("--at", at)
        check_equal(done.returncode, 125, at)
        check(why in done.stderr and done.stderr.count(b"\n") == 1, done.stderr.decode())


run_cases()
