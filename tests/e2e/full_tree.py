#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs with more call stacks than the segment has room for: every byte and block is counted, at a stack or at
an ancestor of it; that is said; and a stack without room costs no more when it comes again."""

import ctypes
import json
import os
import resource
import signal

from proving import (B, HEAPTOP, LIBRARY, case, check, check_consistent, check_equal, environment, need, report,
                     report_of_segment, run, run_cases, segment_files, target)

PROGRAM = target("full_tree")
INSIDE = os.path.join(B, "tests", "faults", "tools", "inside")
STACKS = 40000  # of a small segment's 32,768, 1/16 is for ancestors
OWN = 32768 * 15 // 16
ADDR_NO_RANDOMIZE = 0x0040000  # <sys/personality.h>
FILE_BYTES = 64 << 20  # makes the segment a small one


def small():
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))


def small_and_fixed():
    """Without randomised addresses: which of the remembered stacks displace each other depends on them."""
    small()
    check(ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE) >= 0, "personality")


def report_of_small(command):
    """By a pipe: the limit is one on files."""
    done = run([HEAPTOP, "--report", "--format", "json", "--", *command], preexec=small)
    return done, json.loads(done.stderr)


def counts(done):
    return dict(zip(("allocs", "alloc_bytes", "live_blocks", "live_bytes"), map(int, done.stdout.split())))


def frames(site):
    return [f["pc"] for f in site["stack"]]


def check_ancestors(rep, threads=1):
    """What they are, how much they have, and that it is said. Of threads that took nodes while there was room, all
    but one may find that the last site is gone: the ancestor is then a caller that no other stack has."""
    sites, totals = rep["sites"], rep["totals"]
    ancestors = [s for s in sites if s["ancestor"]]
    own = [s for s in sites if not s["ancestor"]]
    check(len(own) <= OWN, "%d stacks of their own" % len(own))
    check(ancestors, "no ancestor")
    check_equal(sum(s["allocs"] for s in ancestors), totals["ancestor_allocs"], "ancestor_allocs")
    check_equal(sum(s["live_bytes"] for s in ancestors), totals["ancestor_live_bytes"], "ancestor_live_bytes")
    check_equal({s["function"] for s in ancestors}, {"(deeper calls not kept)"}, "function of ancestors")
    prefixes = {tuple(frames(s)[i:]) for s in own for i in range(len(s["stack"]))}
    others = [[f["function"] for f in s["stack"]] for s in ancestors
              if s["stack"][0]["function"] != "(stack not recorded)" and tuple(frames(s)) not in prefixes]
    check(len(others) < threads, "ancestors that are none: %s" % others)
    return ancestors


def check_counts(rep, want):
    check_consistent(rep)
    for field, value in want.items():
        check_equal(rep["totals"][field], value, field)


@case("more stacks than fit: bytes and blocks are the program's own count, ancestors are callers")
def exact():
    done, rep = report_of_small([PROGRAM, str(STACKS), "3", "1"])
    check_counts(rep, counts(done))
    ancestors = check_ancestors(rep)
    check(all(len(s["stack"]) > 1 for s in ancestors), "a frame of main was there, and was not used")
    check("call stacks" in (rep["notice"] or ""), "the notice is %r" % rep["notice"])
    done, rep = report([PROGRAM, str(STACKS), "3", "1"])
    check_counts(rep, counts(done))
    check_equal((rep["totals"]["ancestor_allocs"], rep["notice"]), (0, None), "with room, ancestors and notice")
    check_equal([s for s in rep["sites"] if s["ancestor"]], [], "ancestors")


@case("the report as text and the frames of a batch say so")
def text():
    done = run([HEAPTOP, "--report", "--top", "0", "-o", "/dev/stdout", "--", PROGRAM, str(STACKS), "3", "1"],
               preexec=small)
    for words in (b"notice    no room for more than ", b"allocations are counted at a caller", b"at (deeper calls not kept)"):
        check(words in done.stdout, "not there: %r" % words)
    done = run([HEAPTOP, "-b", "-n", "1", "-d", "60", "--", PROGRAM, str(STACKS), "3", "1"], preexec=small)
    check(b"no room for more than " in done.stdout, "no notice: %r" % done.stdout[:300])


@case("threads that meet the same stacks without room agree, and lose nothing")
def threads():
    base, idle = report_of_small([PROGRAM, "0", "0", "4"])
    check_equal(counts(base)["allocs"], 0, "its own count without stacks")
    done, rep = report_of_small([PROGRAM, str(STACKS), "2", "4"])
    want = counts(done)
    check_consistent(rep)
    for field in ("allocs", "alloc_bytes"):
        check_equal(rep["totals"][field], want[field] + idle["totals"][field], field)
    ancestors = check_ancestors(rep, 4)
    check_equal(len({tuple(frames(s)) for s in ancestors}), len(ancestors), "stacks of ancestors")


def refused(path):
    inside = json.loads(run([INSIDE, path]).stdout)
    return inside["nodes_refused"] + inside["sites_refused"]


@case("a stack without room is searched for once, and remembered; the segment of a crash tells the same")
def remembered():
    times = {}
    for repeats in (1, 400):
        run([HEAPTOP, "--report", "-o", "/dev/null", "--", PROGRAM, str(STACKS), "%03d" % repeats, "1", "abort"],
            preexec=small_and_fixed)
        path = segment_files()[0]
        times[repeats] = refused(path)
        if repeats == 1:
            os.unlink(path)
    check(times[1] > 0, "all stacks found room")
    check(times[400] <= times[1], "searches with 1 round: %d, with 400: %d" % (times[1], times[400]))
    rep = report_of_segment(path)
    done = run([PROGRAM, str(STACKS), "400", "1"])
    check_counts(rep, counts(done))
    check_ancestors(rep)
    os.unlink(path)


@case("under valgrind, whose mremap refuses otherwise, no table grows into another mapping")
def emulated():
    done = run([need("valgrind"), "--tool=none", PROGRAM, "30000", "10", "1", "abort"], preexec=small,
               env=environment(LD_PRELOAD=LIBRARY))
    check_equal(done.returncode, -signal.SIGABRT, "status")
    check_counts(report_of_segment(segment_files()[0]), counts(done))


run_cases()
