#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory of a program elsewhere: the map and the account of its resident memory, which its agent reads, and the
contents of blocks, if that may act on the program."""

import json
import os
import subprocess

from far_program import VIA, heaptop, leaks, played
from proving import HEAPTOP, case, check, check_equal, environment, run_cases, scratch, target
from scanning import Waiting

# How long it took, and when the next reading is due.
TIMES = ("time", "read_ns", "took_ns", "again_ns", "cpu_ns")


def rows_of(shown):
    """The areas of the map, which end at the first rule, without what is measured again at each reading."""
    lines = shown.split("\n")
    first = next(i for i, line in enumerate(lines) if "MAPPING" in line)
    return [line[:33].rstrip() for line in lines[first + 1:] if line[:1] in " >"][:4]


@case("the map there is the map here, and so is a report's account of resident memory")
def equal():
    with leaks() as p:
        def account(*where):
            done = heaptop(*where, "--report", "-n", "2", "--format", "json", "-d", "0.5")
            check_equal(done.returncode, 0, "exit status (%s)" % done.stderr)
            memory = json.loads(done.stdout)["memory"]
            return {k: v for k, v in memory.items() if k not in TIMES}
        near, far = account("-a", str(p.pid)), account(*VIA, "-a", str(p.pid))
        check(near["failed"] is None and near["live_bytes"] > 0, str(near))
        for name in sorted(set(near) | set(far)):
            check_equal(far.get(name), near.get(name), name)
        keys = "F8\n:until map_pool\n"
        near, far = played(keys, "-a", str(p.pid)), played(keys, *VIA, "-a", str(p.pid))
        check("brk heap" in far and "files" in far, far)
        check_equal(rows_of(far), rows_of(near), "rows of the map")


@case("rows that are sorted by their size have their own figures there, too")
def arenas():
    with Waiting(target("arenas")) as p:
        keys = "F8\n:until MAPPING\n"
        near, far = rows_of(played(keys, "-a", str(p.pid))), rows_of(played(keys, *VIA, "-a", str(p.pid)))
        check_equal(far, near, "rows of the map")
        check(far[0].split()[2].endswith("M") and far[1].split()[2].endswith("k"), str(far))


@case("the map of an agent that is gone stays, with its age")
def gone():
    now = os.path.join(scratch, "now")
    link = os.path.join(os.path.dirname(os.path.abspath(__file__)), "link.py")
    via = ["--via", "python3 %s --cut-file %s env" % (link, now), "--agent", HEAPTOP]
    with leaks() as p:
        shown = played("F8\n:until brk heap\n:save-display %s\n:until connection lost at\n:wait 5\n" % now, *via, "-a",
                       str(p.pid), "--no-fetch")
        check("brk heap" in shown and "connection lost" in shown, shown)


@case("the contents of blocks, which come after the screen, are those that a viewer beside the program shows")
def contents():
    keys = "L\n:until definite_plain\nEnter\nH\n:until %s\n"

    def block(shown):
        return [line.strip() for line in shown.split("\n") if line.startswith("       ") and "00 00" in line]
    with leaks() as p:
        near = played(keys % "00 00", "-a", str(p.pid))
        far = played(keys % "00 00", *VIA, "--steer", "-a", str(p.pid))
        check(len(block(near)) > 0, near)
        check_equal(block(far), block(near), "contents of the blocks")


@case("keys that act on the program say that this is done there, and the copy stays what came")
def acts_there():
    with leaks() as p:
        shown = played("r\n5\n1\n2\nK\nEnter\n:until sampling is chosen there\nD\nD\n:until recording is ended there\n"
                       "m\nEnter\n:wait 5\n",
                       *VIA, "-a", str(p.pid))
        check("LIVE" in shown and "SAMPLED" not in shown, shown)


@case("an agent that may only read shows the map, and no scan whose blocks could be opened")
def reads_only():
    path = os.path.join(scratch, "read.sock")
    with leaks() as p, subprocess.Popen([HEAPTOP, "--no-config", "--serve", "unix:" + path, "-a", str(p.pid)],
                                        stderr=subprocess.PIPE, env=environment(), text=True) as agent:
        try:
            agent.stderr.readline()
            shown = played("F8\n:until brk heap\nL\n:until may only read\n", "unix:" + path)
            check("--serve=steer" in shown, shown)
        finally:
            agent.terminate()


run_cases()
