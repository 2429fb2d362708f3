#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""32-bit programs under a 64-bit heaptop: their accounts, stacks, places in a mixed tree of processes; and what is
refused in words. The programs are those of tests/targets, compiled for i386."""

import os
import shutil
import subprocess
import sys

from proving import (B, HEAPTOP, LIBRARY, NARROW_LIBRARY, Skip, add_case, case, check, check_equal, frames_of, kill_hard, narrow,
                     report, run, run_cases, scratch, segment_files, target, truth_of)

ACCOUNTS = [
    ("every function of the C interface", ["truth_apis"], 0),
    ("8 threads that free each other's blocks", ["truth_threads", "8", "4000"], 0),
    ("constructors, atexit handlers and destructors", ["truth_exit"], 0),
    ("children by fork, clone and posix_spawn", ["truth_fork"], 0),
    ("longjmp, siglongjmp, swapcontext", ["truth_jumps"], 0),
    ("C++: all forms of new and delete, containers, exceptions", ["truth_cxx"], 0),
]
if "SOAK" in os.environ:
    ACCOUNTS += [
        ("64 threads on few processors", ["truth_threads", "64", "4000"], 0),
        ("producers allocate, consumers free", ["truth_queue", "100000"], 0),
        ("end by _exit", ["truth_exit", "_exit"], 7),
        ("end by abort", ["truth_exit", "abort"], 134),
        ("threads that allocate while they are taken down", ["truth_teardown", "2000"], 0),
        ("killed by SIGSEGV", ["crash", "segv"], 139),
    ]


def account_case(command, status):
    def try_it():
        truth_of([narrow(command[0], command[0] == "truth_cxx"), *command[1:]], status)
    return try_it


for title, command_line, ends in ACCOUNTS:
    add_case("32-bit: " + title, account_case(command_line, ends))


def chains(program, rep):
    """The program's own functions of each stack, innermost first, with the blocks there."""
    return sorted((tuple(f.get("function") for f in s["stack"] if f["module"] == program), s["live_blocks"])
                  for s in rep["sites"])


@case("32-bit: stacks through thunks, realigned frames and both kinds of signal frames")
def _():
    done, rep = report([narrow("narrow_stacks")])
    check_equal((done.returncode, done.stderr), (0, b""), "status and stderr")
    end = ("signals", "main", "_start")
    handler = [(("site_new", "interrupted") + end, 3)] * 2 + [(("site_old", "interrupted") + end, 3)] * 2
    check_equal(chains(narrow("narrow_stacks"), rep), sorted(handler + [(("site_plain", "middle", "main", "_start"), 3),
                                               (("site_realigned", "realigned", "main", "_start"), 3)]), "stacks")
    check_equal(rep["totals"]["truncated_stacks"], 0, "stacks without their end")


@case("32-bit: stacks are those of the same program for x86-64")
def _():
    programs = [target("narrow_stacks"), narrow("narrow_stacks")]
    wide, other = [chains(program, report([program])[1]) for program in programs]
    check_equal(other, wide, "stacks")


@case("32-bit: calls on a stack aligned to 4 bytes, in the middle of MMX code")
def _():
    done, rep = report([narrow("narrow_odd")])
    check_equal((done.returncode, done.stderr), (0, b""), "status and stderr")
    totals = rep["totals"]
    check_equal((totals["allocs"], totals["frees"], totals["live_bytes"]), (2000, 1000, 24000), "account")


@case("32-bit: heaptop.h finds the library")
def _():
    done, rep = report([narrow("told")], stdin=b"keep\npause 10\nunpause\nkeep\n")
    check_equal((done.returncode, done.stderr), (0, b""), "status and stderr")
    check_equal(rep["totals"]["paused_blocks"], 2 * 10, "paused blocks")


def mathematics():
    done = run([narrow("poisson")])
    check_equal(done.returncode, 0, done.stdout.decode())


if "SOAK" in os.environ:
    add_case("32-bit: sampling without numbers of 128 bits", mathematics)


def all_of(rep):
    return [rep] + rep["children"]


def mixed_blocks(rep):
    """Which builds of mixed have recorded their block, and of what size."""
    return sorted((os.path.relpath(r["process"]["exe"], os.path.join(B, "tests", "targets")), s["live_bytes"])
                  for r in all_of(rep) for s in r["sites"] if "site_mixed" in frames_of(s))


def mixed_wanted(depth, this, other):
    return [(name, 1000 + 10 * at + (4 if name.startswith("32/") else 8))
            for at, name in zip(range(depth, -1, -1), [this, other] * depth)]


@case("32-bit: a make that starts programs of both classes, which start each other")
def _():
    names = [("mixed", "32/mixed"), ("32/mixed", "mixed")]
    narrow("mixed")
    makefile = os.path.join(scratch, "Makefile")
    with open(makefile, "w", encoding="ascii") as f:
        f.write("all:\n" + "".join("\t@%s 4 %s %s; test $$? = 7\n" % (target(a), target(a), target(b))
                                   for a, b in names))
    before = segment_files()
    done, rep = report(["make", "-f", makefile])
    check_equal((done.returncode, done.stdout, done.stderr), (0, b"", b""), "status and output of make")
    wanted = sorted(block for a, b in names for block in mixed_wanted(4, a, b))
    check_equal(mixed_blocks(rep), wanted, "blocks of all images")
    check_equal(segment_files(), before, "segments")


@case("32-bit: exec in both directions")
def _():
    for a, b in (("mixed", "32/mixed"), ("32/mixed", "mixed")):
        narrow("mixed")
        done, rep = report([target(a), "1", target(a), target(b)])
        check_equal((done.returncode, done.stderr), (7, b""), "status and stderr of " + a)
        check_equal(mixed_blocks(rep), sorted(mixed_wanted(1, a, b)), "blocks, first " + a)


@case("32-bit: what a program starts after it was attached to, of both classes: the loader says nothing")
def _():
    runs = "import subprocess, sys; print('up', flush=True); sys.stdin.readline(); print(subprocess.run(sys.argv[1:]).returncode, flush=True)"
    program = subprocess.Popen([sys.executable, "-c", runs, narrow("mixed"), "2", target("mixed"), narrow("mixed")],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check_equal(program.stdout.readline(), b"up\n", "a program that has started")
    viewer = subprocess.Popen([HEAPTOP, "--no-config", "-b", "-d", "0.1", "-a", str(program.pid)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        while b"SITE" not in viewer.stdout.readline():
            check(viewer.poll() is None, "the viewer has ended")
        out, err = program.communicate(b"go\n", timeout=60)
        check_equal((out, err), (b"7\n", b""), "status of the last, and what all wrote to stderr")
    finally:
        kill_hard(program)
        kill_hard(viewer)


@case("32-bit: without its own library the 64-bit one's path is preloaded as it is")
def _():
    folder = os.path.join(scratch, "alone")
    os.mkdir(folder)
    shutil.copy(LIBRARY, folder)
    done = run([HEAPTOP, "--report", "-o", "/dev/null", "--library", os.path.join(folder, "libheaptop.so"), "--",
                "sh", "-c", "echo $LD_PRELOAD"])
    check_equal(done.stdout.decode().strip(), os.path.join(folder, "libheaptop.so"), "LD_PRELOAD")


def builds(name, *options):
    """A program that does nothing much."""
    narrow("crash")
    path = os.path.join(scratch, name)
    made = subprocess.run(["gcc", "-m32", *options, "-o", path, "-x", "c", "-"], input=b"int main(void) { return 0; }",
                          capture_output=True, check=False)
    if made.returncode:
        raise Skip("gcc -m32 %s does not build here" % " ".join(options))
    return path


@case("32-bit: a static program is refused as such")
def _():
    done = run([HEAPTOP, "--report", "--", builds("static", "-static")])
    check_equal(done.returncode, 125, "status")
    check(b"statically linked" in done.stderr, done.stderr)


@case("32-bit: a leak scan is refused in words, and the account is there")
def _():
    done, rep = report([narrow("narrow_stacks")], options=["--leak-check"])
    check_equal(done.returncode, 0, "status")
    check_equal(list(rep["leaks"]), ["failed"], "what is said of leaks")
    check("it is a 32-bit program" in rep["leaks"]["failed"], rep["leaks"]["failed"])
    check_equal(rep["totals"]["live_blocks"], 18, "blocks")


run_cases()
