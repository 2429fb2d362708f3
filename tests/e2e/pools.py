#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blocks of pools that a program reports through heaptop.h, against its own account (tests/targets/pooled.c)."""

import json
import os
import subprocess

from proving import (HEAPTOP, LIBRARY, TARGETS, case, check, check_consistent, check_equal, environment, frames_of, kill_hard,
                     narrow, report, run, run_cases, segment_files, target, wait_for)

FIELDS = ("allocs", "alloc_bytes", "live_blocks", "live_bytes")


def pools(rep):
    return [s for s in rep["sites"] if s["kind"] == "pool"]


def truth_of(out):
    """Site: what is in FIELDS; sites without blocks are none."""
    rows = [line.split() for line in out.decode().splitlines()]
    return {row[0]: list(map(int, row[1:])) for row in rows if int(row[1])}


def compare(rep, truth):
    found = {}
    for site in pools(rep):
        check_equal(site["function"], "pool", "the function")
        frames = [f for f in frames_of(site) if f != "heaptop_block_alloc"]  # that one is inlined
        own = found.setdefault(frames[0], [0] * len(FIELDS))
        for i, field in enumerate(FIELDS):
            own[i] += site[field]
    check_equal(found, truth, "blocks by site")
    totals = rep["totals"]
    check_equal(totals["pool_blocks"], sum(row[2] for row in truth.values()), "blocks")
    check_equal(totals["pool_bytes"], sum(row[3] for row in truth.values()), "bytes")
    check(totals["pool_peak_bytes"] >= totals["pool_bytes"], "the peak")
    check_equal(totals["pool_untracked"], 0, "calls not recorded")
    # None of it is the heap's, or a mapping's.
    check_consistent(rep)
    for field in ("maps", "mapped_bytes", "missed_unmap_bytes", "unknown_unmap_bytes", "unknown_frees"):
        check_equal(totals[field], 0, field)


def pooled(*arguments, program="pooled", options=()):
    done, rep = report([os.path.join(TARGETS, program), *arguments], options)
    check_equal(done.returncode, 0, "exit status (%s)" % done.stderr.decode()[-300:])
    truth = truth_of(done.stdout)
    compare(rep, truth)
    return truth, rep


@case("an arena that allocates, frees and resets")
def arena():
    truth, rep = pooled("1", "5000")
    check_equal(len(truth), 2, "sites")
    check(sum(row[0] for row in truth.values()) > 1000, "blocks of the account")
    # The arena itself is the heap's.
    heap = [s for s in rep["sites"] if s["kind"] == "heap" and s["live_bytes"] == 65536]
    check_equal([s["live_blocks"] for s in heap], [1], "the block that the arena lies in")


@case("four threads, each with an arena")
def threads():
    pooled("4", "3000")


@case("calls that name no block, and blocks that overlap")
def odd():
    truth, _ = pooled("odd")
    check_equal(truth, {"pooled_small": [2, 41, 0, 0], "pooled_large": [1, 300, 1, 300]}, "the account")


@case("32-bit: four threads; calls that name no block")
def narrow_pools():
    narrow("pooled")
    pooled("4", "3000", program="32/pooled")
    truth, _ = pooled("odd", program="32/pooled")
    check_equal(truth, {"pooled_small": [2, 41, 0, 0], "pooled_large": [1, 300, 1, 300]}, "the account")


@case("blocks of a thread that has paused recording are left out, and counted")
def paused():
    _, rep = pooled("paused")
    check_equal((rep["totals"]["paused_blocks"], rep["totals"]["paused_bytes"]), (2, 100), "left out")


@case("text has totals and sites")
def text():
    said = run([HEAPTOP, "--report", "--", target("pooled"), "odd"]).stderr.decode()
    check("\npools     300 bytes in 1 block (peak " in said, said[-2000:])
    check("\npools, by live bytes\n" in said and "  pool  pooled_large (pooled.c:" in said, said[-2000:])


@case("without heaptop nothing happens, and the program says the same")
def absent():
    done = run([target("pooled"), "1", "5000"])
    _, rep = pooled("1", "5000")
    check_equal(done.returncode, 0, "exit status")
    compare(rep, truth_of(done.stdout))


REQUESTS = ["--client-requests"]


@case("pools that report by Valgrind's client requests, mixed in one arena")
def requests():
    truth, rep = pooled("1", "20000", program="valgrind_pools", options=REQUESTS)
    check_equal(len(truth), 4, "sites")
    check(sum(row[2] for row in truth.values()) > 20, "blocks that are left")
    check_equal(rep["totals"]["unknown_frees"], 0, "unknown frees")


@case("four threads make client requests")
def requests_threads():
    pooled("4", "10000", program="valgrind_pools", options=REQUESTS)


@case("a client request changes no register and no word of its function's")
def requests_kept():
    _, rep = report([target("valgrind_pools"), "kept"], REQUESTS)
    check_equal(rep["process"]["exit_status"], 0, "exit status")
    made = sum(s["allocs"] for s in pools(rep) if frames_of(s)[0] == "registers_kept")
    check_equal(made, 1001, "requests recorded")


@case("a program that makes client requests all the time is detached from: they do nothing then")
def requests_detached():
    program = subprocess.Popen([target("valgrind_pools"), "2", "1000000000"],
                               env=environment(LD_PRELOAD=LIBRARY, HEAPTOP_REQUESTS="1"))
    pid = str(program.pid)

    def frame(*options):
        done = run([HEAPTOP, "-b", "-n", "1", "--format", "json", *options, "-a", pid])
        check_equal(done.returncode, 0, done.stderr)
        return pools(json.loads(done.stdout))
    try:
        wait_for(lambda: segment_files(), "its segment")
        wait_for(lambda: len(frame()) == 4, "its sites")
        done = run([HEAPTOP, "--detach", pid])
        check_equal((done.returncode, done.stderr), (0, b""), "--detach")
        check_equal(frame("--keep"), [], "pools of a process that is attached to again")
        check_equal(program.poll(), None, "its end")
    finally:
        kill_hard(program)


@case("client requests are heeded only on request, and where code is patched")
def requests_none():
    for options in ([], [*REQUESTS, "--allocators", "none"]):
        done, rep = report([target("valgrind_pools"), "1", "100"], options)
        check_equal((done.returncode, pools(rep)), (0, []), "with %s" % options)


run_cases()
