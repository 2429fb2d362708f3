#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leak scans at the end of a program that an agent has started: for a report and for the screen of a desk, as beside
the program; and no program waits for a desk that makes none."""

import json
import os
import socket
import subprocess

from far_program import MAGIC, heaptop
from proving import HEAPTOP, case, check, check_equal, environment, kill_hard, run_cases, scratch, target, wait_for

CLASSES = ("definite", "indirect", "possible", "reachable")


class Served:
    """A program under an agent, which ends once its input does."""

    def __init__(self, where, *command):
        self.path = os.path.join(scratch, "%s.sock" % where.replace(":", "-"))
        self.process = subprocess.Popen([HEAPTOP, "--no-config", "--serve", where + self.path, "--", *command],
                                        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        env=environment(), text=True)
        check("serving on" in self.process.stderr.readline(), "the agent")

    def __enter__(self):
        return self

    def end(self):
        self.process.stdin.close()

    def __exit__(self, *_):
        kill_hard(self.process)
        self.process.stdin.close()
        self.process.stderr.close()


def has_copy(pid):
    folder = "/proc/%d/fd/" % pid
    try:
        # Unlinked once the first answer is there, so that the agent knows its desk.
        return any("heaptop.far-" in path and path.endswith(" (deleted)")
                   for path in (os.readlink(folder + name) for name in os.listdir(folder)))
    except FileNotFoundError:  # one that was closed meanwhile
        return False


def summed(found):
    check_equal(found["failed"], None, "failure")
    return {name: found[name] for name in CLASSES}, sorted(s["bytes"] for s in found["sites"])


@case("a report scans at the end, as beside the program, and fails on the same leaks")
def report():
    options = ("--report", "--leak-check", "--format", "json", "--fail-on", "definite")
    out = os.path.join(scratch, "near.json")
    near = heaptop(*options, "-o", out, "--", target("leaks"), "wait")
    check_equal(near.returncode, 1, "status beside the program (%s)" % near.stderr)
    with open(out, encoding="utf-8") as f:
        near = json.load(f)["leaks"]
    with Served("steer:unix:", target("leaks"), "wait") as s:
        desk = subprocess.Popen([HEAPTOP, "--no-config", "unix:" + s.path, *options, "-d", "0.1"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=environment(), text=True)
        try:
            # It says nothing until its report, but has a copy of the segment.
            wait_for(lambda: has_copy(desk.pid), "the desk's copy of the segment")
            s.end()
            text, err = desk.communicate(timeout=100)
            check_equal(desk.returncode, 1, "status (%s)" % err)
        finally:
            kill_hard(desk)
        far = json.loads(text)["leaks"]
        check_equal(far["how"], near["how"], "how")
        check_equal(summed(far), summed(near), "what was found")


@case("the screen scans at the end, unless --no-exit-scan forbids that")
def screen():
    keys = os.path.join(scratch, "keys")
    for options, words in (((), "exit scan"), (("--no-exit-scan",), "ended without a leak scan")):
        with Served("steer:unix:", target("leaks"), "wait") as s:
            with open(keys, "w", encoding="ascii") as f:
                f.write(":size 160x50\n:until LIVE\n:save-display %s/live\n:until exited\nTab\nTab\nTab\nTab\nTab\n"
                        ":until %s\n:save-display -\n" % (scratch, words))
            live = os.path.join(scratch, "live")
            if os.path.exists(live):
                os.unlink(live)
            desk = subprocess.Popen([HEAPTOP, "--no-config", "unix:" + s.path, "-d", "0.1", "--script", keys, *options],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True)
            try:
                wait_for(lambda: os.path.exists(live), "the screen")
                s.end()
                shown, err = desk.communicate(timeout=100)
            finally:
                kill_hard(desk)
            check_equal((desk.returncode, err), (0, ""), "the end")
            check(words in shown, shown)
            check_equal(s.process.wait(60), 0, "status of the program")


@case("a program that no desk scans ends by itself: the agent may only read, nobody is there, or the desk leaves")
def unscanned():
    for where in ("unix:", "steer:unix:"):
        with Served(where, target("leaks"), "wait") as s:
            s.end()
            check_equal(s.process.wait(60), 0, "status of the program")
    with Served("steer:unix:", target("leaks"), "wait") as s, socket.socket(socket.AF_UNIX) as desk:
        desk.connect(s.path)
        desk.sendall(MAGIC + b"C\3\0\0\0\4\0\1" + b"N\1\0\0\0\0")
        check_equal(desk.recv(len(MAGIC), socket.MSG_WAITALL), MAGIC, "the agent")
        s.end()
        desk.shutdown(socket.SHUT_RDWR)
        check_equal(s.process.wait(60), 0, "status of the program")


@case("a program that an agent has started and that calls exec is followed, and scanned as its last image")
def images():
    script = "read none; exec %s wait" % target("leaks")
    options = ("--report", "--leak-check", "--format", "json", "-d", "0.1")
    with Served("steer:unix:", "/bin/sh", "-c", script) as s:
        viewer = subprocess.Popen([HEAPTOP, "--no-config", "unix:" + s.path, "-b", "-d", "0.1"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=environment(), text=True)
        try:
            check(any("/bin/sh" in line for line in viewer.stdout), "the first image")  # soon after it has begun
            s.process.stdin.write("\n")
            s.process.stdin.flush()
            check(any("leaks wait" in line for line in viewer.stdout), "the next image")
        finally:
            kill_hard(viewer)
        desk = subprocess.Popen([HEAPTOP, "--no-config", "unix:" + s.path, *options], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=environment(), text=True)
        try:
            wait_for(lambda: has_copy(desk.pid), "the desk's copy of the segment")
            s.end()
            text, err = desk.communicate(timeout=100)
        finally:
            kill_hard(desk)
        report = json.loads(text)
        check_equal(report["process"]["command"][-1], "wait", "command (%s)" % err)
        check(report["leaks"]["failed"] is None and report["leaks"]["definite"]["blocks"] > 0, str(report["leaks"])[:300])


@case("--serve and the options of scans that it does not make itself")
def options():
    for words in (("--leak-check",), ("--hold",)):
        done = heaptop("--serve", "steer:unix:x", *words, "--", "true")
        check_equal(done.returncode, 2, "status of %s (%s)" % (words, done.stderr))
        check("viewers request leak scans" in done.stderr, done.stderr)
    check_equal(heaptop("unix:x", "--hold").returncode, 2, "status of --hold")


run_cases()
