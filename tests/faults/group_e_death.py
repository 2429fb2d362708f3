#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group E of the fault matrix, death: programs and viewers that are killed at any instant, what they
leave, and who may take it for what."""

import contextlib
import os
import random
import signal
import struct
import subprocess
import time

from rows import fault_target, row, run_rows, times
from proving import (B, HEAPTOP, LIBRARY, check, check_equal, environment, kill_hard, listing, report_of_segment,
                     run, scratch, segment_files, segments, target, wait_for)
from tight import looked, tool

ACCOUNT = os.path.join(scratch, "account")
THREADS = 4
EMPTY, FULL, CHANGING = range(3)


def clear_segments():
    for path in segment_files():
        os.unlink(path)


@contextlib.contextmanager
def churning(prefix=(), **variables):
    """The program that never ends, preloaded alone unless there is a prefix."""
    env = environment(ACCOUNT=ACCOUNT, **(variables or ({} if prefix else {"LD_PRELOAD": LIBRARY})))
    with subprocess.Popen([*prefix, fault_target("churn"), str(THREADS)], env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        check_equal(process.stdout.readline(), b"ready\n", "what it says first")
        try:
            yield process
        finally:
            process.kill()


def account():
    """What the program knew when it was killed: size by address, and how many slots were changing."""
    with open(ACCOUNT, "rb") as f:
        slots = list(struct.iter_unpack("<QQQ", f.read()))
    full = {address: size for address, size, state in slots if state == FULL}
    return full, sum(state == CHANGING for _, _, state in slots)


def table(segment):
    """The live table's blocks of the program's own sizes."""
    done = run([tool("look"), "blocks", segment])
    check_equal(done.returncode, 0, "status of look (%s)" % done.stderr.decode())
    blocks = (line.split() for line in done.stdout.decode().splitlines())
    return {int(b[0], 16): int(b[1]) for b in blocks if int(b[1]) % 16 == 7}


def check_table(segment):
    """Right to the block but where the program was in the middle of something: one in each thread."""
    full, changing = account()
    found = table(segment)
    check(changing <= THREADS, "%d threads" % changing)
    wrong = [a for a, size in full.items() if found.get(a) != size]
    check(not wrong, "%d blocks are missing or of another size, of %d" % (len(wrong), len(full)))
    check(len(found.keys() - full.keys()) <= changing, "%d blocks too many, and %d threads were at work" % (
        len(found.keys() - full.keys()), changing))
    t = looked(segment)
    check(abs(t["allocs"] - t["frees"] - t["blocks"]) <= THREADS, "allocs - frees and the table: %s" % t)
    check_equal((t["untracked_blocks"], t["missed_frees"]), (0, 0), "lost")


@row("E7", "kill -9 at any instant: a segment that cannot be read, or is wrong")
def killed_anywhere():
    dice = random.Random(7)
    for _ in range(times(40, 1000)):
        clear_segments()
        with churning() as process:
            time.sleep(dice.random() * 0.02)
            process.kill()
            process.wait()
        files = segment_files()
        check_equal(len(files), 1, "segments")
        check_table(files[0])
    rep = report_of_segment(files[0])
    check_equal(rep["process"]["state"], "gone", "state")
    check("one in each thread" in (rep["notice"] or ""), "the report does not say so: %s" % rep["notice"])
    check("running" not in listing(), "-l calls it running: " + listing())
    check_equal(run([HEAPTOP, "--clean"]).returncode, 0, "status of --clean")
    check_equal(segment_files(), [], "segments after --clean")


@row("E7a", "killed while its segment is being made: rests that nothing clears away")
def killed_at_start():
    clear_segments()
    dice = random.Random(8)
    for _ in range(times(40, 1000)):
        process = subprocess.Popen([target("crash"), "wait"], env=environment(LD_PRELOAD=LIBRARY),
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        time.sleep(dice.random() * 0.003)
        kill_hard(process)
        process.stdin.close()
    check_equal(run([HEAPTOP, "-l"]).returncode, 0, "status of -l")
    for kind in ("0123456789abcdef", "1-2-3"):  # a viewer's and a library's
        with open(os.path.join(segments, "heaptop-" + kind), "wb"):
            pass
    run([HEAPTOP, "--clean"])
    rests = segment_files()
    check(len(rests) >= 2, "a segment that may be in the making was removed")
    for path in rests:
        os.utime(path, (time.time() - 60, time.time() - 60))
    with open(os.path.join(segments, "heaptop-other"), "wb") as f:
        f.write(b"not a segment")
    check_equal(run([HEAPTOP, "--clean"]).returncode, 0, "status of --clean")
    check_equal([os.path.basename(f) for f in segment_files()], ["heaptop-other"], "left after --clean")
    clear_segments()


run_rows()
