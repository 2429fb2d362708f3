#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events of a call site of a program elsewhere: each allocation as it happens, and that it was freed."""

import glob
import os
import re
import subprocess

from far_program import VIA, Program
from proving import HEAPTOP, case, check, check_equal, environment, run_cases, scratch, segments, wait_for

LINK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "link.py")
KEYS = (":size 100x30\n:until 4.9k\nj\nEnter\nE\n:until waiting for the next allocation\n"
        ":save-display %s\n:until of the last\n:save-display %s\n")


def asked(p, what, times):
    for _ in range(times):
        p.ask(what)
        check_equal(p.process.stdout.readline(), b"done\n", "the program")


def asked_until(p, what, seen):
    """What a thread does before it sees that somebody wants its events, or before the agent asks for them, is not shown."""
    def again():
        asked(p, what, 1)
        return seen()
    wait_for(again, "an event")


class Viewer:
    """The events of the second site, where `m` allocates; `keys` follow the first one that it shows."""

    def __init__(self, p, name, keys, *where):
        self.waits, self.shows, path = (os.path.join(scratch, name + end) for end in ("-waits", "-shows", "-keys"))
        with open(path, "w", encoding="ascii") as f:
            f.write(KEYS % (self.waits, self.shows) + keys)
        self.process = subprocess.Popen([HEAPTOP, "--no-config", "-d", "0.2", "--script", path, *where, "-a", p.pid], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        wait_for(lambda: os.path.exists(self.waits), "the events")

    def begin(self, p):
        asked_until(p, b"m", lambda: os.path.exists(self.shows))

    def shown(self):
        out, err = self.process.communicate(timeout=100)
        check_equal((self.process.returncode, err), (0, ""), "the end")
        return out


@case("events there are those here: allocations with thread, size and address, as they happen")
def equal():
    with Program() as p:
        asked(p, b"m", 1)
        viewers = [Viewer(p, name, ":until 6,001\n:save-display -\n", *where) for name, where in (("near", ()), ("far", VIA))]
        for v in viewers:
            v.begin(p)
        asked(p, b"m", 9)
        asked(p, b"n", 1)
        near, far = [re.findall(r"\n +([0-9:.]+ +.*[56],00[01] +0x[0-9a-f]+ +live)", v.shown())[-10:] for v in viewers]
        check_equal(len(near), 10, "lines")
        check_equal(far, near, "lines")


@case("a site that is left and followed again begins anew")
def again():
    second = os.path.join(scratch, "second")
    with Program() as p:
        asked(p, b"m", 1)
        v = Viewer(p, "again", ":until 6,001\nEsc\n:until SOURCE\nE\n:until waiting for the next\n:until of the last\n"
                      ":save-display %s\n:save-display -\n" % second, *VIA)
        v.begin(p)
        asked(p, b"n", 1)
        asked_until(p, b"n", lambda: os.path.exists(second))
        shown = v.shown()
        check("6,001" in shown and "5,000" not in shown, shown)


@case("a connection that ends leaves the lines that came, and says that there are no more")
def lost():
    cut = os.path.join(scratch, "cut")
    via = ["--via", "python3 %s --cut-file %s env" % (LINK, cut), "--agent", HEAPTOP]
    with Program() as p:
        asked(p, b"m", 1)
        v = Viewer(p, "lost", ":until 6,001\n:save-display %s\n:until no more can be read\n:save-display -\n" % cut, *via,
                   "--no-fetch")
        v.begin(p)
        asked(p, b"n", 1)
        shown = v.shown()
        check(len(re.findall(r"6,001 +0x[0-9a-f]+ +live", shown)) == 1, shown)
        check("no events: the connection ended" in shown, shown)
        check(p.process.poll() is None, "the program goes on")


@case("why events cannot be followed is said as here")
def refused():
    opened, path = os.path.join(scratch, "opened"), os.path.join(scratch, "refused-keys")

    def shown(*where):
        """The screen once the segment is no longer accepted, as whoever has it open does not notice."""
        with open(path, "w", encoding="ascii") as f:
            f.write(":size 160x30\n:until 4.9k\n:save-display %s\n:until 112.\nj\nEnter\n:until SOURCE\nE\n"
                    ":until other users may write it\n:save-display -\n" % opened)
        with Program() as p:
            asked(p, b"m", 1)
            viewer = subprocess.Popen([HEAPTOP, "--no-config", "-d", "0.2", "--script", path, *where, "-a", p.pid], text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
            wait_for(lambda: os.path.exists(opened), "the first frame")
            os.chmod(glob.glob(os.path.join(segments, "heaptop-%s-*" % p.pid))[0], 0o666)
            asked(p, b"m", 1)
            out, err = viewer.communicate(timeout=100)
            os.unlink(opened)
        check_equal((viewer.returncode, err), (0, ""), "the end")
        return re.sub(r"-[0-9]+", "-N", re.search(r"[^ ]+/heaptop-.*chmod 600.|$", out).group())
    near = shown()
    check(near != "", "the reason")
    check_equal(shown(*VIA), near, "the reason")


run_cases()
