#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""heaptop --script on real programs: the screen shows their truth, and the status is as without."""

import os

from proving import (HEAPTOP, case, check, check_equal, environment, run, run_cases, scratch,
                     segment_files, target, truth_read)


def play(text, command, options=(), env=None):
    path = os.path.join(scratch, "script")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return run([HEAPTOP, "-d", "0.1", "--script", path, *options, "--", *command], env=env)


@case("the screen of a program that ended shows its truth")
def shows_truth():
    truth = os.path.join(scratch, "truth")
    done = play(":size 120x40\n:until exited 0\n\\\n:type function:site_strdup\n"
                "Enter\n:until truth_apis.c\nEnter\n:save-display -\n",
                [target("truth_apis")], env=environment(TRUTH=truth))
    check_equal((done.returncode, done.stderr), (0, b""), "the end")
    site = [s for s in truth_read(truth)["sites"] if s["name"] == "site_strdup"][0]
    blocks = site["allocs"] - site["frees"]
    check(blocks == 15 and ("in %d blocks" % blocks).encode() in done.stdout,
          "the screen says " + done.stdout.decode())
    check("site_strdup" in done.stdout.decode(), "no such site")
    check_equal(segment_files(), [], "what is left")


@case("a script that is wrong starts nothing; the program's status is passed on")
def ends():
    mark = os.path.join(scratch, "mark")
    done = play(":jump\n", ["touch", mark])
    check_equal(done.returncode, 2, "status")
    check(b"script:1: unknown command" in done.stderr, done.stderr)
    check(not os.path.exists(mark), "the program ran")
    check_equal(play(":until exited 7\n", ["sh", "-c", "exit 7"]).returncode, 7, "status")


@case("read only: no sampling, no file, no batch")
def readonly():
    done = play(":until exited 0\nx\n:save-display -\n", ["true"], ["--readonly"])
    check_equal(done.returncode, 0, "status")
    check(b"x is refused" in done.stdout and b"read only" in done.stdout, done.stdout.decode())
    for options in (["--readonly", "--sample", "64K"], ["--readonly", "-b"], ["--readonly", "-l"]):
        done = run([HEAPTOP, *options, *([] if "-l" in options else ["true"])])
        check_equal(done.returncode, 2, " ".join(options))
        check(b"--readonly" in done.stderr, done.stderr)


run_cases()
