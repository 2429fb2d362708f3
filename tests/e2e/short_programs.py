#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What recording adds to short processes, in page faults, which are nearly the same in every run and most of
the cost: a microsecond each to allocate, zero, map and free a page."""

import os

from proving import B, LIBRARY, Failure, case, check, check_equal, environment, run, run_cases

STORM = os.path.join(B, "tests", "bench", "storm")
TIMES = 20


def faults(arguments, **more):
    """Page faults per process, its parent's included."""
    if not os.path.exists(STORM):
        raise Failure(STORM + " is not built")
    done = run([STORM, arguments[0], str(TIMES), *arguments[1:]], env=environment(**more))
    check_equal(done.returncode, 0, "exit status (%s)" % done.stderr.decode())
    return float(done.stdout.split()[3])


def check_added(plain, recorded, most):
    check(0 < recorded - plain <= most, "%.0f page faults become %.0f: more than %d are added" % (plain, recorded, most))


def check_command(command, most):
    check_added(faults(["exec", "--", *command]), faults(["exec", "LD_PRELOAD=" + LIBRARY, "--", *command]), most)


# Bounds: half as many again as were counted.

@case("a program that allocates nothing")
def idle():
    check_command(["/bin/true"], 60)


@case("a program with 100 call stacks")
def small():
    check_command([STORM, "work", "100"], 145)


@case("a forked child with 100 call stacks")
def forked():
    check_added(faults(["fork", "100"]), faults(["fork", "100"], LD_PRELOAD=LIBRARY), 135)


run_cases()
