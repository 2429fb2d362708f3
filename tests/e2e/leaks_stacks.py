#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leak scans of stacks: which part is dead, and what only looks like a stack."""

import os
import re

from proving import Skip, case, check, check_equal, report, run, run_cases, target
from scanning import Waiting, attached

KERNEL = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))


@case("stacks that are one mapping, with guards that are none")
def guarded():
    if run([target("leak_stacks"), "guarded"]).returncode == 4:
        raise Skip("this kernel has no MADV_GUARD_INSTALL")
    with Waiting(target("leak_stacks"), "guarded") as program:
        for copied in ("always", "never"):
            _, leaks = attached(program.process.pid, "--leak-copy", copied)
            check_equal((leaks["definite"]["blocks"], leaks["definite"]["bytes"]), (16, 16000), "lost")
            if KERNEL >= (6, 15):  # pagemap says which pages are guards
                check_equal(leaks["unread_bytes"], 0, "bytes that could not be read")
        check_equal(program.end(), (0, ""), "the program's end")


@case("what only looks like an ended thread's stack; memory of sbrk where malloc has none")
def looks_like():
    for how, blocks in (("queue", 8), ("sbrk", 1)):
        done, rep = report([target("leak_stacks"), how], ["--leak-check"])
        check_equal(done.returncode, 0, how + ": status")
        check_equal(rep["leaks"]["definite"]["blocks"], 0, how + ": lost")
        check(rep["leaks"]["reachable"]["blocks"] >= blocks, how + ": reachable")


run_cases()
