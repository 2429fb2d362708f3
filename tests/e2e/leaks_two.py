#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two viewers that scan one program: the second waits for the first, says so, and has the same result. A
stand-in for the first, which holds the program as long as a test needs it, is called heaptop and traces."""

import glob
import json
import os
import re
import signal
import subprocess
import sys

from proving import B, HEAPTOP, Failure, check, check_equal, environment, run, run_cases, case, scratch, segments, \
    target, wait_for
from scanning import Waiting, account

REFUSED = [os.path.join(B, "tests", "faults", "targets", "untraceable"), "refuse"]
ASK = os.path.join(B, "tests", "faults", "tools", "ask")
WAITS = ":until waiting for another heaptop's scan\n:save-display %s\n"
HOLDER = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.prctl(15, sys.argv[2].encode(), 0, 0, 0)
for tid in os.listdir("/proc/%s/task" % sys.argv[1])[-int(sys.argv[3]):]:
    if libc.ptrace(0x4206, int(tid), None, None) != 0:
        sys.exit("PTRACE_SEIZE: " + os.strerror(ctypes.get_errno()))
print("holds", flush=True)
sys.stdin.read()
"""


class Held:
    """A process that somebody traces until told otherwise; what is seized runs on when that ends."""

    def __init__(self, pid, name="heaptop", threads=0):
        self.holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(pid), name, str(threads)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.holder.pid

    def __enter__(self):
        check_equal(self.holder.stdout.readline(), "holds\n", "the holder's word")
        return self

    def end(self):
        self.holder.stdin.close()
        self.holder.wait()

    def __exit__(self, *_):
        self.end()
        self.holder.stdout.close()


def playing(text, pid, prefix=()):
    path = os.path.join(scratch, "two.keys")
    with open(path, "w", encoding="utf-8") as f:
        f.write(":size 160x60\n" + text)
    return subprocess.Popen([*prefix, HEAPTOP, "-d", "0.1", "--script", path, "-a", str(pid)], env=environment(),
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def seen(viewer, path):
    """Once the viewer has saved its screen there."""
    wait_for(lambda: os.path.exists(path) or viewer.poll() is not None, "it waits for the other")
    if viewer.poll() is not None:
        raise Failure("the viewer has ended: " + " ".join(viewer.communicate()))
    os.unlink(path)


def totals(text):
    """What the program says it made: class -> blocks."""
    found = {}
    for name, (blocks, _) in account(text).items():
        found[name.split("_")[0]] = found.get(name.split("_")[0], 0) + blocks
    return found


@case("a scan waits while another heaptop has the program, and then is made: all threads held, or the last")
def waits():
    mark = os.path.join(scratch, "waits.txt")
    for threads in (0, 1):
        with Waiting(target("leaks"), "wait") as program, Held(program.pid, threads=threads) as held:
            viewer = playing("L\n" + WAITS % mark + ":until definite_plain\n:save-display -\n", program.pid)
            seen(viewer, mark)
            held.end()
            out, err = viewer.communicate(100)
            check_equal((viewer.returncode, err), (0, ""), "the end")
            check("definite_plain" in out and "cannot be scanned" not in out, out)
            check_equal(program.end()[0], 0, "the program's end")


@case("Esc ends the waiting")
def ends():
    mark, again = (os.path.join(scratch, name) for name in ("esc.txt", "again.txt"))
    with Waiting(target("leaks"), "wait") as program, Held(program.pid) as held:
        viewer = playing("L\n" + WAITS % mark + "Esc\n:until L scans for leaks\nL\n" + WAITS % again +
                         ":until definite_plain\n:save-display -\n", program.pid)
        seen(viewer, mark)
        seen(viewer, again)
        held.end()
        out, err = viewer.communicate(100)
        check_equal((viewer.returncode, err), (0, ""), "the end")
        check("definite_plain" in out, out)


@case("one that has it for long is named in one line, and as a heaptop; others by what they are, at once")
def named():
    with Waiting(target("leaks"), "wait") as program:
        for name, wants in (("heaptop", "another heaptop (%d) is scanning it"),
                            ("gdb", "it is traced by %d (a debugger or strace; end that first)")):
            with Held(program.pid, name) as held:
                done = run([HEAPTOP, "--leak-check", "-a", str(program.pid)])
                check_equal(done.returncode, 125, "status")
                lines = done.stderr.decode().splitlines()
                check_equal(len(lines), 1, "lines of the message")
                check(wants % held.pid in lines[0], lines[0])
        check_equal(program.end()[0], 0, "the program's end")


def catches(pid, number):
    with open("/proc/%d/status" % pid, encoding="ascii") as f:
        return int(re.search(r"SigCgt:\t(\w+)", f.read()).group(1), 16) >> (number - 1) & 1


@case("a report that is to end does not wait for another")
def terminated():
    with Waiting(target("leaks"), "wait") as program, Held(program.pid):
        with subprocess.Popen([HEAPTOP, "--leak-check", "-a", str(program.pid)], env=environment(),
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as viewer:
            wait_for(lambda: catches(viewer.pid, signal.SIGTERM), "it takes signals")
            viewer.terminate()
            err = viewer.communicate(60)[1]
        check_equal(viewer.returncode, 125, "status")
        check("no leak scan: it was cancelled" in err, err)


@case("a scan by the program's library waits while another heaptop has that")
def helped():
    mark = os.path.join(scratch, "helped.txt")
    with Waiting(target("leak_server"), "calm") as program:
        with subprocess.Popen([ASK, glob.glob(os.path.join(segments, "heaptop-%d-*" % program.pid))[0], "wait"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as asker:
            check(asker.stdout.read(2) == "0 ", "it has no copy")
            viewer = playing("L\n" + WAITS % mark + ":until scan 1\n:save-display -\n", program.pid,
                             REFUSED)
            seen(viewer, mark)
            asker.stdin.close()
        out, err = viewer.communicate(100)
        check_equal((viewer.returncode, err), (0, ""), "the end")
        check("cannot be scanned" not in out, out)
        check_equal(program.end(), (0, "0 cut short, 0 lost\n"), "the program's end")


@case("viewers that scan at once all have the same, exact result")
def at_once():
    out = os.path.join(scratch, "once%d.json")
    with Waiting(target("leaks"), "wait") as program:
        want = totals("".join(program.said))
        for _ in range(3):
            viewers = [subprocess.Popen([HEAPTOP, "--leak-check", "--format", "json", "-o", out % i, "-a",
                                         str(program.pid)], env=environment(), stderr=subprocess.PIPE, text=True)
                       for i in range(4)]
            for i, viewer in enumerate(viewers):
                _, err = viewer.communicate(100)
                check_equal((viewer.returncode, err), (0, ""), "the end of %d" % i)
                with open(out % i, encoding="utf-8") as f:
                    leaks = json.load(f)["leaks"]
                check_equal((leaks["failed"], leaks["threads_running"], leaks["unread_bytes"]), (None, 0, 0), "%d" % i)
                for kind in ("definite", "indirect", "possible"):
                    check_equal(leaks[kind]["blocks"], want[kind], "%s of %d" % (kind, i))
        check_equal(program.end()[0], 0, "the program's end")


run_cases()
