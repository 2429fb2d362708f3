#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of many stacks and of odd control flow (tests/bench/stacks.c, control_flow.cc), each stack compared with
libunwind's: none may be wrong, and the sites are those that the program counted itself, each once and to the byte.
With SOAK=1 also 20 million stacks of real programs and of larger ones of these."""

import os
import sys

from proving import (B, ROOT, Skip, add_case, check, check_consistent, check_equal, environment, report,
                     run_cases, scratch, target)

SOAK = bool(os.environ.get("SOAK"))
TIMEOUT_S = 1200
STACKS_LEAST = 20000000  # of the soak, in all
BENCH = os.path.join(B, "tests/bench")
CALLEES = ((1, 2, 0, 1), (2, 0, 1, 2), (0, 1, 2, 0))  # by function and place, as FUNCTION in stacks.c has them
BITS = {"search": 1}  # of a digit; otherwise:
BITS_ELSE = 2


def compared(command, depth=128):
    """A run in check mode, and its report."""
    done, rep = report(command, ["--top", "0", "--depth", str(depth)], env=environment(HEAPTOP_UNWINDER="check"),
                       timeout=TIMEOUT_S)
    if "unwinds" not in rep:
        raise Skip("libunwind is not installed")
    check_equal(done.returncode, 0, "exit status")
    check_equal(rep["unwinds"]["wrong"], 0, "wrong stacks, of %d" % rep["unwinds"]["checked"])
    check(rep["unwinds"]["checked"] >= rep["totals"]["allocs"], "stacks that were not compared")
    return done, rep


# ---- many stacks ----

def counts_read(path):
    """The place of each return address, the outermost one, and (allocations, bytes) by (level, number)."""
    places, outermost, nodes = {}, None, {}
    with open(path, encoding="ascii") as f:
        for kind, *values in map(str.split, f):
            if kind == "place":
                places[int(values[2], 16)] = int(values[0]), int(values[1])
            elif kind == "outermost":
                outermost = int(values[0], 16)
            else:
                level, number, allocations, size = map(int, values)
                nodes[level, number] = allocations, size
    return places, outermost, nodes


def node_of(pcs, places, outermost, bits):
    """Level and number of a stack of the walk, None of another one."""
    if outermost not in pcs:
        return None
    calls = [places.get(pc) for pc in pcs[1:pcs.index(outermost)]]
    number = called = 0
    for call in reversed(calls):
        check(call and call[0] == called, "a frame is not of the function that was called")
        called = CALLEES[call[0]][call[1]]
        number = number << bits | call[1]
    return len(calls), number


def sites_are(pattern, arguments, depth=128):
    """Every site of the walk is a node that the program counted, each once, and none is missing."""
    path = os.path.join(scratch, "counts")
    command = [os.path.join(BENCH, "stacks"), pattern, *map(str, arguments), path]
    _, rep = compared(command, depth)
    check_consistent(rep)
    places, outermost, nodes = counts_read(path)
    found = {}
    for site in rep["sites"]:
        pcs = [int(frame["pc"], 16) for frame in site["stack"] if not frame["inlined"]]
        node = node_of(pcs, places, outermost, BITS.get(pattern, BITS_ELSE))
        if node:
            check(node not in found, "two sites are of one stack: level %d, number %d" % node)
            check(not site["truncated"], "a stack ends early")
            found[node] = site["allocs"], site["alloc_bytes"]
    different = [node for node in nodes.keys() | found.keys() if nodes.get(node) != found.get(node)]
    check(not different, "%d of %d stacks differ, as %s: %s, not %s" % (
        len(different), len(nodes), different[:1], [found.get(n) for n in different[:1]],
        [nodes.get(n) for n in different[:1]]))
    check(len(nodes) >= arguments[0] // 2, "the program made %d stacks only" % len(nodes))


MANY = {
    "in order": ("cyclic", [4000, 40000, 1, 0]),
    "at random": ("random", [4000, 60000, 1, 0]),
    "in phases": ("phases", [4000, 40000, 1, 0]),
    "of a search": ("search", [4000, 100000, 1, 0]),
    "that come once": ("fresh", [8000, 8000, 1, 0]),
    "of two threads that make the same ones at once": ("fresh", [8000, 8000, 2, 0]),
    "of four threads that meet them at random": ("random", [4000, 30000, 4, 0]),
    "1,000 deep": ("random", [100, 3000, 1, 1000], 1024),
}
for name, how in MANY.items():
    add_case("stacks " + name, lambda how=how: sites_are(*how))


def deep_cut():
    """More frames than are kept: the program's totals hold, and each stack is cut."""
    _, rep = compared([os.path.join(BENCH, "stacks"), "random", "100", "5000", "1", "1000"])
    check_consistent(rep)
    check(sum(site["truncated"] for site in rep["sites"]) >= 64, "no stack was cut")


add_case("stacks 1,000 deep that are cut", deep_cut)


# ---- odd control flow ----

def flow_is(way, allocations):
    """The program prints how many blocks it made of each size; a site is of one size."""
    done, rep = compared([os.path.join(BENCH, "control_flow"), way, str(allocations),
                          os.path.dirname(target("plugin/one.so"))])
    check_consistent(rep)
    lines = [tuple(map(int, line.split())) for line in done.stdout.split(b"\n") if line]
    check(lines, "the program counted nothing")
    for size, made in lines:
        sites = [site for site in rep["sites"] if site["alloc_bytes"] == site["allocs"] * size]
        check_equal(sum(site["allocs"] for site in sites), made, "allocations of %d bytes" % size)
        if not way.startswith("jit"):
            check(not any(site["truncated"] for site in sites), "a stack ends early")
        for plugin in ("one.so", "two.so") if way == "plugins" else ():
            own = [site for site in sites if site["stack"][0]["module"].endswith(plugin)]
            check_equal(sum(site["allocs"] for site in own), made // 2, "allocations in " + plugin)


for way, allocations in {"coroutines": 100000, "exceptions": 60000, "longjmp": 100000, "jit-frame": 50000,
                         "jit-bare": 50000, "plugins": 4000}.items():
    add_case("stacks in " + way, lambda way=way, allocations=allocations: flow_is(way, allocations))


# ---- soak ----

def soak_commands():
    sys.path.append(os.path.join(ROOT, "tests/bench"))
    import programs  # found by the path above
    import measure
    for name, command in programs.PROGRAMS.items():
        if name not in programs.DRIVERS:
            try:
                yield name, command(), programs.VARIABLES
            except programs.Missing:
                continue
    measure.cleanup()


def unwinds(rep):
    yield rep["unwinds"] if "unwinds" in rep else {"checked": 0, "wrong": 0}
    for child in rep.get("children", []):
        yield from unwinds(child)


def soak_programs():
    checked = 0
    for name, command, variables in soak_commands():
        _, rep = report(command, env=environment(HEAPTOP_UNWINDER="check", **variables), timeout=TIMEOUT_S)
        every = list(unwinds(rep))
        check_equal(sum(u["wrong"] for u in every), 0, "wrong stacks of " + name)
        checked += sum(u["checked"] for u in every)
    check(checked >= STACKS_LEAST, "%d stacks were compared, not %d" % (checked, STACKS_LEAST))


def soak_stacks(pattern, number, allocations, threads):
    done, rep = report([os.path.join(BENCH, "stacks"), pattern, str(number), str(allocations), str(threads)],
                       env=environment(HEAPTOP_UNWINDER="check"), timeout=TIMEOUT_S)
    check_equal(done.returncode, 0, "exit status")
    check_equal(rep["unwinds"]["wrong"], 0, "wrong stacks")
    check_equal(rep["unwinds"]["checked"] >= threads * allocations, True, "whether all were compared")


if SOAK:
    add_case("20 million stacks of real programs", soak_programs)
    for pattern, threads in (("cyclic", 1), ("random", 2), ("phases", 1), ("search", 2), ("fresh", 2)):
        add_case("200,000 stacks, %s, %d threads" % (pattern, threads),
                 lambda pattern=pattern, threads=threads: soak_stacks(pattern, 200000, 2000000, threads))

run_cases()
