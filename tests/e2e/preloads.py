#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Other allocators preloaded beside heaptop, in both orders: the truth programs still agree to the
byte, and the program still runs on that allocator."""

import os

from proving import (ALLOCATORS, LIBRARY, add_case, allocator, check, check_equal, check_truth, environment, report,
                     run, run_cases, scratch, segment_files, target, truth_read)

PROGRAMS = (["truth_threads", "4", "50000"], ["truth_cxx"], ["truth_exit"], ["truth_jumps"])


# mimalloc's operator new ends the program where the standard's throws, with or without heaptop.
NEVER_THROWS = ("libmimalloc.so.2",)


def account_read():
    """A program's account; what the allocators differ in by design is not compared."""
    truth = truth_read(os.path.join(scratch, "truth.json"))
    truth["strict"] = False  # an allocator may allocate for itself
    return truth


def run_with(preload, command):
    for path in segment_files():
        os.unlink(path)
    env = environment(LD_PRELOAD=preload, TRUTH=os.path.join(scratch, "truth.json"))
    return run([target(command[0]), *command[1:]], env=env)


def truth_agrees(name, command):
    """heaptop launches; the other allocator is already in LD_PRELOAD and comes after the library."""
    env = environment(LD_PRELOAD=allocator(name), TRUTH=os.path.join(scratch, "truth.json"))
    command = [target(command[0]), *command[1:]]
    if name in NEVER_THROWS and "cxx" in command[0]:
        command.append("modest")
    done, rep = report(command, env=env)
    check_equal(done.returncode, 0, "exit status (%s)" % done.stderr.decode())
    check(rep["totals"]["allocs"] > 0, "nothing was recorded")
    check_truth(rep, account_read(), foreign=ALLOCATORS)


def harmless(name, command, order):
    path = allocator(name)
    preload = ":".join((LIBRARY, path) if order == "first" else (path, LIBRARY))
    plain = run_with(path, command)
    both = run_with(preload, command)
    check_equal((both.returncode, both.stdout, both.stderr),
                (plain.returncode, plain.stdout, plain.stderr), "exit status and output")


for lib in ALLOCATORS:
    for program in PROGRAMS:
        add_case("%s under heaptop: %s agrees" % (lib, program[0]),
                 lambda n=lib, p=program: truth_agrees(n, p))
    for where in ("first", "last"):
        add_case("%s, heaptop %s in LD_PRELOAD: the program is unharmed" % (lib, where),
                 lambda n=lib, w=where: harmless(n, PROGRAMS[0], w))

run_cases()
