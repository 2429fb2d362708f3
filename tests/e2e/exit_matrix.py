#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leaking programs times ways to end (tests/targets/exit_matrix.c, exit_matrix_cxx.cc, exit_ways.h): each block
has the class that memcheck gives it, but for DIFFERENCES. What memcheck says is in MEMCHECK; valgrind itself is
asked about one way in each program and one program in each way, with SOAK=1 about all. With SOAK=1 each runs twice,
its functions found at the first call and at its start: the loader's search overwrites what lies on the stack."""

import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import memchecked
from proving import HEAPTOP, Failure, add_case, check, check_equal, environment, run, run_cases, scratch, target

SOAK = bool(os.environ.get("SOAK"))
AT_ONCE = 2
BINDINGS = {"lazily": {}, "at once": {"LD_BIND_NOW": "1"}}
WAYS = ("return", "exit", "nested", "atexit", "thread", "handler", "_exit", "quick_exit", "destructor", "pthread_exit",
        "leader_gone", "signal_stack", "coroutine", "last_thread")
# The last thread ends, not the process: its frames are gone, and the status is 0.
THREAD_ENDS = ("pthread_exit", "last_thread")
FRAME_GONE = ("return", *THREAD_ENDS)
# No exit handler and no destructor comes after these; in a destructor, they are over before the blocks are made.
NO_HANDLERS = ("_exit", "quick_exit", "destructor")

# Program -> way ("": all others) -> class blocks/bytes: memcheck's figures, of valgrind 3.19.
MEMCHECK = {
    "seed": {"": "definite 3/456"},
    "residue": {"": "definite 1/100"},
    "list": {"": "definite 1/48 indirect 9/432"},
    "cycle": {"": "definite 1/48 indirect 4/192"},
    "interior": {"": "possible 1/100"},
    "global": {"": "reachable 1/100"},
    "frame": {"": "reachable 1/100", **dict.fromkeys(FRAME_GONE, "definite 1/100")},
    "main_frame": {"": "reachable 1/100",
                   **dict.fromkeys((*FRAME_GONE, "leader_gone"), "definite 1/100")},
    "register": {"": "reachable 1/100", **dict.fromkeys((*FRAME_GONE, "_exit"), "definite 1/100")},
    "tls_running": {"": "reachable 1/100"},
    "tls_joined": {"": "reachable 1/100"},
    "half": {"": "definite 5/520", **dict.fromkeys(NO_HANDLERS, "reachable 10/1045")},
    "library": {"": "definite 1/1234", **dict.fromkeys(NO_HANDLERS, "reachable 2/5555")},
    "vector": {"": "definite 1/24 indirect 11/890"},
    "second_base": {"": "reachable 7/412"},
    "static": {"": "definite 1/24 indirect 8/623", **dict.fromkeys(NO_HANDLERS, "reachable 16/1116")},
}

# (program, ways) -> what heaptop says instead, and why that is right.
DIFFERENCES = {
    ("register", ("_exit",)): (
        "reachable 1/100", "memcheck has forgotten the registers of the thread that calls _exit, and "
        "_exit, unlike exit, saves none of them on the stack: the pointer was there to the last"),
    ("residue", ("coroutine",)): (
        "reachable 1/100", "on a stack that the program made itself, what lies deeper below the stack pointer than the "
        "kernel may overwrite could be another stack's"),
    ("tls_joined", WAYS): (
        "definite 1/100", "the thread's variables ended with it; memcheck reads them where glibc keeps the joined "
        "thread's stack for the next one"),
}

# A thread that goes on running keeps the process.
NEVER_ENDS = tuple(("tls_running", way) for way in THREAD_ENDS)

CXX = ("vector", "second_base", "static")


def parsed(text):
    words = text.split()
    return {kind: tuple(map(int, pair.split("/"))) for kind, pair in zip(words[::2], words[1::2])}


def memchecks(program, way):
    ways = MEMCHECK[program]
    return parsed(ways.get(way, ways[""]))


def ours(program, way):
    for (name, ways), (text, _) in DIFFERENCES.items():
        if name == program and way in ways:
            return parsed(text)
    return memchecks(program, way)


def command_of(program, way):
    return [target("exit_matrix_cxx" if program in CXX else "exit_matrix"), program, way]


def status_of(way):
    return 0 if way in THREAD_ENDS else 3


def of_program(modules):
    """Not the loader's, nor made before main: their sizes are those of the libraries that are installed. On a
    coroutine's stack memcheck has no frames at times."""
    return not modules or "/ld-linux" not in modules[0] and any("/exit_" in m for m in modules)


def reported(program, way, binding):
    with tempfile.NamedTemporaryFile(dir=scratch, suffix=".json") as out:
        done = run([HEAPTOP, "--leak-check", "--report", "--format", "json", "-o", out.name, "--",
                    *command_of(program, way)], env=environment(**BINDINGS[binding]))
        check_equal(done.returncode, status_of(way), "status (%s)" % done.stderr.decode())
        return json.load(out)


def classed(site):
    return "suppressed" if site["suppressed"] else site["class"]


def check_whole(rep):
    """Every block that was not freed has one class."""
    leaks, totals = rep["leaks"], rep["totals"]
    check(leaks["failed"] is None, leaks["failed"])
    found = [leaks[kind] for kind in (*memchecked.CLASSES, "suppressed")]
    check_equal((sum(f["blocks"] for f in found), sum(f["bytes"] for f in found)),
                (totals["live_blocks"], totals["live_bytes"]), "sum of the classes")


def heaptop_says(program, way, binding):
    rep = reported(program, way, binding)
    check_whole(rep)
    found = {}
    for site in rep["leaks"]["sites"]:
        if of_program([f["module"] for f in site["stack"]]):
            blocks, size = found.get(classed(site), (0, 0))
            found[classed(site)] = (blocks + site["blocks"], size + site["bytes"])
    check_equal(found, ours(program, way), "classes")


def memcheck_says(program, way, binding):
    done, leaks = memchecked.leaks_of(command_of(program, way), env=environment(**BINDINGS[binding]))
    check_equal(done.returncode, status_of(way), "status under valgrind")
    found = memchecked.sums(leaks, lambda leak: of_program([m for _, m in leak.stack]))
    check_equal(found, memchecks(program, way), "memcheck's classes")


def wrong(judge, program, way, binding):
    try:
        judge(program, way, binding)
    except Failure as why:
        return "%s by %s, bound %s: %s" % (program, way, binding, why)
    return None


def all_right(judge, runs):
    """Some at once; each run that is wrong is named."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = [w for w in pool.map(lambda one: wrong(judge, *one), runs) if w]
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    check(not found, "%d of %d: %s" % (len(found), len(runs), "; ".join(found)))


def runs_of(program):
    bindings = BINDINGS if SOAK else ("at once",)
    return [(program, way, binding) for binding in bindings for way in WAYS if (program, way) not in NEVER_ENDS]


def some_runs():
    """Each program and each way at least once."""
    runs = [(p, WAYS[i % len(WAYS)], list(BINDINGS)[i % len(BINDINGS)]) for i, p in enumerate(MEMCHECK)]
    return [one for one in runs if one[:2] not in NEVER_ENDS]


for name in MEMCHECK:
    add_case("%s, ended in each way: classes as memcheck's" % name,
             lambda p=name: all_right(heaptop_says, runs_of(p)))
if SOAK:
    add_case("memcheck itself says all that is in the table",
             lambda: all_right(memcheck_says, [one for p in MEMCHECK for one in runs_of(p)]))
else:
    add_case("memcheck itself says what is in the table, of some", lambda: all_right(memcheck_says, some_runs()))
run_cases()
