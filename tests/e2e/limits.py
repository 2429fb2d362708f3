#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""heaptop under the limits of who starts it: it does its work, or says on one line what failed and why, and
leaves nothing behind."""

import ctypes
import json
import os
import resource
import shutil
import subprocess
import tempfile

from proving import (HEAPTOP, LIBRARY, Skip, case, check, check_equal, environment, run, run_cases, scratch,
                     segment_files, target)

SOAK = "SOAK" in os.environ
K, M, G = 1 << 10, 1 << 20, 1 << 30

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
    done = on_small_stack([HEAPTOP, "-b", "-n", "2", "-d", "10s", "--", *PROGRAM], 5)
    check(b"site_crash" in done.stdout, "no frame: %r" % done.stdout)
    segment = os.path.join(scratch, "segment")
    run([HEAPTOP, "--report", "-o", "/dev/null", "--", target("crash"), "abort"])
    run(["mv", segment_files()[0], segment])  # without its holes, unlike shutil.move
    done = on_small_stack([HEAPTOP, "--report", "-r", segment])
    check(b"site_crash" in done.stdout, "no report of a segment: %r" % done.stdout)
    done = on_small_stack([HEAPTOP, "-l"])
    script, shot = os.path.join(scratch, "script"), os.path.join(scratch, "shot")
    with open(script, "w", encoding="ascii") as f:
        f.write(":until site_crash\n:save-display %s\n" % shot)
    on_small_stack([HEAPTOP, "--script", script, "-r", segment])
    with open(shot, encoding="utf-8") as f:
        check("site_crash" in f.read(), "nothing on the screen of a script")


@case("with 32 KB of stack: a report")
def stack_least():
    done = run([HEAPTOP, "--report", "-o", "/dev/null", "--", "sh", "-c", "ulimit -s; exit 5"],
               preexec=limited("stack", 32 << 10))
    check_equal((done.returncode, done.stdout), (5, b"32\n"), "status and limit of the program (%r)" % done.stderr)


# ---- every other limit -------------------------------------------------------------------------

REFUSED = 125
SAYS = ["sh", "-c", "echo hi; exit 3"]
CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(CHILD_SUBREAPER, 1, 0, 0, 0)  # who is left behind becomes our child


def steps(few, first, last):
    """The values that tell something; all between them, a tenth at a time, in make soak."""
    if not SOAK:
        return few
    values = [first]
    while values[-1] < last:
        values.append(values[-1] + max(1, values[-1] // 10))
    return values


def nobody_left():
    left = None
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            left = "a zombie"
        return "one that runs on"
    except ChildProcessError:
        return left


def works_or_says(what, options, preexec, env=None):
    """Whether it worked. If not, there is a line that names what failed, why, and nothing is left of it."""
    if os.path.exists(REPORT):
        os.unlink(REPORT)
    done = run([HEAPTOP, *options, "-o", REPORT, "--", *SAYS], preexec=preexec, env=env)
    errors = done.stderr.decode()
    where = "%s, %s: status %d, %r" % (what, " ".join(options), done.returncode, errors)
    check_equal(nobody_left(), None, "process left, " + where)
    check_equal(segment_files(), [], "files left, " + where)
    if done.returncode == 3:
        check_equal((done.stdout, errors), (b"hi\n", ""), "output and errors, " + where)
        check(os.path.getsize(REPORT) > 0, "no report, " + where)
        return True
    if done.returncode == 127:  # not ours yet
        check("error while loading shared libraries" in errors, where)
        return False
    check_equal((done.returncode, errors.count("\n")), (REFUSED, 1), "status and lines of errors, " + where)
    check(errors.startswith("heaptop: ") and any(os.strerror(e) in errors for e in range(1, 134)), "no reason, " + where)
    check(done.stdout in (b"", b"hi\n"), "other output, " + where)
    return False


def sweep(name, values, must=None, before=lambda: None, env=None):
    """All `values` of a limit; from `must` on it has to work."""
    for value in values:
        def limit():
            limited(name, value)()
            before()
        for options in (["--report"], ["-b", "-n", "1", "-d", "10s"], ["--report", "--leak-check"]):
            worked = works_or_says("%s %d" % (name, value), options, limit, env)
            check(worked or must is None or value < must, "it does not work with %s %d" % (name, value))


@case("few descriptors: all works, or nothing is begun")
def few_files():
    sweep("nofile", range(3, 21), must=17)


@case("little memory: all works, or nothing is begun")
def little_data():
    sweep("data", steps([M, 4 * M, 8 * M, 10 * M, 12 * M, 16 * M, 24 * M, 40 * M], M, 40 * M), must=24 * M)


@case("little address space: all works, or nothing is begun")
def little_space():
    sweep("as", steps([20 * M, 60 * M, 150 * M, 200 * M, 300 * M, G, 2 * G, 8 * G, 16 * G, 30 * G], 20 * M, 30 * G),
          must=300 * M)


@case("small files: all works, or nothing is begun")
def small_files():
    sweep("fsize", steps([0, 4 * K, M, 16 * M, 64 * M, G], 4 * K, G), must=64 * M)


# A user whose processes are this test's alone, since all of a user's count.
NOBODY_ELSE = 54321


@case("few processes: all works, or nothing is begun")
def few_processes():
    if os.geteuid() != 0:
        raise Skip("needs root, to become a user with limits")
    folder = tempfile.mkdtemp(prefix="heaptop-e2e-", dir="/dev/shm")
    os.chown(folder, NOBODY_ELSE, NOBODY_ELSE)
    os.chmod(scratch, 0o777)

    def become():
        os.setgroups([])
        os.setresgid(NOBODY_ELSE, NOBODY_ELSE, NOBODY_ELSE)
        os.setresuid(NOBODY_ELSE, NOBODY_ELSE, NOBODY_ELSE)
    try:
        sweep("nproc", [1, 2, 3, 4, 64], must=64, before=become, env=environment(HEAPTOP_DIR=folder))
        check_equal(os.listdir(folder), [], "files left")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@case("the stack: all works")
def stacks():
    sweep("stack", [32 * K, 64 * K, 256 * K, M, 8 * M, resource.RLIM_INFINITY], must=0)


@case("with few descriptors nobody takes a running program for a dead one")
def running_is_kept():
    with subprocess.Popen([target("crash"), "wait"], env=environment(LD_PRELOAD=LIBRARY), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as program:
        check_equal(program.stdout.readline(), b"ready\n", "the program")
        for files in range(3, 12):
            for option in ("--clean", "-l"):
                done = run([HEAPTOP, option], preexec=limited("nofile", files))
                check_equal(len(segment_files()), 1, "segments after %s with %d descriptors (%s)" % (
                    option, files, done.stdout))
                check(b"dead" not in done.stdout, "listed as dead with %d descriptors: %s" % (files, done.stdout))
        program.stdin.close()
        check_equal(program.wait(), 5, "status of the program")


run_cases()
