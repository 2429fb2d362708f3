#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make soak-arm64: the tests that do not depend on x86-64, run by the tests' own scripts on an emulated
arm64 machine; and a program there that is seen from this one (desk.py).

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
    "live": ("tests/e2e/leaks_live.py", []),
    "shared": ("tests/e2e/leaks_shared.py", []),
    "copy": ("tests/e2e/leaks_copy.py", []),
    "sparse": ("tests/e2e/leaks_sparse.py", []),
    # But what the library's 0.1 seconds for a viewer are too short for where each takes ten times as long.
    "two": ("tests/e2e/leaks_two.py", ["a scan waits", "Esc ends", "is named in one line", "does not wait",
                                       "scan at once"]),
    "helped": ("tests/e2e/leaks_helped.py", ["walks down", "seen in /proc", "must not be copied", "first thread",
                                             "needs one copy", "killed at any moment", "that fork, exec",
                                             "does not allocate", "sandbox", "waits for children", "is late",
                                             "its user trace it"]),
    "children": ("tests/e2e/leaks_children.py", []),
    "forks": ("tests/faults/group_c.py", ["C1", "C1b", "C2", "C3", "C3b", "C3c", "C4", "C5", "C7", "C16", "C6",
                                          "C6a"]),  # C3a is about attaching, which is x86-64's
    "cores": ("tests/e2e/cores.py", ["of the kernel has them", "python that crashes", "memory needs no segment",
                                     "every size", "is saved of a copy",
                                     "--clean warns", "asks before it removes"]),
    "programs": ("tests/arm64/programs.py", []),
}

# The same on a kernel whose pages are of 16 KB.
TESTS_16K = {
    "pages": ("tests/arm64/programs.py", ["counts", "gcc"]),
    "pages-truth": ("tests/e2e/truth.py", ["every function", "10,000 stacks, 100,000"]),
    "pages-leaks": ("tests/e2e/leaks.py", ["every class, root", "a running program"]),
    "pages-cores": ("tests/e2e/cores.py", ["of the kernel has them", "python that crashes", "memory needs no segment"]),
}
UNITS = ("trace_stop", "forked_copy", "proc_smaps", "shm_memory")


def put(source, to):
    os.makedirs(os.path.dirname(to), exist_ok=True)
    shutil.copy2(source, to)


def assemble(work):
    """The tests, what they need of the tree, and the programs."""
    os.chdir(ROOT)
    for name in ("tests/e2e", "tests/targets", "tests/arm64", "tests/faults"):
        shutil.copytree(name, os.path.join(work, name), ignore=shutil.ignore_patterns("__pycache__"))
    for pattern in ("heaptop", "libheaptop.so", "demo", "tests/targets/*", "tests/targets/plugin/*.so",
                    "tests/faults/targets/*", "tests/faults/tools/*", "tests/arm64/*", "tests/unit/*"):
        for path in glob.glob(os.path.join(B, pattern)):
            if os.path.isfile(path) and not path.endswith((".o", ".d", ".ci", ".su")):
                put(path, os.path.join(work, path))


def script(work, tests, wanted):
    """The script that runs them. False: none of them is wanted."""
    lines = ["export PYTHONDONTWRITEBYTECODE=1 HEAPTOP_TEST_SLOWNESS=50 B=" + B, "cd /w"]
    chosen = [name for name in (*tests, "units") if not wanted or name in wanted]
    for name in chosen:
        if name == "units":
            lines += ["$B/tests/unit/%s || failed=1" % unit for unit in UNITS]
            continue
        path, words = tests[name]
        arguments = " ".join("'%s'" % w for w in words)
        lines += ["echo '# %s'" % name, "/usr/bin/python3 %s %s || failed=1" % (path, arguments)]
    lines.append("exit ${failed:-0}")
    with open(os.path.join(work, "soak.sh"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    return bool(chosen)


def main(wanted):
    where = os.environ.get("ARM64")
    if not where or not shutil.which("qemu-system-aarch64") or not shutil.which("mke2fs"):
        print("skip - arm64: needs ARM64=DIR (tests/arm64/root.sh), qemu-system-aarch64 and mke2fs")
        return 0
    with tempfile.TemporaryDirectory(dir="/var/tmp") as work:
        assemble(work)
        status = 0
        for kernel, tests in (("root", TESTS), ("16k", TESTS_16K)):
            if not os.path.isdir(os.path.join(where, kernel)):
                print("skip - arm64: there is no kernel with pages of 16 KB in %s" % where)
            elif script(work, tests, wanted):
                print("# kernel: " + kernel, flush=True)
                done = subprocess.run([os.path.join(HERE, "guest.py"), where, work, "soak.sh", str(SECONDS)],
                                      env={**os.environ, "ARM64_KERNEL": kernel}, check=False)
                status = status or done.returncode
        if not wanted or "desk" in wanted:
            print("# desk", flush=True)
            status = subprocess.run([os.path.join(HERE, "desk.py")], check=False).returncode or status
        return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
