#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""README's promises: each names what keeps it, and every row and file that it names exists."""

import glob
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

HEAD = "## What heaptop promises"
ROW = r"\b[A-F]\d+[a-z]?\b"
FILE = r"`(tests/[^` ]+)`"


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def promises():
    """The list items of the section, each on one line."""
    section = read("README.md").split(HEAD + "\n")[1].split("\n## ")[0]
    return [" ".join(item.split()) for item in re.findall(r"^- (.*?)(?=^- |^\S|^$)", section, re.M | re.S)]


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
    found = list(wrong()) if promises() else ["README.md has no promises"]
    print("%s - the promises of README.md are kept by tests that exist%s" % (
        "not ok" if found else "ok", ": " + "; ".join(found) if found else ""))
    sys.exit(1 if found else 0)


main()
