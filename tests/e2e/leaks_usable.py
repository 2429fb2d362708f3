#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leak scans of programs that use all of a block, which may be more than they asked for."""

import json
import os

from proving import HEAPTOP, case, check, check_equal, environment, run, run_cases, scratch, target


@case("pointers beyond the size that was asked for, where the program asks for the real one")
def beyond():
    out = os.path.join(scratch, "report")
    done = run([HEAPTOP, "--report", "--format", "json", "-o", out, "--leak-check", "--", target("usable_tail")],
               env=environment())
    check_equal(done.returncode, 0, done.stderr)
    small, large = map(int, done.stdout.split())
    check(small > 80 // 8 and large > 200000 // 8, "elements that fit: %d, %d" % (small, large))
    with open(out, encoding="utf-8") as f:
        leaks = json.load(f)["leaks"]
    check_equal((leaks["definite"]["blocks"], leaks["definite"]["bytes"]), (1, 300), "lost")
    check_equal((leaks["indirect"]["blocks"], leaks["possible"]["blocks"]), (0, 0), "indirectly, possibly")


run_cases()
