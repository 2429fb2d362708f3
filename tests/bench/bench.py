#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What heaptop costs, measured beside other recorders: small patterns, real programs, the live table, the
viewer. Everything is run plain and under each recorder in turn, round by round; ratios and differences
are of one round. Prints tables and writes all numbers as JSON. A time never fails it."""

import argparse
import datetime
import json
import os
import re
import subprocess
import sys

import measure
import programs
from leaks import Leaks
from many_stacks import ManyStacks
from patterns import Blocks, LiveTable, Pairs
from places import B
from recording import Events, Recording
from screen import Screen
from slowdown import Slowdown
from storms import Storms
from table import paragraph, readme_write
from viewer import Viewer

def sections(threads):
    return [Pairs(), Blocks(threads), LiveTable(), ManyStacks(), Storms(), programs.Programs(), Viewer(), Screen(),
            Recording(), Events(), Leaks(), Slowdown()]


def wanted(section, pattern, everything):
    if section.asked_only and not everything and section.key not in pattern:
        return []
    return [row for row in section.rows() if re.search(pattern, "%s: %s" % (section.key, row))]


def section_run(section, rows, rounds):
    """Measures and prints row by row."""
    results = {}
    if not section.ordered:
        print("\n".join(section.heading()), flush=True)
    for row in rows:
        if section.ordered and sys.stderr.isatty():
            print("%d of %d: %s" % (len(results) + 1, len(rows), row), file=sys.stderr)
        try:
            results[row] = section.measure(row, rounds)
        except (OSError, subprocess.SubprocessError) as why:
            print("%s: %s" % (row, why), file=sys.stderr)
            continue
        for cells in section.lines(row, results[row]) if not section.ordered else ():
            print(section.line_format(cells), flush=True)
    if section.ordered:
        print(section.text(results), flush=True)
        return results
    for note in section.notes(results):
        print("\n" + paragraph(note))
    print()
    return results


def text(results, keys):
    """The tables of these sections again, from the results of a run; "" if it has none of them."""
    about = results["machine"]
    parts = ["Median (least-most) of %d rounds; %s, %d processors, Linux %s, %s; load %.1f at the start.\n" % (
        results["rounds"], about["processor"], about["processors"], about["kernel"].split("-")[0],
        about["libc"], about["load"])]
    for section in sections(about["processors"]):
        if results.get(section.key) and section.key in keys:
            parts.append(section.text(results[section.key]))
    return "\n".join(parts) if len(parts) > 1 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", metavar="REGEX",
                        help="rows to measure, as \"programs: perl\"")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="at most so many")
    parser.add_argument("--programs", action="store_true", help="the real programs of the fault matrix, too")
    parser.add_argument("--quick", action="store_true", help="heaptop only, without the other recorders")
    parser.add_argument("--output", default=os.path.join(B, "bench.json"))
    parser.add_argument("--readme", metavar="FILE", help="put the results of the last run into FILE")
    options = parser.parse_args()
    if options.readme:
        with open(options.output, encoding="utf-8") as f:
            results = json.load(f)
        return readme_write(options.readme, lambda keys: text(results, keys))
    if options.quick:
        measure.quick()
    results = {"machine": measure.machine(), "rounds": options.rounds,
               "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}
    for section in sections(options.threads):
        rows = wanted(section, options.only, options.programs)
        if rows:
            results[section.key] = section_run(section, rows, options.rounds)
    # A part must not take the place of the whole.
    with open(options.output + (".part" if options.only else ""), "w", encoding="utf-8") as f:
        json.dump(results, f, indent=1)
        f.write("\n")


main()
