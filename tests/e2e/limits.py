#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""heaptop under the limits of who starts it: it does its work, or says on one line what failed and why, and
leaves nothing behind."""

import json
import os
import resource
import shutil

from proving import HEAPTOP, case, check, check_equal, environment, report, run, run_cases, scratch, segment_files, target

STACK = 65536
PROGRAM = [target("crash"), "exit"]  # leaves 500,500 bytes in 1,000 blocks of site_crash, and ends with 5
LEFT = 500500
REPORT = os.path.join(scratch, "limited.json")


def limited(name, value, hard=None):
    which = getattr(resource, "RLIMIT_" + name.upper())
    return lambda: resource.setrlimit(which, (value, value if hard is None else hard))


# ---- the stack ---------------------------------------------------------------------------------

def on_small_stack(command, status=0, **how):
    done = run(command, preexec=limited("stack", STACK), **how)
    check_equal((done.returncode, done.stderr), (status, b""), "status and errors of " + " ".join(command))
    return done


@case("with 64 KB of stack: a report, with a leak scan")
def stack_report():
    on_small_stack([HEAPTOP, "--report", "--leak-check", "--format", "json", "-o", REPORT, "--", *PROGRAM], 5)
    with open(REPORT, encoding="utf-8") as f:
        rep = json.load(f)
    check_equal(rep["totals"]["live_bytes"], LEFT, "live bytes")
    check("leaks" in rep and rep["leaks"]["scanned_bytes"] > 0, "no scan: %s" % rep.get("leaks"))
    check_equal([s["stack"][0]["function"] for s in rep["sites"] if s["live_bytes"] == LEFT], ["site_crash"], "names")


@case("with 64 KB of stack: frames as text, a script of the screen, a segment")
def stack_frames():
    done = on_small_stack([HEAPTOP, "-b", "-n", "2", "-d", "100ms", "--", *PROGRAM], 5)
    check(b"site_crash" in done.stdout, "no frame: %r" % done.stdout)
    segment = os.path.join(scratch, "segment")
    run([HEAPTOP, "--report", "-o", "/dev/null", "--", target("crash"), "abort"])
    shutil.move(segment_files()[0], segment)
    done = on_small_stack([HEAPTOP, "--report", "-r", segment])
    check(b"site_crash" in done.stdout, "no report of a segment: %r" % done.stdout)
    done = on_small_stack([HEAPTOP, "-l"])
    script, shot = os.path.join(scratch, "script"), os.path.join(scratch, "shot")
    with open(script, "w", encoding="ascii") as f:
        f.write(":save-display %s\n" % shot)
    on_small_stack([HEAPTOP, "--script", script, "-r", segment])
    with open(shot, encoding="utf-8") as f:
        check("site_crash" in f.read(), "nothing on the screen of a script")


@case("as little stack as the loader needs: a report")
def stack_least():
    done = run([HEAPTOP, "--report", "-o", "/dev/null", "--", "sh", "-c", "ulimit -s; exit 5"],
               preexec=limited("stack", 16 << 10))
    check_equal((done.returncode, done.stdout), (5, b"16\n"), "status and limit of the program (%r)" % done.stderr)


run_cases()
