#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The promises of tests/PROMISES.md: each names what keeps it, and every row and file that it names exists."""

import glob
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

PAGE = "tests/PROMISES.md"
ROW = r"\b[A-G]\d+[a-z]?\b"
FILE = r"`(tests/[^` ]+)`"


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def promises():
    """The list items, each on one line."""
    return [" ".join(item.split()) for item in re.findall(r"^- (.*?)(?=^- |^\S|^$)", read(PAGE), re.M | re.S)]


def rows():
    text = "".join(map(read, glob.glob("tests/faults/group_*.py")))
    return set(re.findall(r'^@row\("([^"]+)"', text, re.M))


def wrong():
    known = rows()
    for promise in promises():
        named, files = re.findall(ROW, promise), re.findall(FILE, promise)
        if not named and not files:
            yield "nothing keeps: " + promise
        yield from ("no such row: %s (%s)" % (name, promise) for name in named if name not in known)
        yield from ("no such file: " + path for path in files if not os.path.exists(path))


def main():
    found = list(wrong()) if promises() else [PAGE + " has no promises"]
    print("%s - the promises of tests/PROMISES.md are kept by tests that exist%s" % (
        "not ok" if found else "ok", ": " + "; ".join(found) if found else ""))
    sys.exit(1 if found else 0)


main()
