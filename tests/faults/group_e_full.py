#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group E of the fault matrix, full tables and many writers: what is counted when there is no room left,
and that all goes on when there is room again."""

import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile

from rows import SOAK, deadline, fault_target, fault_tool, row, run_rows, times
from proving import (B, HEAPTOP, LIBRARY, Skip, check, check_equal, environment, report, run, scratch, segment_files,
                     segments, total, wait_for)
from tight import check_account, launched_same, limited, looked, preloaded_same, said, worker

SMALL = 60 << 20  # of RLIMIT_FSIZE: the small segment is made
CLONE_NEWNS = 0x20000


def clear_segments():
    for path in segment_files():
        os.unlink(path)


class Stepping:
    """The worker that waits after each round, preloaded alone: `step` is what its segment says then."""

    def __init__(self, arguments, folder=segments, **how):
        clear_segments()
        self.folder = folder
        self.process = subprocess.Popen(
            worker("-w", *arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment(LD_PRELOAD=LIBRARY, HEAPTOP_DIR=folder), **how)

    def __enter__(self):
        return self

    def step(self, goes_on=True):
        check_equal(self.process.stdout.readline(), b"ready\n", "what the program says")
        name, = [f for f in os.listdir(self.folder) if f.startswith("heaptop-")]
        now = looked(os.path.join(self.folder, name))
        if goes_on:
            self.go_on()
        return now

    def go_on(self):
        self.process.stdin.write(b"x")
        self.process.stdin.flush()

    def __exit__(self, *_):
        self.process.communicate()
        check_equal(self.process.returncode, 5, "the program's end")


def between(one, other, name):
    return other[name] - one[name]


@row("E14", "the live table is full, or rots: blocks are lost without a word, searches get long")
def table_full():
    """Twice what the small table holds, three times over."""
    rounds = times(3, 50)
    blocks = 600000
    with Stepping((blocks, rounds), preexec_fn=limited(fsize=SMALL)) as program:
        before, refused = {"allocs": 0, "frees": 0, "untracked_blocks": 0, "unknown_frees": 0}, []
        for _ in range(rounds):
            now = program.step()
            check_equal(between(before, now, "allocs") + between(before, now, "untracked_blocks"),
                        blocks * 5 // 4, "blocks recorded or counted as lost in a round")
            check_equal(between(before, now, "frees") + between(before, now, "unknown_frees"),
                        blocks * 5 // 4, "frees")
            check_equal((now["blocks"], now["live_bytes"]), (0, 0), "left when all is free")
            refused.append(between(before, now, "untracked_blocks"))
            before = now
        check(refused[0] > blocks // 3, "only %d blocks were refused" % refused[0])
        check(max(refused) < min(refused) * 1.05, "refused in each round: %s" % refused)


@row("E14a", "memory is there again: nothing is recorded any more")
def room_returns():
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        raise Skip("unshare(CLONE_NEWNS) is not permitted here")
    folder = tempfile.mkdtemp(prefix="heaptop-e2e-", dir=scratch)
    check_equal(run(["mount", "--make-rprivate", "/"]).returncode, 0, "mount --make-rprivate")
    check_equal(run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", folder]).returncode, 0, "mount")
    try:
        with Stepping((50000, 3), folder) as program:
            first = program.step(False)
            check(first["untracked_blocks"] > 10000, "2 MB were enough: %s" % first)
            check_equal(run(["mount", "-o", "remount,size=64m", folder]).returncode, 0, "remount")
            program.go_on()
            second = program.step()
            third = program.step()
            check(between(first, second, "untracked_blocks") < 2000, "%d of 62,500 blocks are lost when there is room" %
                  between(first, second, "untracked_blocks"))
            check_equal(between(second, third, "untracked_blocks"), 0, "blocks lost after that")
            check_equal(third["blocks"], 0, "left when all is free")
    finally:
        run(["umount", folder])


LIVES = {"half_full": 200, "nearly_full": 200, "twice_as_many_as_fit": 100, "mapped_directly": 600,
         "heap_that_moves": 100}  # millions of operations


@row("E14b", "after 10^9 allocations and frees the live table is wrong, or its searches are long")
def table_rots():
    """Compared with a plain array as it goes on; the program checks the length of searches, and prints it."""
    for life, millions in list(LIVES.items())[:times(1, len(LIVES))]:
        done = run([os.path.join(B, "tests/stress/churn"), str(times(400000, millions * 1000000)), life], timeout=1200)
        said = done.stdout.decode().splitlines()
        check_equal((done.returncode, said[-1:]), (0, ["ok - " + life]), "%s: %s" % (life, done.stderr[-300:]))
        if SOAK:
            print(said[-3], file=sys.stderr)


@row("E15", "millions of call stacks: their table is full, and what comes then is lost or wrong")
def stacks_full():
    """Small tables have room for 32,768, full ones for four million."""
    for limits, count, room in (({"fsize": SMALL}, 100000, 32768), ({}, times(0, 6000000), 1 << 22)):
        if count == 0:
            continue
        clear_segments()
        command = [fault_target("many_stacks"), str(count), "kill"]
        plain = preloaded_same(command, preexec=limited(**limits), timeout=300)
        now, account = looked(), said(plain)
        for name in ("allocs", "frees", "live_bytes"):
            check_equal(now[name], account[name], name)
        check_equal((now["sites_allocs"], now["sites_live"]), (now["allocs"], now["live_bytes"]), "sums over the sites")
        check_equal((now["blocks"], now["block_bytes"]), (account["allocs"] - account["frees"], now["live_bytes"]),
                    "the live table")
        check(now["sites"] > room // 8, "only %d stacks were kept" % now["sites"])
        # What has no place of its own is counted at ancestors, not at the catch-all.
        check_equal(now["catch_all_allocs"], 0, "allocs of the catch-all site")
        check_equal(now["ancestors_allocs"], count - (now["sites"] - 1 - now["ancestors"]), "allocs of ancestors")
    clear_segments()


@row("E15a", "more objects are loaded and unloaded than the table of modules holds")
def modules_full():
    """Small tables have room for 1,024, full ones for 16,384."""
    folder = os.path.join(os.path.dirname(fault_target("plugin/many.so")), "links")  # hard links: the same file system
    for limits, count in (({"fsize": SMALL}, 1500), ({}, times(0, 100000))):
        if count == 0:
            continue
        command = [fault_target("many_modules"), fault_target("plugin/many.so"), folder, str(count)]
        os.makedirs(folder, exist_ok=True)
        plain = preloaded_same(command, preexec=limited(**limits), timeout=600)
        check_equal(plain.stdout, b"%d\n" % count, "what the program says")
        rep, line = launched_same(command, plain, preexec=limited(**limits), timeout=600)
        check(rep, "heaptop refused: " + line)
        blocks = [s for s in rep["sites"] if s["live_bytes"] and s["live_bytes"] == 100 * s["live_blocks"]]
        check_equal(sum(s["live_blocks"] for s in blocks), count, "the plugins' blocks")
        check_equal(rep["totals"]["untracked_blocks"], 0, "untracked blocks")
        for field in ("allocs", "frees", "live_bytes"):
            check_equal(total(rep["sites"], field), rep["totals"][field], "sum of the sites' " + field)
        os.rmdir(folder)


def cpu_of(threads, blocks):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(worker("-t", threads, blocks, 0), env=environment(LD_PRELOAD=LIBRARY), timeout=200)
    check_equal(done.returncode, 5, "exit status")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(getattr(after, f) - getattr(before, f) for f in ("ru_utime", "ru_stime"))


@row("E16", "more threads than processors: they wait for each other, at worst for ever")
def threads_wait():
    """The same work by 64 threads and by 2; and a thread that nobody can interrupt."""
    few, many = min(cpu_of(2, 160000) for _ in range(2)), min(cpu_of(64, 5000) for _ in range(2))
    check(many < 4 * few, "64 threads take %.2f s of processor time for what 2 do in %.2f s" % (many, few))
    done = run([fault_target("sched_mix")])
    if done.returncode == 77:
        raise Skip("SCHED_FIFO is not permitted here")
    preloaded_same([fault_target("sched_mix")])
    check_equal(done.returncode, 5, "exit status")


@row("E17", "events are lost, and nobody says how many")
def events_accounted():
    clear_segments()
    env = environment(LD_PRELOAD=LIBRARY, ACCOUNT=os.path.join(scratch, "account"))
    with subprocess.Popen([fault_target("churn"), "4", "wait"], env=env, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as program:
        check_equal(program.stdout.readline(), b"waits\n", "what it says")
        path, = segment_files()
        look = subprocess.Popen([fault_tool("look"), "events", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        check_equal(look.stdout.readline(), b"asked\n", "what the reader says")
        start = looked(path)["allocs"]
        program.stdin.write(b"\n")
        program.stdin.flush()
        check_equal(program.stdout.readline(), b"ready\n", "what it says")
        wait_for(lambda: looked(path)["allocs"] > start + times(300000, 100000000), "some events", 600)
        program.terminate()
        check_equal(program.wait(30), 5, "the program's end")
        out, _ = deadline.finish(look, 60)
    e = json.loads(out)
    # New threads see the wish at their first event; the first one may still have 32 before that.
    missing = e["allocs"] + e["frees"] - e["allocs_seen"] - e["frees_seen"] - e["lost"]
    check(0 <= missing <= 32, "%d events neither seen nor lost, of %s" % (missing, e))
    check_equal(e["odd"], 0, "events of no kind")
    check(e["allocs_seen"] > 1000, "hardly any was seen: %s" % e)


@row("E17a", "the report itself is larger than a file may be: the viewer is killed by SIGXFSZ")
def report_too_large():
    done = run([HEAPTOP, "--report", "--format", "json", "-o", os.path.join(scratch, "large.json"), "--",
                fault_target("many_stacks"), "200"], preexec=limited(fsize=4096))
    check(done.returncode in (5, 125), "status %d" % done.returncode)
    check(b"File too large" in done.stderr and done.stderr.count(b"\n") == 1, "says %r" % done.stderr)


run_rows()
