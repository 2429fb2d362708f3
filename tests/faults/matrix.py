#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the fault matrix and prints it as a table, row by row; the last line counts. Arguments: rows, or
groups (A, E12). SOAK=1: as often as make soak does."""

import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LINE = re.compile(r"(ok|not ok|skip) - ([A-FP]\d+[a-z]?) (.*)")


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
                yield (*said, line.split()[2])
            said = LINE.match(line).groups() if LINE.match(line) else None
    if group.returncode not in (0, 1):
        yield "not ok", "-", "%s ended with status %d" % (os.path.basename(path), group.returncode), "-"


def main():
    count = {"ok": 0, "not ok": 0, "skip": 0}
    for path, rows in groups([w[:1].upper() + w[1:].lower() for w in sys.argv[1:]]):
        for result, name, text, seconds in lines_of(path, rows):
            count[result] += 1
            print("%-4s %-6s %6s s  %s" % (name, result, seconds, text), flush=True)
    print("%d passed, %d failed, %d skipped" % (count["ok"], count["not ok"], count["skip"]))
    sys.exit(1 if count["not ok"] or not count["ok"] else 0)


if __name__ == "__main__":
    main()
