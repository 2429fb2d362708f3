#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What attaching costs: nanoseconds of a malloc and its free before, while and after a program is attached to, beside the
preloaded library and heaptrack; how long programs stand still; and how long it takes from the command to the first
frame. Argument: rounds (default 20). It prints, and never fails on a time."""

import contextlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), folder) for folder in ("e2e", "faults")]

ROUNDS = int(sys.argv.pop(1)) if sys.argv[1:] else 20

from attached_programs import begin, end, running  # both are found by the path above
from proving import B, LIBRARY, Failure, run_cases, case, scratch
from rows import deadline

PAIRS = os.path.join(B, "tests", "bench", "attach_pairs")
DEPTH = 15
BATCHES = 12
HEAPTRACK_S = 20


def written(values, unit):
    values = sorted(values)
    return "median %.2f, least %.2f, 99 %% %.2f, most %.2f %s" % (
        statistics.median(values), values[0], values[min(len(values) - 1, len(values) * 99 // 100)], values[-1], unit)


def pair_ns(program):
    """The median of some batches that begin now."""
    program.goes_on(2)
    found = []
    for _ in range(BATCHES):
        program.goes_on()
        found.append(program.page.read()["held_bytes"] / 1000)
    return statistics.median(found)


def pairs(**how):
    return running(PAIRS, DEPTH, instead=PAIRS, **how)


@contextlib.contextmanager
def heaptrack(pid):
    """heaptrack -p, while it lasts; it may hang."""
    with subprocess.Popen(["heaptrack", "-o", os.path.join(scratch, "track"), "-p", str(pid)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            time.sleep(5)  # it does not say when it is ready
            yield
            process.send_signal(signal.SIGINT)
            process.wait(HEAPTRACK_S)
        finally:
            deadline.kill_family(process.pid)


@case("nanoseconds of a pair")
def cost():
    with pairs() as program:
        print("# native %.1f" % pair_ns(program), flush=True)
        begin(program.pid)
        print("# attached %.1f" % pair_ns(program), flush=True)
        end(program.pid)
        print("# after the detach %.1f" % pair_ns(program), flush=True)
    with pairs(LD_PRELOAD=LIBRARY) as program:
        print("# preloaded %.1f" % pair_ns(program), flush=True)


@case("nanoseconds of a pair under heaptrack -p")
def cost_heaptrack():
    if not shutil.which("heaptrack") or not shutil.which("gdb"):
        print("# heaptrack or gdb is not installed")
        return
    try:
        with pairs() as program:
            with heaptrack(program.pid):
                print("# under heaptrack -p %.1f" % pair_ns(program), flush=True)
            print("# after that %.1f" % pair_ns(program), flush=True)
    except (Failure, subprocess.TimeoutExpired) as why:
        print("# heaptrack -p: %s" % why)


def standing_still(name, *args):
    """Attaches and detaches: how long it takes, and how long the program stands still meanwhile."""
    def try_it():
        longest, total, took = [], [], []
        with running(name, *args) as program:
            for _ in range(ROUNDS):
                program.goes_on()
                before = time.monotonic()
                report = begin(program.pid)
                took.append((time.monotonic() - before) * 1e3)
                if report:
                    longest.append(report["attach"]["longest_ns"] / 1e6)
                    total.append(report["attach"]["total_ns"] / 1e6)
                end(program.pid)
        print("#   command to first frame and end: %s" % written(took, "ms"))
        if longest:
            print("#   longest pause: %s\n#   all pauses: %s" % (written(longest, "ms"), written(total, "ms")), flush=True)
    case("attach to %s" % " ".join([name, *map(str, args)]))(try_it)


for _arguments in (("attach_asleep", "epoll"), ("attach_threads", 200, "idle"), ("attach_threads", 8, "churn"),
                   ("attach_computes", "alloc")):
    standing_still(*_arguments)

run_cases()
