#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group A of the fault matrix: start-up, symbol resolution, thread-local storage."""

from rows import fault_target, row, run_rows
from proving import LIBRARY, check, check_equal, environment, run
from sides import check_sides


@row("A1", "dlsym allocates before our pointers exist, and calls us again without end")
def dlsym_at_start():
    rep = check_sides([fault_target("constructor_dlsym")])
    check(rep["totals"]["allocs"] >= 500, "few allocations: %s" % rep["totals"])
    check_equal(rep["totals"]["unknown_frees"], 0, "unknown frees")


@row("A13", "the library drags libstdc++ or libgcc into programs written in C")
def only_libc():
    done = run(["ldd", LIBRARY], env=environment())
    check_equal(done.returncode, 0, "status of ldd")
    names = {line.split()[0].decode() for line in done.stdout.splitlines()}
    others = {n for n in names if not n.startswith(("linux-vdso", "libc.so", "/lib64/ld-linux"))}
    check(not others, "needs %s" % sorted(others))


run_rows()
