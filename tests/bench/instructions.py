#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Instructions per malloc/free pair, counted by callgrind: the same number on every machine and every
run, so two versions can be compared to the instruction. Start-up is taken out by the difference of a
longer and a shorter run."""

import os
import re
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
B = os.path.join(ROOT, os.environ.get("B", "build"))
MICRO = os.path.join(B, "tests/bench/micro")
LIBRARY = os.path.join(B, "libheaptop.so")
PAIRS = 5000


def instructions(arguments, env):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", MICRO, *arguments],
                          env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=True)
    return int(re.search(rb"Collected : (\d+)", done.stderr).group(1))


def per_pair(depth, env):
    return (instructions(["pairs", str(depth), str(3 * PAIRS)], env)
            - instructions(["pairs", str(depth), str(PAIRS)], env)) / (2 * PAIRS)


def main():
    if not shutil.which("valgrind"):
        print("valgrind is not installed (make deps)")
        return
    segments = tempfile.mkdtemp(prefix="heaptop-bench-", dir="/dev/shm")
    plain = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and not k.startswith("HEAPTOP_")}
    watched = {**plain, "LD_PRELOAD": LIBRARY, "HEAPTOP_DIR": segments}
    print("%-24s %10s %10s %10s" % ("instructions per pair", "plain", "heaptop", "added"))
    try:
        for depth in (5, 15, 30, 60):
            a, b = per_pair(depth, plain), per_pair(depth, watched)
            print("%-24s %10.1f %10.1f %10.1f" % ("depth %d" % depth, a, b, b - a))
    finally:
        shutil.rmtree(segments, ignore_errors=True)


main()
