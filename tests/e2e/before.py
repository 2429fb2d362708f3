#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a program had before heaptop attached to it: all of it is found, the frees of older blocks are exact,
and a leak scan reads them, against the program's own account."""

import json
import os
import signal
import subprocess

from proving import (B, HEAPTOP, LIBRARY, allocator, case, check, check_equal, environment, frames_of, heap_sites, run, run_cases, scratch,
                     segment_files, target, total, wait_for)

# What the program does not know of: of each thread libc's array of its data, and the loader's
# entry of our library.
OWN_BLOCKS = 60
OWN_BYTES = 32768


class Program:
    """It keeps an account, and does what an order says."""

    def __init__(self, **variables):
        self.process = subprocess.Popen([target("before")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=environment(**variables))
        self.pid = int(self.process.stdout.readline())

    def answer(self, order):
        self.process.stdin.write(order.encode() + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def does(self, *orders):
        for order in orders:
            check_equal(self.answer(order), b"done\n", order)

    def account(self):
        """Old blocks, their bytes, live blocks, their bytes."""
        return tuple(map(int, self.answer("account").split()))

    def end(self):
        self.process.stdin.close()
        check_equal(self.process.wait(60), 0, "the end")


def frame(program, *options):
    done = run([HEAPTOP, "-b", "-n", "1", "--format", "json", "--keep", *options, "-a", str(program.pid)])
    check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode())
    return json.loads(done.stdout)


def detach(program):
    done = run([HEAPTOP, "--detach", str(program.pid)])
    check_equal(done.returncode, 0, "--detach (%s)" % done.stderr.decode())
    program.does("turn 3")
    program.end()
    check_equal(segment_files(), [], "segments left")


def before_sites(rep):
    return [s for s in heap_sites(rep) if s["function"] == "before attach"]


def check_frame(rep):
    """The sums over the sites, and those over sizes, are the totals."""
    t, sites = rep["totals"], before_sites(rep)
    check_equal(total(sites, "live_blocks"), t["before_blocks"], "blocks of its sites")
    check_equal(total(sites, "live_bytes"), t["before_bytes"], "bytes of its sites")
    check_equal(total(sites, "allocs"), t["before_found_blocks"], "blocks found")
    check_equal(total(heap_sites(rep), "live_bytes"), t["live_bytes"], "bytes of all sites")
    check_equal(sum(b["live_blocks"] for b in rep["size_histogram"]), t["live_blocks"], "blocks by size")
    for site in sites:
        check(frames_of(site)[0].startswith("before attach, "), frames_of(site))
    check_equal(t["unknown_frees"], 0, "unknown frees")


@case("what stood still when heaptop attached is found, and freed, to the block")
def parked():
    program = Program()
    program.does("mark")
    _, _, blocks, usable = program.account()
    rep = frame(program)
    check_frame(rep)
    t = rep["totals"]
    own, own_bytes = t["before_found_blocks"] - blocks, t["before_found_bytes"] - usable
    check(0 <= own < OWN_BLOCKS and 0 <= own_bytes < OWN_BYTES, "%d blocks, %d bytes more" % (own, own_bytes))
    check_equal((rep["attach"]["before_blocks"], rep["attach"]["before_bytes"]),
                (t["before_found_blocks"], t["before_found_bytes"]), "attach")
    for order in ("turn 5", "end 30", "turn 60", "clear"):
        program.does(order)
        old, old_bytes, live, _ = program.account()
        rep = frame(program)
        check_frame(rep)
        t = rep["totals"]
        check_equal((t["before_blocks"], t["before_bytes"]), (old + own, old_bytes + own_bytes), order)
        # libc keeps the stack of a thread that has ended, and one array of its.
        check(t["live_blocks"] - live - own in (0, 1), "%d live of %d after %s" % (t["live_blocks"], live + own, order))
        check_equal(t["before_found_blocks"], blocks + own, "found")
    check_equal(old, 0, "old blocks at the end")
    detach(program)


@case("what a program has that allocates meanwhile is found to the block")
def running():
    program = Program()
    program.does("run")
    frame(program)
    program.does("park")
    rep = frame(program)
    check_frame(rep)
    own = rep["totals"]["live_blocks"] - program.account()[2]
    check(0 <= own < OWN_BLOCKS, "%d blocks more" % own)
    for _ in range(2):
        program.does("turn 60")
        rep = frame(program)
        check_frame(rep)
        check_equal(rep["totals"]["live_blocks"] - program.account()[2], own, "blocks more")
    check(rep["totals"]["before_blocks"] >= own, "what is left from before")
    detach(program)


# What the allocator and its threads take for themselves.
STATISTICS_OFF = 400000


def of_allocator(name, known):
    """Its blocks cannot be listed. Its statistics say how many bytes they have, or nothing does."""
    program = Program(LD_PRELOAD=allocator(name))
    program.does("mark")
    _, _, _, usable = program.account()
    t = frame(program)["totals"]
    if known:
        check(0 <= t["before_found_bytes"] - usable < STATISTICS_OFF, "%d bytes of %d" % (t["before_found_bytes"], usable))
    else:
        check_equal(t["live_bytes"], 0, "live bytes, when it is not known what there was")
    for order in ("turn 30", "clear"):
        program.does(order)
        old, old_bytes, live, _ = program.account()
        rep = frame(program)
        check_frame(rep)
        t = rep["totals"]
        check_equal(t["live_blocks"] - t["before_blocks"], live - old, "blocks since, after " + order)
        rest = old_bytes if known else 0
        check(rest <= t["before_bytes"] < rest + STATISTICS_OFF, "%d bytes of %d" % (t["before_bytes"], rest))
    detach(program)


@case("what jemalloc says that it had is there before, and what is freed is subtracted")
def jemalloc():
    of_allocator("libjemalloc.so.2", True)


@case("what tcmalloc says that it had is there before, and what is freed is subtracted")
def tcmalloc():
    of_allocator("libtcmalloc.so.4", True)


@case("where no statistics say what was there, nothing is below zero")
def mimalloc():
    of_allocator("libmimalloc.so.2", False)


@case("leaks from before are found, and nothing else from before")
def leaks():
    program = Program()
    program.does("lose 7")
    frame(program)
    out = os.path.join(scratch, "leaks.json")
    for copying in ("never", "always"):
        done = run([HEAPTOP, "--leak-check", "--leak-copy", copying, "--format", "json", "-o", out, "--keep",
                    "-a", str(program.pid)])
        check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode())
        with open(out, encoding="utf-8") as f:
            found = json.load(f)["leaks"]
        check(found["failed"] is None, found["failed"])
        lost = [s for s in found["sites"] if s["class"] == "definite"]
        check_equal([(s["function"], s["blocks"], s["bytes"]) for s in lost],
                    [("before attach", 7, 7 * 712)], copying)
        check(found["reachable"]["blocks"] >= program.account()[2], "reachable")
    detach(program)


@case("what a viewer that was killed has left undone, the next one finds")
def left_undone():
    program = Program()
    done = run([os.path.join(B, "tests", "tools", "attach"), str(program.pid), "begin", LIBRARY])
    check_equal(done.returncode, 0, done.stdout)
    program.does("mark")
    _, _, blocks, _ = program.account()
    program.does("turn 20")
    rep = frame(program)
    check_frame(rep)
    old, _, live, _ = program.account()
    own = rep["totals"]["before_found_blocks"] - blocks
    check(0 <= own < OWN_BLOCKS, "%d blocks more" % own)
    check_equal(rep["totals"]["before_blocks"] - old, own, "old blocks")
    check_equal(rep["totals"]["live_blocks"] - live, own, "live blocks")
    detach(program)


@case("of a program that is watched from outside, what it has in use is shown")
def outside():
    program = Program()
    for turn in range(2):
        _, _, blocks, usable = program.account()
        os.kill(program.pid, signal.SIGSTOP)  # which is why it is not attached to
        wait_for(lambda: " T " in open("/proc/%d/stat" % program.pid, encoding="utf-8").read(), "its stop")
        done = run([HEAPTOP, "-b", "-n", "1", "--format", "json", "-a", str(program.pid)])
        os.kill(program.pid, signal.SIGCONT)
        rep = json.loads(done.stdout)
        check_equal(rep["attach"]["state"], "outside", "state")
        check(0 <= rep["totals"]["live_blocks"] - blocks < OWN_BLOCKS, "blocks in turn %d" % turn)
        check(0 <= rep["totals"]["live_bytes"] - usable < OWN_BYTES, "bytes in turn %d" % turn)
        check(all(frames_of(s)[0].startswith("<=") for s in rep["sites"]), rep["sites"])
        program.does("turn 10")
    program.end()


@case("a program that was started under heaptop has nothing from before")
def launched():
    out = os.path.join(scratch, "launched.json")
    done = run([HEAPTOP, "-b", "-n", "1", "--format", "json", "-o", out, "--", "true"])
    check_equal(done.returncode, 0, done.stderr.decode())
    with open(out, encoding="utf-8") as f:
        t = json.load(f)["totals"]
    check_equal([t[k] for k in ("before_blocks", "before_bytes", "before_found_blocks", "before_found_bytes")],
                [None] * 4, "totals")


run_cases()
