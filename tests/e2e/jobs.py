#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each job of heaptop once, in a few seconds, for make quick. What else each must do, the other tests say."""

import os
import subprocess

from proving import (HEAPTOP, LIBRARY, case, check, check_consistent, check_equal, environment, kill_hard, listing,
                     report, report_of_segment, run, run_cases, scratch, segment_files, sites_named, target, total)

LIVE = 500500  # bytes in 1,000 blocks of site_crash


def check_live(rep):
    check_consistent(rep)
    check_equal(total(sites_named(rep, "site_crash"), "live_bytes"), LIVE, "live bytes of site_crash")


@case("run a program and report: as text, the exit status passed on")
def text_report():
    done = run([HEAPTOP, "--report", "--", target("crash"), "exit"])
    check_equal(done.returncode, 5, "status")
    check(b"site_crash" in done.stderr, "no site_crash: " + done.stderr.decode())


@case("run a program and report: as JSON, the sums agree")
def json_report():
    done, rep = report([target("crash"), "exit"])
    check_equal((done.returncode, rep["process"]["exit_status"]), (5, 5), "status")
    check_live(rep)


@case("run a program and report: in every format there is")
def formats():
    names = run([HEAPTOP, "--format", "help"]).stdout.decode().split()
    check("text" in names and "json" in names, "formats: %s" % names)
    for name in set(names) - {"mtrace", "heaptrack"}:  # of recorded events only: events.py
        out = os.path.join(scratch, "report." + name)
        done = run([HEAPTOP, "--report", "--leak-check", "--format", name, "-o", out, "--", target("crash"), "exit"])
        check_equal((done.returncode, done.stderr), (5, b""), "status and errors, " + name)
        check(os.path.getsize(out) > 0, "no report, " + name)


@case("run a program with the screen in batch mode")
def batch():
    done = run([HEAPTOP, "-b", "-n", "1", "-d", "10s", "--", target("crash"), "exit"])
    check_equal(done.returncode, 5, "status")
    check(b"site_crash" in done.stdout, "no site_crash: " + done.stdout.decode())


@case("run a program with the screen, keys from a script")
def screen():
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="ascii") as f:
        f.write(":size 100x30\n:until exited\n:until site_crash\nEnter\n:until crash.c\n:save-display -\n")
    done = run([HEAPTOP, "-d", "0.1", "--script", script, "--", target("crash"), "exit"])
    check_equal((done.returncode, done.stderr), (5, b""), "status and errors")
    check(b"site_crash" in done.stdout, "the screen: " + done.stdout.decode())


@case("list a running program, attach to it, and read its segment when it was killed")
def attach_and_read():
    with subprocess.Popen([target("crash"), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=environment(LD_PRELOAD=LIBRARY)) as program:
        check_equal(program.stdout.readline(), b"ready\n", "what the program says first")
        check(str(program.pid) in listing(), "-l says: " + listing())
        done = run([HEAPTOP, "-b", "-n", "1", "-d", "60", "-a", str(program.pid)])
        check_equal((done.returncode, done.stderr), (0, b""), "status and errors of -a")
        check(b"site_crash" in done.stdout, "no site_crash: " + done.stdout.decode())
        kill_hard(program)
    rep = report_of_segment(segment_files()[0])
    check_equal((rep["process"]["state"], rep["process"]["signal"]), ("gone", None), "its end")
    check_live(rep)
    run([HEAPTOP, "--clean"])
    check_equal(segment_files(), [], "segments after --clean")


@case("check for leaks: by class, and the status of --fail-on")
def leak_check():
    options = ["--leak-check", "--fail-on", "definite"]
    done, rep = report([target("leaks"), "list", "10"], options)
    check_equal(done.returncode, 1, "status")
    check_equal([rep["leaks"][c]["blocks"] for c in ("definite", "indirect")], [1, 9], "lost blocks")


@case("nothing is left by any of these")
def nothing_left():
    check_equal(segment_files(), [], "segments left")


run_cases()
