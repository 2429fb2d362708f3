#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make soak-arm64: the tests that do not depend on x86-64, run by the tests' own scripts on an emulated
arm64 machine.

    ARM64=DIR B=build-aarch64-linux-gnu tests/arm64/soak.py [WORD...]

DIR is what tests/arm64/root.sh made. WORDs choose tests by name. Without DIR or the emulator nothing is
tried, and one line says so."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
B = os.environ.get("B", "build-aarch64-linux-gnu")
SECONDS = 3600

# Script -> what it is called, and the words that choose its cases; None: all of them.
TESTS = {
    "truth": ("tests/e2e/truth.py", []),
    "unwinder": ("tests/e2e/unwinder.py", ["python3", "perl", "ls", "sqlite3", "C API", "C++", "longjmp",
                                           "threads", "libraries"]),  # libunwind crashes in "handlers on ..."
    "leaks": ("tests/e2e/leaks.py", []),
    "programs": ("tests/arm64/programs.py", []),
}


def put(source, to):
    os.makedirs(os.path.dirname(to), exist_ok=True)
    shutil.copy2(source, to)


def assemble(work):
    """The tests, what they need of the tree, and the programs."""
    os.chdir(ROOT)
    for name in ("tests/e2e", "tests/targets", "tests/arm64", "tests/faults"):
        shutil.copytree(name, os.path.join(work, name), ignore=shutil.ignore_patterns("__pycache__"))
    for pattern in ("heaptop", "libheaptop.so", "demo", "tests/targets/*", "tests/targets/plugin/*.so",
                    "tests/arm64/*", "tests/unit/trace_stop"):
        for path in glob.glob(os.path.join(B, pattern)):
            if os.path.isfile(path) and not path.endswith((".o", ".d", ".ci", ".su")):
                put(path, os.path.join(work, path))


def script(work, wanted):
    lines = ["export PYTHONDONTWRITEBYTECODE=1 HEAPTOP_TEST_SLOWNESS=50 B=" + B, "cd /w"]
    for name, (path, words) in TESTS.items():
        if wanted and name not in wanted:
            continue
        arguments = " ".join("'%s'" % w for w in words)
        lines += ["echo '# %s'" % name, "/usr/bin/python3 %s %s || failed=1" % (path, arguments)]
    lines.append("exit ${failed:-0}")
    with open(os.path.join(work, "soak.sh"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


def main(wanted):
    where = os.environ.get("ARM64")
    if not where or not shutil.which("qemu-system-aarch64") or not shutil.which("mke2fs"):
        print("skip - arm64: needs ARM64=DIR (tests/arm64/root.sh), qemu-system-aarch64 and mke2fs")
        return 0
    with tempfile.TemporaryDirectory(dir="/var/tmp") as work:
        assemble(work)
        script(work, wanted)
        return subprocess.run([os.path.join(HERE, "guest.py"), where, work, "soak.sh", str(SECONDS)],
                              check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
