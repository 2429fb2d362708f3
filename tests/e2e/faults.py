#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Page faults by call site (--faults): of a program that touches known pages (tests/targets/touched.c)."""

import json
import os
import re
import subprocess

from proving import (HEAPTOP, LIBRARY, Skip, case, check, check_equal, environment, frames_of, kill_hard, run,
                     run_cases, scratch, target, wait_for)

PAGES = {"touched_block": 1000, "touched_map": 500, "touched_by_thread": 300}


def by_site(rep):
    if "faults_elsewhere" not in rep["totals"]:
        raise Skip(rep["notice"] or "there is no notice")
    return {name: sum(s["faults"] for s in rep["sites"] if name in frames_of(s)) for name in PAGES}


def near(found, said):
    """A frame has no mapped memory. An allocator's words may be on two pages more, which it touches itself. said: by the
    program, at its end, with what the kernel has counted: more than one for a page that it was moving, for instance."""
    words = said.split()
    check_equal((words[0], len(words)), (b"touched", 4), "its last line")
    for (name, pages), counted in zip(PAGES.items(), map(int, words[1:])):
        if name not in found and name == "touched_map":
            continue
        most = max(pages, counted) + 2
        check(pages <= found[name] <= most, "faults of %s: %d, not %d to %d" % (name, found[name], pages, most))


@case("faults of a program from its start are those of the pages that it touches")
def launched():
    out = os.path.join(scratch, "faults.json")
    done = run([HEAPTOP, "--faults", "--report", "--format", "json", "-o", out, "--", target("touched")],
               stdin=b"\n\n")
    check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode())
    with open(out, encoding="utf-8") as f:
        rep = json.load(f)
    near(by_site(rep), done.stdout.splitlines()[-1])
    check_equal(rep["totals"]["faults_lost"], 0, "lost")


def in_frame(viewer):
    """The faults of the next frame that a viewer writes, by site; or None. Mapped memory is in no frame."""
    found, line = {}, viewer.stdout.readline()
    while line and not line.startswith(b"heaptop "):
        row = re.search(rb" ([\d,]+) (touched_\w+) ", line)
        if row:
            found[row.group(2).decode()] = int(row.group(1).replace(b",", b""))
        if b"page faults by call site are not known" in line:
            raise Skip(line.decode().strip())
        line = viewer.stdout.readline()
    check(line, "the viewer has ended")
    return found


def answered(program, line=b"\n"):
    """What it says when it has gone on."""
    program.stdin.write(line)
    program.stdin.flush()
    return program.stdout.readline()


def counted_from_now(late, **variables):
    program = subprocess.Popen([target("touched"), *(["late"] if late else [])], env=environment(**variables),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    viewer = None
    try:
        check_equal(program.stdout.readline(), b"idle\n" if late else b"ready\n", "its first line")
        viewer = subprocess.Popen([HEAPTOP, "--faults", "-d", "0.1", "-b", "-a", str(program.pid)],
                                  env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if late:
            in_frame(viewer)
            check_equal(answered(program), b"ready\n", "its second line")
        wait_for(lambda: "touched_block" in in_frame(viewer), "frames with names")
        said = answered(program)
        near(wait_for(lambda: (found := in_frame(viewer)) and all(
            found.get(name, 0) >= PAGES[name] for name in ("touched_block", "touched_by_thread")) and found, "the faults"), said)
    finally:
        kill_hard(program)
        if viewer:
            kill_hard(viewer)


@case("faults of a program that runs already, with a thread, are counted from then on")
def joined():
    counted_from_now(False, LD_PRELOAD=LIBRARY)


@case("faults of a process that is attached to: in what it allocates from then on")
def attached():
    counted_from_now(True)


@case("without --faults there are none")
def without():
    out = os.path.join(scratch, "without.json")
    run([HEAPTOP, "--report", "--format", "json", "-o", out, "--", target("touched")], stdin=b"\n\n")
    with open(out, encoding="utf-8") as f:
        rep = json.load(f)
    check("faults_elsewhere" not in rep["totals"] and not any("faults" in s for s in rep["sites"]), "faults")


run_cases()
