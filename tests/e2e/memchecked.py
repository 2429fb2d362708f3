# SPDX-License-Identifier: GPL-3.0-or-later
"""What memcheck says of a program's blocks at its end, class by class. Not a test itself.

Its own clean-up of libc and libstdc++ is off: they keep what they keep in every other run, too."""

import os
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from typing import NamedTuple

from proving import Failure, need, run, scratch

CLASSES = ("definite", "indirect", "possible", "reachable")
KINDS = dict(zip(("Leak_DefinitelyLost", "Leak_IndirectlyLost", "Leak_PossiblyLost", "Leak_StillReachable"), CLASSES))
OPTIONS = ["-q", "--leak-check=full", "--show-leak-kinds=all", "--run-libc-freeres=no", "--run-cxx-freeres=no",
           "--child-silent-after-fork=yes", "--xml=yes"]


class Leak(NamedTuple):
    kind: str
    blocks: int
    size: int
    stack: list  # (function, object) of each frame, innermost first, without memcheck's own


def leak_of(error):
    """A loss record. What a lost block leads to is in records of its own."""
    said = error.find("xwhat")
    direct = re.search(r"\(([\d,]+) direct, ", said.findtext("text"))
    size = direct[1].replace(",", "") if direct else said.findtext("leakedbytes")
    frames = [(f.findtext("fn") or "", f.findtext("obj") or "") for f in error.find("stack").findall("frame")]
    return Leak(KINDS[error.findtext("kind")], int(said.findtext("leakedblocks")), int(size),
                [f for f in frames if "/vgpreload_" not in f[1]])


def leaks_read(path):
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as why:
        raise Failure("memcheck's report: %s" % why) from why
    return [leak_of(e) for e in root.findall("error") if e.findtext("kind") in KINDS]


def leaks_of(command, options=(), **how):
    """(finished process, its leaks)."""
    need("valgrind")
    with tempfile.NamedTemporaryFile(dir=scratch, suffix=".xml", delete=False) as out:
        path = out.name
    try:
        done = run(["valgrind", *OPTIONS, *options, "--xml-file=" + path, *command], **{"timeout": 300, **how})
        return done, leaks_read(path)
    finally:
        os.unlink(path)


def sums(leaks, wanted=lambda leak: True):
    """Class -> (blocks, bytes), without classes that have none."""
    total = {}
    for leak in leaks:
        if wanted(leak):
            blocks, size = total.get(leak.kind, (0, 0))
            total[leak.kind] = (blocks + leak.blocks, size + leak.size)
    return total
