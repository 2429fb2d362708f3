#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the fault matrix and prints it as a table, row by row, then how long that took; the last line counts.
Arguments: rows, or groups (A, E12). SOAK=1: as often as make soak does, or as SOAK_SECONDS allow for each kind of
program; the table says how often. WATCH: further options of heaptop (tests/e2e/proving.py)."""

import datetime
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LINE = re.compile(r"(ok|not ok|skip) - ([A-GP]\d+[a-z]?) (.*)")


def groups(wanted):
    for path in sorted(glob.glob(os.path.join(HERE, "group_*.py"))):
        letter = os.path.basename(path)[len("group_")].upper()
        rows = [w for w in wanted if w[0] == letter]
        if not wanted or rows:
            yield path, [] if letter in rows else rows


def lines_of(path, rows):
    with subprocess.Popen([path, *rows], stdout=subprocess.PIPE, text=True) as group:
        said = None
        for line in group.stdout:
            if line.startswith("# ") and said:
                _, _, seconds, _, processor, _, *amounts = line.split()
                yield (*said, float(seconds), float(processor), amounts)
            said = LINE.match(line).groups() if LINE.match(line) else None
    if group.returncode not in (0, 1):
        yield "not ok", "-", "%s ended with status %d" % (os.path.basename(path), group.returncode), 0, 0, []


def row_print(result, name, text, seconds, amounts):
    often = " (%s)" % ", ".join("{:,}".format(int(n)) for n in amounts) if amounts and "SOAK" in os.environ else ""
    print("%-4s %-6s %6.1f s  %s%s" % (name, result, seconds, text, often), flush=True)


def span(seconds):
    return str(datetime.timedelta(seconds=round(seconds)))


def sums_print(sums):
    """What was run, group by group and all of it, and how long."""
    sums["all"] = [sum(column) for column in zip(*sums.values())] or [0, 0, 0]
    for group, (rows, seconds, processor) in sums.items() if len(sums) > 2 else [("all", sums["all"])]:
        print("%-4s %3d rows in %s, %s of processor time" % (group, rows, span(seconds), span(processor)))


def main():
    count, sums = {"ok": 0, "not ok": 0, "skip": 0}, {}
    for path, rows in groups([w[:1].upper() + w[1:].lower() for w in sys.argv[1:]]):
        for result, name, text, seconds, processor, amounts in lines_of(path, rows):
            count[result] += 1
            of_group = sums.setdefault(name[:1], [0, 0, 0])
            of_group[:] = [of_group[0] + 1, of_group[1] + seconds, of_group[2] + processor]
            row_print(result, name, text, seconds, amounts)
    sums_print(sums)
    print("%d passed, %d failed, %d skipped" % (count["ok"], count["not ok"], count["skip"]))
    sys.exit(1 if count["not ok"] or not count["ok"] else 0)


if __name__ == "__main__":
    main()
