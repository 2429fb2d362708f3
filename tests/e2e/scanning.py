# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of leak scans share: programs that wait to be scanned, scans of them, and what they may leave."""

import glob
import json
import os
import re
import subprocess
import time

from proving import HEAPTOP, LIBRARY, Failure, environment, run, scratch, segments


def account(text):
    """What the program says it made: function -> (blocks, bytes)."""
    rows = [line.split() for line in text.splitlines()]
    return {r[0]: (int(r[1]), int(r[2])) for r in rows if len(r) == 3}


def attached(pid, *options, under=()):
    """A scan of a running process. under: what runs heaptop."""
    out = os.path.join(scratch, "attached.json")
    done = run([*under, HEAPTOP, "--leak-check", "--format", "json", "-o", out, *options, "-a", str(pid)])
    if done.returncode not in (0, 1):
        raise Failure("status %d: %s" % (done.returncode, done.stderr.decode()))
    with open(out, encoding="utf-8") as f:
        return done, json.load(f)["leaks"]


class Fed:
    """A program that goes on until its input ends."""

    def __init__(self, command, stderr=None, **variables):
        self.process = subprocess.Popen(command, env=environment(**variables), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=stderr, text=True)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def end(self):
        """Its status, and what it has said since."""
        self.process.stdin.close()
        rest = self.process.stdout.read()
        return self.process.wait(60), rest

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Waiting(Fed):
    """With the library, and it says "ready" when it may be scanned."""

    def __init__(self, *command, **variables):
        super().__init__(command, LD_PRELOAD=LIBRARY, **variables)
        self.said = []

    def __enter__(self):
        for line in self.process.stdout:
            if line.strip() == "ready":
                return self
            self.said.append(line)
        raise Failure("it has ended, and said %s" % self.said)


def relatives(process):
    """Other processes of the same program that this test has started: copies, or what made them. They end with their
    viewer, soon."""
    exe = os.readlink("/proc/%d/exe" % process.pid)
    ours = os.fsencode("HEAPTOP_DIR=" + segments)  # other tests run the same programs
    until = time.monotonic() + 20
    while True:
        found_now = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if int(pid) == process.pid or os.readlink("/proc/%s/exe" % pid) != exe:
                    continue
                with open("/proc/%s/environ" % pid, "rb") as f:
                    if ours in f.read().split(b"\0"):
                        found_now.append(pid)
            except OSError:
                pass
        if not found_now or time.monotonic() > until:
            return found_now
        time.sleep(0.01)


def children(pid):
    """The children of all its threads."""
    found_now = []
    for path in glob.glob("/proc/%d/task/*/children" % pid):
        try:
            with open(path, encoding="ascii") as f:
                found_now += [int(child) for child in f.read().split()]
        except OSError:
            pass
    return found_now


def zombies(pid):
    """Its children that have ended, and of which it has not taken note."""
    found_now = []
    for child in children(pid):
        try:
            with open("/proc/%d/stat" % child, encoding="utf-8", errors="replace") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    found_now.append(child)
        except OSError:
            pass
    return found_now


def blocked(pid):
    """The blocked signals of all threads; one that is just being made has all of them, for a moment."""
    until = time.monotonic() + 20
    while True:
        masks = []
        for path in sorted(glob.glob("/proc/%d/task/*/status" % pid)):
            with open(path, encoding="ascii") as f:
                masks += re.findall(r"SigBlk:\t(\w+)", f.read())
        if not any(m.startswith("ffff") for m in masks) or time.monotonic() > until:
            return masks
        time.sleep(0.01)


def rss(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))
