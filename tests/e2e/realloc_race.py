#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order law for realloc: threads that move blocks into each other's old addresses, and free
everything, leave nothing. Twenty runs, because a wrong order shows only now and then. All threads share
one arena and have no caches of their own: otherwise glibc hands an address back to the thread it came
from, and a wrong order would never show."""

from proving import (add_case, check, check_consistent, check_equal, environment, frames_of,
                     report, run_cases, target)

RUNS = 20
MOVES = 1000000
SHARED = "glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0"


def own_sites(rep):
    return [s for s in rep["sites"] if {"work", "block_move"} & set(frames_of(s))]


def no_block_left(count, options):
    done, rep = report([target("realloc_race"), str(count)], options=options, timeout=120,
                       env=environment(GLIBC_TUNABLES=SHARED))
    check_equal(done.returncode, 0, "exit status (%s)" % done.stderr.decode())
    check_consistent(rep)
    sites = own_sites(rep)
    check(sites, "the program's own sites are not in the report")
    check_equal(sum(s["live_blocks"] for s in sites), 0, "live blocks")
    check_equal(sum(s["live_bytes"] for s in sites), 0, "live bytes")
    reallocs, moved = (int(word) for word in done.stdout.split()[::2])
    check(moved >= 4 * count, "only %d blocks moved" % moved)
    check_equal(rep["totals"]["reallocs"], reallocs, "reallocs")


def repeated():
    # Short stacks: what is tried here is the order, not the unwinder.
    for number in range(RUNS):
        try:
            no_block_left(MOVES, ["-D", "3"])
        except Exception as why:
            raise type(why)("run %d of %d: %s" % (number + 1, RUNS, why))


add_case("4 threads, 10^6 moving reallocs each: 0 live blocks, %d of %d runs" % (RUNS, RUNS), repeated)
add_case("the same with whole stacks", lambda: no_block_left(200000, []))

run_cases()
