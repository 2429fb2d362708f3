#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How old live blocks are, of a program that was killed: its clock stands still, so that what is
older than what can be told to the tick."""

import json
import os
import subprocess
import time

from proving import (B, HEAPTOP, case, check, check_equal, environment, frames_of, kill_hard, run,
                     run_cases, segment_files, target)

APART_NS = 200_000_000  # much more than the clock of births is coarse


def left_behind():
    env = environment(LD_PRELOAD=os.path.abspath(os.path.join(B, "libheaptop.so")))
    program = subprocess.Popen([target("ages")], env=env, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    check_equal(program.stdout.readline(), b"ready\n", "the first word")
    time.sleep(APART_NS / 1e9)  # it is time itself that is measured
    program.stdin.write(b"\n")
    program.stdin.flush()
    check_equal(program.stdout.readline(), b"ready\n", "the second word")
    kill_hard(program)
    return segment_files()[0]


def sites(path, *options):
    done = run([HEAPTOP, "--format", "json", "-r", path, *options])
    check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode())
    found = json.loads(done.stdout)["sites"]
    return {n: s for s in found for n in frames_of(s) if n in ("elder", "younger")}


@case("ages are read when asked for, and filters go by them")
def ages():
    path = left_behind()
    try:
        check("oldest_ns" not in sites(path)["elder"], "ages nobody asked for")
        both = sites(path, "-s", "age")
        elder, younger = both["elder"], both["younger"]
        check_equal(list(both), ["elder", "younger"], "the order")
        check(elder["oldest_ns"] >= elder["youngest_ns"] >= younger["youngest_ns"], str(both))
        apart = elder["youngest_ns"] - younger["youngest_ns"]
        check(apart > APART_NS * 0.9, "they are %d ns apart" % apart)
        text = run([HEAPTOP, "--report", "-r", path, "-s", "age"]).stdout.decode()
        check(" old\n" in text and text.index("elder") < text.index("younger"), text)
        frame = run([HEAPTOP, "-b", "-n", "1", "-r", path, "-s", "age"]).stdout.decode()
        check(" AGE " in frame, frame)
        frame = run([HEAPTOP, "-b", "-n", "1", "-r", path]).stdout.decode()
        check(" AGE " not in frame, frame)
        middle = "%dms" % ((elder["youngest_ns"] + younger["youngest_ns"]) // 2 // 1000000)
        for term, want in (("youngest>" + middle, ["elder"]), ("youngest<" + middle, ["younger"]),
                           ("age>" + middle, ["elder"]), ("age>1h", []), ("!age>1h", ["elder", "younger"])):
            got = sorted(sites(path, "-F", term + " function:e"))
            if term.startswith("age>" + middle):
                check("elder" in got, "%s leaves %s" % (term, got))
            else:
                check_equal(got, want, term)
    finally:
        os.unlink(path)


run_cases()
