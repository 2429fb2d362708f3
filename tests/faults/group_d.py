#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group D of the fault matrix: what the allocation functions mean."""

import os

from rows import fault_target, limit, row, run_rows, times
from sides import check_same, check_sides, launched, plain, preloaded, status_of
from proving import (ALLOCATORS, B, LIBRARY, ROOT, TARGETS, Skip, allocator, check, check_consistent, check_equal,
                     check_truth, need, run, scratch, sites_named, target, total, truth_read)

ACCOUNT = os.path.join(scratch, "account.json")
REENTRANT = os.path.join(os.path.dirname(TARGETS), "faults", "targets", "plugin", "reentrant.so")
# Threads without caches of their own: what one gives back is at once another's.
SHARED = {"GLIBC_TUNABLES": "glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0"}


def truth_sides(command, env=None, foreign=(), **how):
    """A truth program on both sides; its account and the report agree. Returns the report."""
    rep = check_sides(command, env={**(env or {}), "TRUTH": ACCOUNT}, **how)
    check_truth(rep, truth_read(ACCOUNT), foreign)
    return rep


def truth_watched(command, env=None, **how):
    """The same, under heaptop only: for long runs."""
    done, rep = launched(command, env={**(env or {}), "TRUTH": ACCOUNT}, **how)
    check_equal(done.returncode, 0, "exit status (%s)" % done.stderr[-300:].decode(errors="replace"))
    check_truth(rep, truth_read(ACCOUNT))
    return rep


@row("D1", "realloc moves a block to where another thread's was: the order of the two events")
def realloc_race():
    for _ in range(times(1, 100)):
        done, rep = launched([target("realloc_race"), str(times(200000, 1000000))], env=SHARED,
                             options=["-D", "3"], timeout=120)
        check_equal(done.returncode, 0, "exit status")
        check_consistent(rep)
        own = sites_named(rep, "work") + sites_named(rep, "block_move")
        check_equal((total(own, "live_blocks"), total(own, "live_bytes")), (0, 0), "live blocks and bytes")
        check_equal(rep["totals"]["reallocs"], int(done.stdout.split()[0]), "reallocs")


@row("D2", "a realloc that fails leaves the block; to nothing, glibc frees it")
def realloc_fails():
    for what in ("realloc", "limit"):
        truth_sides([fault_target("api_edges"), what])


@row("D3", "reallocarray, memalign, valloc, pvalloc ... missing, or with other rules")
def whole_interface():
    truth_sides([target("truth_apis")])


@row("D4", "sized frees and deletes are not hooked, and all seems to leak")
def sized():
    truth_sides([target("truth_cxx")])
    # stderr says whether libc, or we, have C23's.
    truth_sides([fault_target("sized_free")], stderr=False)
    check_equal(preloaded([fault_target("sized_free")]).stderr, b"found\n", "C23's sized frees")


@row("D5", "what libc allocates for itself is missed, or counted twice")
def libc_inside():
    need("valgrind")
    names = ["gzip:"] if times(1, 0) else []
    done = run([os.path.join(ROOT, "tests/e2e/valgrind.py"), *names], timeout=limit(60, 600))
    lines = done.stdout.decode().splitlines()
    check(lines, "no comparison was made: " + done.stderr.decode())
    check_equal([l for l in lines if l.startswith("not ok")], [], "programs that differ")
    if not any(l.startswith("ok") for l in lines):
        raise Skip(lines[0])


@row("D6", "malloc_usable_size changes: programs write up to it")
def usable_size():
    check_sides([target("usable_size")])


@row("D7", "a product that overflows is recorded as a small block")
def overflow():
    truth_sides([fault_target("api_edges"), "overflow"])


@row("D8", "free of what no allocator gave out faults in our tables")
def wild_free():
    for what, status in (("stack", 134), ("global", 134), ("interior", 134), ("odd", 134), ("twice", 134),
                         ("twice_large", 134), ("far", 139)):
        command = [fault_target("wild_free"), what]
        alone = plain(command)
        check_equal(status_of(alone), status, what + ": status without heaptop")
        check_same(alone, preloaded(command), "preloaded, " + what)
        done, rep = launched(command)
        check_same(alone, done, "launched, " + what, stderr=False)
        check(alone.stderr in done.stderr, what + ": its message is missing under heaptop")
        check_equal(rep["totals"]["unknown_frees"], 1, what + ": unknown frees")


@row("D9", "one thread allocates, another frees")
def queue():
    truth_watched([target("truth_queue"), str(times(1000000, 100000000))], timeout=limit(60, 3000))


@row("D9a", "free and reuse between 8 threads, and 64 on few processors")
def reuse():
    truth_watched([target("truth_threads"), "8", str(times(250000, 12500000))], env=SHARED,
                  timeout=limit(60, 3000))
    truth_watched([target("truth_threads"), "64", str(times(10000, 500000))], env=SHARED,
                  timeout=limit(60, 3000))
    truth_watched([target("truth_threads"), "64", str(times(10000, 500000))], timeout=limit(60, 3000))


@row("D9b", "the same on the tables alone, under the thread sanitizer")
def reuse_sanitized():
    for program in ("live.tsan", "slots.tsan", "tables.tsan", "ring.tsan"):
        for _ in range(times(1, 20)):
            done = run([os.path.join(B, "tests/stress", program)], timeout=limit(60, 300))
            check_equal(done.returncode, 0, "%s: %s" % (program, done.stderr[-300:].decode(errors="replace")))


def free_again(what, env=None):
    rep = check_sides([fault_target("free_again"), what], env=env)
    said = plain([fault_target("free_again"), what], env).stdout
    allocated, given_back, in_vain = map(int, said.split())
    own = sites_named(rep, "site_block") + sites_named(rep, "site_other")
    check_equal(total(own, "allocs"), allocated, what + ": blocks")
    check_equal(total(own, "frees"), given_back, what + ": frees")
    check_equal(total(own, "live_blocks"), allocated - given_back, what + ": live blocks")
    check_equal(rep["totals"]["unknown_frees"], in_vain, what + ": unknown frees")


@row("D10", "a second free takes out the block that has the address by then")
def second_free():
    free_again("reused")
    free_again("stale", {"LD_PRELOAD": REENTRANT})


@row("D11", "the program replaces malloc: we hide its own, or are passed by")
def own_malloc():
    rep = check_sides([target("own_malloc"), os.path.join(B, "tests/targets/plugin/waits.so")])
    check(not rep["notice"], "notice: %s" % rep["notice"])
    check(("malloc", "recorded") in [(a["function"], a["state"]) for a in rep["allocators"]], "its malloc is not recorded")
    check(rep["totals"]["allocs"] > 0, "nothing is recorded")
    rep = truth_sides([fault_target("fixed_address")])
    check(not rep["notice"], "notice of a program without a malloc of its own: %s" % rep["notice"])
    for name in ALLOCATORS:
        path, command = allocator(name), [target("truth_threads"), "4", "20000"]
        alone = plain(command, env={"LD_PRELOAD": path})
        for order in ((LIBRARY, path), (path, LIBRARY)):
            check_same(alone, plain(command, env={"LD_PRELOAD": ":".join(order)}), "%s:%s" % order)


@row("D12", "an allocator that maps memory: that is not the program's")
def allocators_mappings():
    for name in ALLOCATORS:
        rep = truth_sides([target("truth_threads"), "4", "20000"], env={"LD_PRELOAD": allocator(name)},
                          foreign=ALLOCATORS)
        check_equal([s["id"] for s in rep["sites"] if s["kind"] != "heap" and name in s["stack"][0]["module"]], [],
                    "call sites of the allocator's own mappings")


@row("D13", "mmap, mremap, munmap of a part, MAP_FIXED, brk: not allocations")
def mappings():
    truth_sides([fault_target("mappings")])


@row("D14", "blocks of no bytes, and of more than 4 GB")
def sizes():
    rep = truth_sides([fault_target("api_edges"), "sizes"])
    check_equal(total(sites_named(rep, "site_zero"), "live_blocks"), 50, "blocks of no bytes")


@row("D15", "pieces of a pool are counted beside the pool's block")
def pools():
    truth_sides([fault_target("pools")])


run_rows()
