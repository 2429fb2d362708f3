#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recorder of this tree beside another libheaptop.so, of an older tree say: the rows of the bench, plain
and with both in turn, in one table. A time never fails it."""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys

from measure import added, machine, micro, ratios, rounds_run, scratch, segments, shown
from many_stacks import PROGRAMS as STACKS, VARIABLES
from patterns import CPU, DEPTH, DEPTHS, PATTERNS, Blocks
from places import LIBRARY
from programs import PROGRAMS, Missing, used
from storms import STORMS, storm
from table import Section


def recorder(name, library):
    """A copy: paths of the same length, since their length moves the program's stack, which alone may
    change the time of a pair by a third."""
    folder = os.path.join(scratch, name)
    os.mkdir(folder)
    return {"LD_PRELOAD": shutil.copy(library, os.path.join(folder, "libheaptop.so")), "HEAPTOP_DIR": segments}


def rows(threads):
    """(name, function that runs it with an environment and returns a number, what the number is)"""
    for title, pattern in PATTERNS.items():
        for depth in DEPTHS:
            arguments = [pattern, depth]
            yield "pairs: %s, depth %d" % (title, depth), lambda more, a=arguments: micro(a, more)[CPU], "ns"
    for title, arguments in {**Blocks.SINGLE, **{"%d threads" % n: ["threads", DEPTH, 0, n]
                                                 for n in Blocks(threads).threads}}.items():
        yield "blocks: " + title, lambda more, a=arguments: micro(a, more)[CPU], "ns"
    for title, command in STACKS.items():
        yield "stacks: " + title, (lambda more, t=title, c=command: used(t, c, {**more, **VARIABLES.get(t, {})})[0]), "s"
    for title in STORMS:
        yield "storms: " + title, lambda more, t=title: storm(t, more)[0], "ms"
    for title, command in PROGRAMS.items():
        yield "programs: " + title, lambda more, t=title, c=command: used(t, c(), more)[0], "s"


class Against(Section):
    key = "against"
    head = "Processor time of each row: plain, what the older recorder adds, what this one adds, and both runs' ratio:"
    columns = [("row", 42), ("unit", 4), ("plain", 7), ("+ before", 20), ("+ now", 20), ("now / before", 16)]

    def lines(self, row, result):
        plain, digits = result["plain"], 2 if result["unit"] == "s" or statistics.median(result["plain"]) < 10 else 0
        return [[row, result["unit"], "%.*f" % (digits, statistics.median(plain)),
                 *(shown(added(result[name], plain), digits) for name in ("before", "now")),
                 shown(ratios(result["now"], result["before"]), 2)]]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", help="the other libheaptop.so")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="at most so many")
    options = parser.parse_args()
    if not os.access(options.library, os.R_OK):
        parser.error("%s cannot be read; build it with make build/libheaptop.so in the other tree" % options.library)
    ways = {"plain": {}, "before": recorder("old", options.library), "now": recorder("new", LIBRARY)}
    table = Against()
    print("Median (least-most) of %d rounds; %s." % (options.rounds, machine()["processor"]))
    print("\n".join(table.heading()), flush=True)
    for row, function, unit in rows(options.threads):
        if not re.search(options.only, row):
            continue
        try:
            result = rounds_run(options.rounds, {name: (lambda more=more, f=function: f(more), options.rounds)
                                                 for name, more in ways.items()})
        except (OSError, Missing, subprocess.SubprocessError) as why:
            print("%s: %s" % (row, why), file=sys.stderr)
            continue
        for cells in table.lines(row, {**result, "unit": unit}):
            print(table.line_format(cells), flush=True)


main()
