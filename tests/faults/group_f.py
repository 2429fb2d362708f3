#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group F of the fault matrix: attach and ptrace. A viewer of a program that carries the library reads a segment and
/proc, and traces nobody: what is left of these rows is that nothing else is asked for. Group G has programs without.
F3 to F11 and F13 to F15 belong to the leak scan, which stops the program and reads its memory: some are
group_f_scan.py's, the others tests/e2e/leaks.py's."""

import contextlib
import json
import os
import subprocess

from rows import fault_target, row, run_rows
from proving import (HEAPTOP, check, check_equal, environment, need, report, run, scratch, sites_named, target,
                     wait_for)
from attached_programs import Same
from sides import check_sides, held, seen

HOLDS = "500500"  # bytes in 1000 blocks
WAITS = [target("crash"), "wait"]
REPORT = os.path.join(scratch, "attached.json")


def watched(pid, *prefix):
    """What a viewer that comes late says of a running program: a frame as JSON."""
    done = run([*prefix, HEAPTOP, "-b", "-n", "1", "--format", "json", "-a", str(pid)])
    check_equal((done.returncode, done.stderr), (0, b""), "the end of heaptop -a")
    return json.loads(done.stdout)


def holds_what_it_should(rep, what):
    check_equal(sum(s["live_bytes"] for s in sites_named(rep, "site_crash")), int(HOLDS), what)


@contextlib.contextmanager
def running(way="preloaded"):
    """A program with its blocks live; at the end it must end as it does alone."""
    with held(WAITS, way, says=b"ready\n") as program:
        yield program.pid
    check(not os.path.exists("/proc/%d" % program.pid), "it still runs")


def tracer(pid):
    with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as f:
        return int(next(line.split()[1] for line in f if line.startswith("TracerPid:")))


@row("F1", "no ptrace for the viewer: Yama, AppArmor, a container without CAP_SYS_PTRACE")
def refused():
    """Where it is refused, and where asking for it is the end."""
    with running() as pid:
        before = seen(pid)
        for way in ("refuse", "kill"):
            rep = watched(pid, fault_target("untraceable"), way)
            holds_what_it_should(rep, "live bytes, as seen under " + way)
            check(rep["proc"]["rss"] > 0, "no resident set: %s" % rep["proc"])
            check(rep["memory"]["rss"] > 0, "no memory map: %s" % rep["memory"])
        check_equal(seen(pid), before, "how the program stands")
    done = run([fault_target("untraceable"), "kill", HEAPTOP, "--report", "--format", "json", "-o", REPORT, "--",
                target("crash"), "exit"])
    check_equal(done.returncode, 5, "exit status of a launch (%s)" % done.stderr.decode())
    with open(REPORT, encoding="utf-8") as f:
        holds_what_it_should(json.load(f), "live bytes of a launch")


@contextlib.contextmanager
def traced_by_strace(pid):
    with subprocess.Popen([need("strace"), "-f", "-qq", "-o", "/dev/null", "-p", str(pid)],
                          stdin=subprocess.DEVNULL) as strace:
        try:
            wait_for(lambda: tracer(pid), "strace traces it")
            yield
        finally:
            strace.terminate()


def under_gdb(pid, command):
    """Runs a command while gdb has the process stopped."""
    done = run([need("gdb"), "-nx", "-q", "-batch", "-p", str(pid), "-ex", "shell " + " ".join(command)])
    check_equal(done.returncode, 0, "status of gdb (%s)" % done.stderr.decode(errors="replace"))


@row("F2", "the target is traced already: strace, gdb")
def traced():
    with running() as pid:
        with traced_by_strace(pid):
            holds_what_it_should(watched(pid), "live bytes, under strace -p")
        under_gdb(pid, [HEAPTOP, "-b", "-n", "1", "--format", "json", "-o", REPORT, "-a", str(pid)])
        with open(REPORT, encoding="utf-8") as f:
            holds_what_it_should(json.load(f), "live bytes, stopped by gdb")


@row("F2a", "heaptop itself runs under strace -f, or starts the debugger")
def tracers_around():
    plain = run([target("crash"), "exit"])
    done = run([need("strace"), "-f", "-qq", "-o", "/dev/null", HEAPTOP, "--report", "--format", "json", "-o", REPORT,
                "--", target("crash"), "exit"])
    check_equal((done.returncode, done.stdout), (plain.returncode, plain.stdout), "its end under strace -f")
    with open(REPORT, encoding="utf-8") as f:
        holds_what_it_should(json.load(f), "live bytes under strace -f")
    check_sides([need("strace"), "-f", "-qq", "-o", "/dev/null", target("crash"), "exit"], status=5)
    gdb = [need("gdb"), "-nx", "-q", "-batch", "-ex", "set startup-with-shell off", "-ex", "run", "--args",
           target("crash"), "exit"]
    done, rep = report(gdb, env=environment())
    check(b"exited with code 05" in done.stdout, "gdb says %r" % done.stdout[-300:])
    debugged = [c for c in rep["children"] if c["process"]["command"][0] == target("crash")]
    check_equal(len(debugged), 1, "images of the program in gdb")
    holds_what_it_should(debugged[0], "its live bytes")


@row("F12", "a library is pushed into a running program, which hangs or crashes from it")
def pushed():
    """It is loaded where that is safe (group G), and the viewer that attached leaves the program as it was."""
    with running("plain") as pid:
        same = Same(pid)
        done = run([HEAPTOP, "-b", "-n", "1", "-a", str(pid)])
        check_equal(done.returncode, 0, "status of heaptop -a (%s)" % done.stderr.decode())
        check(b"detached from process %d" % pid in done.stderr, "it says %r" % done.stderr)
        same.check()


run_rows()
