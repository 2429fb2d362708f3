#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pointers in memory that a program shares, where it has no page itself: another process has written there, or the
kernel has taken the page back. They are found in its file, which gets no larger by that, nor does the program."""

import json
import os

from proving import HEAPTOP, case, check, check_equal, need, run, run_cases, scratch, segments, target
from scanning import Waiting, attached

POOL = 64 << 20
POOLED, LOST = 16, 1  # blocks
WAYS = ("never", "always")


def shared_kb(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as f:
        return sum(int(line.split()[1]) for line in f if line.startswith(("RssFile:", "RssShmem:", "VmPTE:")))


def found(program, way):
    before = shared_kb(program.pid)
    leaks = attached(program.pid, "--leak-copy", way)[1]
    check(leaks["failed"] is None, leaks["failed"])
    check(shared_kb(program.pid) < before + (POOL >> 16), "its pages: %d kB, then %d" % (before, shared_kb(program.pid)))
    return leaks["definite"]["blocks"], leaks["unread_bytes"]


@case("a file, memory with a name, open or closed, and memory without")
def pools():
    path = os.path.join(scratch, "pool")
    for command in (["file", path], ["memory"], ["closed"], ["anonymous"]):
        if os.getuid() != 0 and command[0] in ("closed", "anonymous"):
            continue  # below
        with Waiting(target("pool"), *command) as program:
            for way in WAYS:
                check_equal(found(program, way), (LOST, 0), "definite and unread of %s, %s" % (command[0], way))
            status, said = program.end()
            check_equal(status, 0, "status")
            check(int(said.split()[0]) < POOL / 8, "what was nowhere has come to be: " + said)


@case("a user's: what that user may not open is reported as unread")
def unread():
    prefix = []
    if os.getuid() == 0:
        prefix = [need("setpriv"), "--reuid", "65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
        os.chmod(segments, 0o1777)  # a user's segment is that user's
    for command, left in ((["file", os.path.join(segments, "pool")], 0), (["memory"], 0), (["anonymous"], POOL)):
        with Waiting(*prefix, target("pool"), *command) as program:
            for way in WAYS:
                done = run([*prefix, HEAPTOP, "--leak-check", "--format", "json", "--leak-copy", way,
                            "-a", str(program.pid)])
                check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode())
                leaks = json.loads(done.stdout)["leaks"]
                check_equal((leaks["definite"]["blocks"], leaks["unread_bytes"]),
                            (LOST if left == 0 else LOST + POOLED, left), "definite and unread of %s, %s" % (
                                command[0], way))
    os.unlink(os.path.join(segments, "pool"))


run_cases()
