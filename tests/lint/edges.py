#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory orders of shm/ and preload/: each release and acquire bears the label of its edge, in a comment in its
statement or up to four lines above; each label is defined in a file's head or in shm/layout.h, and heaptop-internals(7)
lists it."""

import glob
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

ORDERED = re.compile(r"\bht_(load_acquire|store_release|cas_acquire|cas_acq_rel|equals_acquire|fence_release"
                     r"|fence_acquire|fence_full)(_\w+)?\(")
LABEL = re.compile(r"\b[A-Z]{3,}\b")
NEAR = 4


def labels_near(lines, at):
    """Words in capitals of the comments just above this line, and up to the end of its statement."""
    end = next((i for i in range(at, len(lines)) if re.search(r"[;{]", lines[i])), at)
    near = "\n".join(lines[max(0, at - NEAR):end + 1])
    return {w for c in re.findall(r"/\*.*?\*/", near, re.S) for w in LABEL.findall(c)}


def unlabelled(text, defined):
    lines = text.split("\n")
    return [(at + 1, line.strip()) for at, line in enumerate(lines)
            if ORDERED.search(line) and not labels_near(lines, at) & defined]


def definitions(texts):
    found = set()
    for path, text in texts.items():
        found |= set(re.findall(r"\bEdge ([A-Z]+):", text))
        if path == "shm/layout.h":
            listed = text.split("Publication edges", 1)[1].split("*/", 1)[0]
            found |= set(re.findall(r"^ \*   ([A-Z]+) ", listed, re.M))
    return found


def selftest():
    code = "x = ht_load_acquire_32(&a); /* EDGE */\n" + "\n" * NEAR + "ht_store_release_32(&a, 1);\n"
    if [n for n, _ in unlabelled(code, {"EDGE"})] != [NEAR + 2] or len(unlabelled(code, {"OTHER"})) != 2:
        print("not ok - lint_edges_selftest: an access without label passes, or one with a label does not")
        return False
    print("ok - lint_edges_selftest")
    return True


def verdict(name, wrong):
    print("not ok - %s: %d, the first: %s" % (name, len(wrong), wrong[0]) if wrong else "ok - " + name)
    return not wrong


texts = {}
for source in sorted(glob.glob("shm/*.[ch]") + glob.glob("preload/*.[ch]")):
    if source != "shm/atomic.h":
        with open(source, encoding="utf-8") as f:
            texts[source] = f.read()
labels = definitions(texts)
with open("man/heaptop-internals.7", encoding="utf-8") as f:
    manual = set(re.findall(r"^\.It ([A-Z]+)$", f.read(), re.M))
good = [
    selftest(),
    verdict("lint_edges_labelled", ["%s:%d: %s" % (path, *where) for path, text in texts.items()
                                    for where in unlabelled(text, labels)]),
    verdict("lint_edges_in_the_manual", sorted(labels ^ manual)),
]
sys.exit(0 if all(good) else 1)
