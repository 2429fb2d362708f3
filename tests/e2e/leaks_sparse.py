#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leak scans of a program with a large mapping of which it has touched little (tests/targets/sparse.c): exact, no
page of it comes into being by them, and they end as soon as they are told to, wherever they are."""

import json
import os
import signal
import subprocess

from proving import HEAPTOP, case, check, check_equal, environment, run, run_cases, scratch, target
from scanning import Waiting, attached

TOUCHES = 300
# Where each page has to be checked, this much takes a minute.
ENDLESS = "80"  # TB


def status(pid, name):
    with open("/proc/%d/status" % pid, encoding="utf-8") as f:
        return next(line.split(":")[1].strip() for line in f if line.startswith(name + ":"))


def page_tables(pid):
    return int(status(pid, "VmPTE").split()[0])


def sparse(terabytes):
    return Waiting(target("sparse"), terabytes, str(TOUCHES))


def check_found(leaks):
    check(leaks["failed"] is None, leaks["failed"])
    want = {"definite": (1, 100), "indirect": (0, 0), "possible": (0, 0)}
    for kind, sums in want.items():
        check_equal((leaks[kind]["blocks"], leaks[kind]["bytes"]), sums, kind)
    check_equal(leaks["reachable"]["blocks"], TOUCHES + 2, "reachable")


@case("what only the mapping points to is found, and what it has not touched stays so, in both ways of reading")
def exact():
    with sparse("2") as program:
        for way, how in (("never", "stop and read"), ("always", "copy on write")):
            before = page_tables(program.pid)
            leaks = attached(program.pid, "--leak-copy", way)[1]
            check_equal(leaks["how"], how, "how")
            check_found(leaks)
            check(leaks["scanned_bytes"] < 8 << 20, "%d bytes were read" % leaks["scanned_bytes"])
            after = page_tables(program.pid)
            check(after < before + 200, "of %d kB of page tables it has %d now (%s)" % (before, after, how))


def slow(*command):
    """A viewer that has to look at each page."""
    return [target("seekless"), HEAPTOP, *command]


def found_in(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)["leaks"]


@case("so it is where the kernel cannot find the next page")
def looked_at():
    out = os.path.join(scratch, "all.json")
    with sparse("1") as program:
        before = page_tables(program.pid)
        done = run(slow("--leak-check", "--leak-copy", "never", "-o", out, "--format", "json", "-a", str(program.pid)))
        check_equal(done.returncode, 0, "status")
        check_found(found_in(out))
        check(page_tables(program.pid) < before + 200, "page tables have come into being")


def check_goes_on(program):
    check_equal(status(program.pid, "TracerPid"), "0", "its tracer")
    check(status(program.pid, "State")[0] in "SR", "state " + status(program.pid, "State"))
    check_equal(program.end()[0], 0, "status")


@case("SIGTERM ends a scan in the middle, and the report says that it was")
def terminated():
    out = os.path.join(scratch, "ended.json")
    with sparse(ENDLESS) as program:
        viewer = subprocess.Popen(slow("--leak-check", "--leak-copy", "never", "-o", out, "--format", "json", "-a",
                                       str(program.pid)), env=environment(), stderr=subprocess.PIPE)
        while viewer.poll() is None and status(program.pid, "State")[0] != "t":
            pass
        viewer.send_signal(signal.SIGTERM)
        said = viewer.communicate()[1].decode()
        check_equal(found_in(out)["failed"], "no leak scan: it was cancelled", said)
        check_goes_on(program)


@case("on the screen Esc ends one in the middle, and so does q")
def escaped():
    keys = os.path.join(scratch, "keys")
    with open(keys, "w", encoding="utf-8") as f:
        f.write(":size 160x40\nL\n:until reading\nEsc\n:until L scans for leaks\n:save-display -\n"
                "L\n:until reading\nq\n")
    with sparse(ENDLESS) as program:
        done = run(slow("--leak-copy", "never", "-d", "0.1", "--script", keys, "-a", str(program.pid)))
        check_equal((done.returncode, done.stderr), (0, b""), "the end")
        check(b"scan cancelled" in done.stdout, done.stdout.decode())
        check_goes_on(program)


run_cases()
