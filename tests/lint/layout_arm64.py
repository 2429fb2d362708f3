#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The segment's format is the same on aarch64 and on i386 as on x86-64: a compiler for each computes the same
signature and the same sizes from shm/layout.h, and its static asserts hold."""

import os
import re
import shutil
import subprocess

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
SOURCE = """#include "shm/layout.h"
const unsigned values[] = { (unsigned)HT_SIGNATURE, (unsigned)(HT_SIGNATURE >> 32), sizeof(struct ht_header), sizeof(struct ht_thread),
	sizeof(struct ht_module), sizeof(struct ht_node), sizeof(struct ht_site), sizeof(struct ht_event) };
"""


def values(machine):
    """The words of the table, or what the compiler says."""
    done = subprocess.run(["clang", "--target=%s-linux-gnu" % machine, "-ffreestanding", "-std=gnu11", "-I.", "-O1",
                           "-S", "-o", "-", "-x", "c", "-"], input=SOURCE, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip().splitlines()[0]
    return [int(v, 0) for v in re.findall(r"^\s*\.(?:word|long)\s+(\d+)", done.stdout, re.M)]


def main():
    if not shutil.which("clang"):
        print("skip - lint_layout_arm64: clang is not installed")
        return
    here, there, narrow = values("x86_64"), values("aarch64"), values("i386")
    if isinstance(here, list) and len(here) == 8 and here == there == narrow:
        print("ok - lint_layout_arm64")
    else:
        print("not ok - lint_layout_arm64: x86-64: %s, aarch64: %s, i386: %s" % (here, there, narrow))


main()
