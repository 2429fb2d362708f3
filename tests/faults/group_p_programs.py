#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group P of the fault matrix: real programs (real_programs.py), each run plain and watched. Output, exit status
and the files written must be the same, and so must be how each process of the run stands at its exit:
signals caught, ignored and blocked, threads, descriptors. They are read at exit_group, where
targets/at_exit.c holds the process: that comes once in each process, whatever the load of the machine. A third
run has another recorder below heaptop (targets/plugin/counted.c), and their counts must agree. make check
runs those that are fast, make soak all of them. WATCH: further options of heaptop's, as in WATCH='--record-events FILE
--lossless'."""

import collections
import contextlib
import hashlib
import json
import os
import re
import select
import shutil
import sys

from rows import SOAK, fault_target, row, run_rows
import proving
from proving import (B, HEAPTOP, RESULT, WATCH, Failure, check, check_recorded, listing, run, scratch, segment_files, segments,
                     wait_for, watch_options)
from driving import TIMEOUT_S, run_to_end
from real_programs import WORK, command, variables
from servers import PROGRAMS
from sides import first_difference

COUNTED = os.path.join(B, "tests", "faults", "targets", "plugin", "counted.so")
RESULTS = os.path.join(scratch, "results")
COUNTS = os.path.join(RESULTS, "counts")
REPORT = os.path.join(RESULTS, "report.json")
ENDS = os.path.join(RESULTS, "ends")
proving.RECORDED = os.path.join(RESULTS, "recorded")  # who runs the program can write there
UNDER_HEAPTOP = [HEAPTOP, *watch_options(), "--report", "--format", "json", "-o", REPORT, "--"]
LOOKED_UP = 32  # pairs that heaptop's library alone makes: look-ups at its start that find nothing

Ran = collections.namedtuple("Ran", "status stdout stderr said files ends")


# ---- how processes stood at their exit ----------------------------------------------------------

def plain_name(target, varies):
    """A descriptor's file without what differs between any two runs: numbers of pipes, sockets and
    terminals, names made up under /tmp."""
    target = re.sub(r"^/dev/pts/\d+.*", "/dev/pts", target.split(":[")[0])
    if not target.startswith(WORK):
        target = re.sub(r"^/(tmp|dev/shm)/.+", r"/\1/...", target)
    return without(target, varies)


def without(text, patterns):
    for pattern in patterns:
        text = re.sub(pattern if isinstance(text, str) else pattern.encode(), type(text)(), text)
    return text


def ends_read(varies, loose):
    """A line for each process that ended, heaptop's own aside; sorted, since those of a pipeline end in
    any order. Where threads come and go, so may processes of one kind. A descriptor without a name that stays the same
    is none."""
    ends, current = [], None
    with open(ENDS, encoding="utf-8", errors="replace") as f:
        for kind, *fields in (line.rstrip("\n").split("\t") for line in f):
            if kind == "process":
                exe, status, _, caught, ignored, blocked, threads = fields
                current = ["%s status %s caught %s ignored %s blocked %s" % (exe, status, caught, ignored, blocked)]
                if exe != os.path.realpath(HEAPTOP) and without(exe, varies) and without(current[0], varies):
                    ends.append(current)
                current += [] if loose else ["threads " + threads]
            elif not loose and plain_name(fields[2], varies):
                current.append("fd %s %s %s" % (fields[0], fields[1], plain_name(fields[2], varies)))
    lines = [" ".join([end[0], *sorted(end[1:])]) for end in ends]
    return sorted(set(lines) if loose else lines)


@contextlib.contextmanager
def held_at_exit():
    """What to put before a command so that its processes are inspected; returns when all have ended."""
    reader, writer = os.pipe()
    try:
        yield [fault_target("at_exit"), ENDS, str(writer)], writer
    finally:
        os.close(writer)
        ended = select.select([reader], [], [], TIMEOUT_S)[0]
        os.close(reader)
    check(ended, "processes are left running")


# ---- a run --------------------------------------------------------------------------------------

def files_written(varies):
    """Name: digest, of all that lies in the folder after a run."""
    found = {}
    for folder, _, names in os.walk(WORK):
        for path in (os.path.join(folder, name) for name in names):
            name = os.path.relpath(path, WORK)
            if os.path.isfile(path) and not any(re.search(pattern, name) for pattern in varies):
                with open(path, "rb") as f:
                    found[name] = hashlib.sha256(f.read()).hexdigest()
    return found


def results_fresh():
    """An empty folder for what a run tells, in which any user may write."""
    shutil.rmtree(RESULTS, ignore_errors=True)
    for folder in (RESULTS, COUNTS):
        os.mkdir(folder)
        os.chmod(folder, 0o1777)


def once(program, prefix):
    """One run in a fresh folder, its processes held at their exit."""
    results_fresh()
    with held_at_exit() as (hold, fd):
        status, *texts = run_to_end(program, [*hold, *prefix, *command(program)], env=variables(program),
                                    pass_fds=[fd])
    texts = [without(text, (RESULT.decode(), *program.varies)) for text in texts]
    return Ran(status, *texts, files_written(program.varies), ends_read(program.varies, program.loose))


def same(plain, watched):
    """Raises with the first thing that differs."""
    for what, one in plain._asdict().items():
        other = getattr(watched, what)
        if one == other:
            continue
        if what == "files":
            raise Failure("files differ: %s" % sorted(n for n in {*one, *other} if one.get(n) != other.get(n)))
        if what == "ends":
            gone, come = collections.Counter(one) - collections.Counter(other), \
                collections.Counter(other) - collections.Counter(one)
            raise Failure("at exit: plain %s; watched %s" % (sorted(gone)[:1], sorted(come)[:1]))
        raise Failure("%s: %s" % (what, first_difference(one, other) if what != "status" else (one, other)))


# ---- the other recorder -------------------------------------------------------------------------

def images(report):
    yield report
    for child in report["children"]:
        yield from images(child)


def counts_read():
    """pid: (allocs, frees) of each of its images, in order. A forked child is one."""
    counts = collections.defaultdict(list)
    for name in sorted(os.listdir(COUNTS), key=lambda n: [int(part) for part in n.split(".")]):
        with open(os.path.join(COUNTS, name), "rb") as f:
            data = f.read(16)
        counts[int(name.split(".")[0])].append((int.from_bytes(data[:8], "little"),
                                                int.from_bytes(data[8:], "little")))
    return counts


def counts_reported():
    """The same, as heaptop reports them."""
    counts = collections.defaultdict(list)
    with open(REPORT, encoding="utf-8") as f:
        for image in images(json.load(f)):
            totals = image["totals"]
            if image["process"]["state"] == "running":
                continue  # a daemon's, when what started it was reported
            check(totals["untracked_blocks"] == 0, "untracked blocks: %s" % totals)
            counts[image["process"]["pid"]].append((totals["allocs"], totals["frees"] + totals["unknown_frees"]))
    return counts


def agree(reported, counted):
    """Each image that is reported has one that was counted. What forked and called exec is not reported for
    the time in between, nor what a daemon is doing when what started it has ended."""
    left = sorted(counted)
    for allocs, frees in sorted(reported):
        found = [c for c in left if c[0] - allocs == c[1] - frees and 0 <= c[0] - allocs <= LOOKED_UP]
        if not found:
            return False
        left.remove(found[0])
    return True


def counts_same(program):
    """Blocks handed out and taken back, in each image that heaptop reports: so those that live are the same in
    number. The other recorder also sees what heaptop's library itself takes for a moment."""
    results_fresh()
    preload = ":".join(filter(None, (COUNTED, program.env.get("LD_PRELOAD"))))
    run_to_end(program, [*UNDER_HEAPTOP, *command(program)],
               env=variables(program, LD_PRELOAD=preload, COUNTED_DIR=COUNTS))
    counted, reported = counts_read(), counts_reported()
    for pid, images_of in reported.items():
        check(agree(images_of, counted[pid]),
              "allocs and frees: reported %s, counted %s" % (sorted(images_of)[:4], sorted(counted[pid])[:4]))
    check(reported or program.argv[0] == "env", "nothing was recorded")


def segments_gone(program):
    """All removed theirs, or heaptop did; daemons may end later than what was run."""
    def gone():
        if program.leaves:
            run([HEAPTOP, "--clean"])
        return not os.listdir(segments)
    try:
        wait_for(gone, "")
    except Failure as why:
        left = listing()
        for path in segment_files():
            os.unlink(path)
        raise Failure("segments are left: " + left) from why


def row_of(number, name, program):
    @row("P%d" % number, name)
    def compare():
        plain = once(program, [])
        check(plain.ends, "no process was seen at its exit")
        same(plain, once(program, UNDER_HEAPTOP))
        check_recorded()
        if not program.uncounted and "--allocators" not in WATCH:  # its blocks are not malloc's
            counts_same(program)
        segments_gone(program)


for index, (title, listed) in enumerate(PROGRAMS.items(), 1):
    if SOAK or listed.fast or sys.argv[1:]:
        row_of(index, title, listed)

if __name__ == "__main__":
    run_rows()
