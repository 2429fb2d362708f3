#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group F of the fault matrix, leak scans: what a program notices of being stopped, copied and read, what a
viewer that is killed meanwhile leaves, and what is found among millions of blocks. The classes and the roots
one by one are tests/e2e/leaks.py's."""

import random
import subprocess
import time

from rows import limit, row, run_rows, times
from proving import HEAPTOP, check, check_equal, environment, report, target, wait_for
from scanning import Waiting, account, attached, blocked, relatives, rss, zombies

WAYS = ("never", "always")  # of copying
HOW = {"never": "stop and read", "always": "copy on write"}
GROWTH_KB = 512  # what the counters of a process may be late by


def untraced(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as f:
        check("TracerPid:\t0" in f.read(), "it is still traced")


@row("F5", "a system call is cut short, a request or a block lost, because threads were stopped")
def scanned():
    with Waiting(target("leak_server")) as program:
        pid = program.process.pid
        attached(pid)
        before = rss(pid)
        for i in range(times(6, 1000)):
            way = WAYS[i % 2]
            _, leaks = attached(pid, "--leak-copy", way)
            check(leaks["failed"] is None, "no scan: %s" % leaks["failed"])
            check_equal((leaks["how"], leaks["no_copy"], leaks["threads_running"]), (HOW[way], None, 0), "how")
            for kind in ("definite", "indirect", "possible"):
                check_equal(leaks[kind]["blocks"], 0, kind)
        check(rss(pid) - before < GROWTH_KB, "it grew from %d to %d KB" % (before, rss(pid)))
        check_equal(relatives(program.process) + zombies(pid), [], "processes left behind")
        check_equal(program.end(), (0, "0 cut short, 0 lost\n"), "the program's end")


@row("F8", "of millions of blocks, a few lost ones are not found, or others are taken for lost")
def planted():
    many = times(200000, 6000000)
    for command in (["planted", str(many), "1000"], ["list", str(times(1000000, 10000000))]):
        done, rep = report([target("leaks"), *command], ["--leak-check"], timeout=limit(60, 300))
        want, leaks = account(done.stdout.decode()), rep["leaks"]
        check(leaks["failed"] is None, "no scan: %s" % leaks["failed"])
        for name, (blocks, size) in want.items():
            kind = name.split("_")[0]
            check_equal(leaks[kind], {"blocks": blocks, "bytes": size}, "%s of %s" % (kind, command[0]))
        check_equal(leaks["possible"]["blocks"], 0, "possible of " + command[0])


def blocked_at_rest(pid):
    """What is blocked once all threads wait: the one in sigtimedwait has its signal unblocked there."""
    def twice():
        first = blocked(pid)
        time.sleep(0.05)
        return first if blocked(pid) == first else None
    return wait_for(twice, "threads at rest")


@row("F15", "a viewer that is killed in the middle of a scan leaves its program stopped, or wrong")
def killed():
    rng = random.Random(1)
    with Waiting(target("leak_server")) as program:
        pid = program.process.pid
        before = blocked_at_rest(pid)
        for i in range(times(20, 1000)):
            viewer = subprocess.Popen([HEAPTOP, "--leak-check", "--leak-copy", WAYS[i % 2], "-a", str(pid)],
                                      env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.random() * 0.03)
            viewer.kill()
            viewer.wait()
        untraced(pid)
        wait_for(lambda: blocked(pid) == before, "the signals that are blocked, as they were")
        check_equal(relatives(program.process), [], "processes left behind")
        _, leaks = attached(pid, "--leak-copy", "always")
        check_equal((leaks["definite"]["blocks"], leaks["how"]), (0, HOW["always"]), "definite, how")
        check_equal(zombies(pid), [], "zombies after one more scan")
        # A call that was sent back to be made again stays so; one that was not yet may be cut short.
        status, said = program.end()
        check(said.endswith(" 0 lost\n") and status in (0, 1), "it said %s, status %d" % (said, status))


run_rows()
