#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of each live block of a program elsewhere: ages, and who allocated what, as the agent sums them up."""

import json
import os
import re
import subprocess

from far_program import VIA, Program, frame, leaks, played
from proving import HEAPTOP, case, check, check_equal, environment, frames_of, kill_hard, run_cases, scratch, target, wait_for
from scanning import Waiting


def births(report):
    """When the first and the last live block of each site was born."""
    up = report["time"]["uptime_ns"]
    return {s["id"]: (up - s["oldest_ns"], up - s["youngest_ns"]) for s in report["sites"] if "oldest_ns" in s}


@case("the ages of live blocks there are those here, to the tick")
def ages():
    with Waiting(target("ages")) as p:
        near, far = frame("-a", str(p.pid), "-s", "age"), frame(*VIA, "-a", str(p.pid), "-s", "age")
        check(any("elder" in frames_of(s) for s in far["sites"] if "oldest_ns" in s), "ages")
        check_equal(births(far), births(near), "births")


@case("the screen shows how many blocks of each age live, and which thread allocated what")
def shown():
    def alive(*where):
        """How many of a span's blocks live, at the first call site; how old they are depends on when one looks."""
        return re.findall(r"([0-9]+)% of  +([0-9.k]+)", played("Enter\n:until s old\n", *where))

    def threads(*where):
        text = played("Tab\nTab\nTab\n:until LIVE: its blocks\n", *where)
        lines = [line for line in text.split("\n") if re.search(r" +(leaks|\(ended\))$", line)]
        return [(line[1:16].split(), line.split()[-1]) for line in lines]

    def groups(*where):
        text = played("g\nt\n:until of 3 threads\n", *where)
        return [line[1:16].split() for line in text.split("\n") if line.endswith(("leaks", "(ended)"))]
    with leaks() as p:
        here = ("-a", str(p.pid))
        for read in (alive, threads, groups):
            near, far = read(*here), read(*VIA, *here)
            check(len(near) > 0, read.__name__)
            check_equal(far, near, read.__name__)


@case("a program that is killed: the last walk is of its end")
def killed():
    now = os.path.join(scratch, "now")
    with Program() as p:
        path = os.path.join(scratch, "keys")
        with open(path, "w", encoding="ascii") as f:
            f.write(":size 100x40\n:until LIVE\nTab\nTab\nTab\n:until > 102.5k\n:save-display %s\n"
                    ":until > 107.4k\n:save-display -\n" % now)
        with subprocess.Popen([HEAPTOP, "--no-config", "-d", "0.2", "--script", path, *VIA, "-a", p.pid],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True) as viewer:
            wait_for(lambda: os.path.exists(now), "the first walk")
            p.ask(b"m")
            check_equal(p.process.stdout.readline(), b"done\n", "one block more")
            kill_hard(p.process)
            out, err = viewer.communicate(timeout=100)
        check_equal((viewer.returncode, err), (0, ""), "the end")
        check_equal(next(line for line in out.split("\n") if line.startswith(">")).split()[1], "107.4k", "LIVE")


@case("a report says which thread allocated what lives in an image before exec, as here")
def before_exec():
    def images(pid):
        """Segments, or copies of some, that the viewer has open."""
        folder = "/proc/%d/fd/" % pid
        try:
            names = {os.readlink(folder + name).removesuffix(" (deleted)") for name in os.listdir(folder)}
        except FileNotFoundError:  # one that was closed meanwhile
            return 0
        return len([name for name in names if re.search(r"/heaptop(-[0-9]|.far-)[^/]*$", name)])

    def frames(recording, number):
        """Waits for that many, each of which is written after its tick."""
        sizes = set()

        def look():
            if os.path.exists(recording):
                sizes.add(os.path.getsize(recording))
            return len(sizes - {0}) > number  # the first one is of what stands before them
        wait_for(look, "%d frames" % number)

    def threads(*where):
        path, recording = os.path.join(scratch, "exec.json"), os.path.join(scratch, "exec%d.rec" % len(where))
        with Program() as p, open(path, "w", encoding="utf-8") as out:
            viewer = subprocess.Popen([HEAPTOP, "--no-config", "-d", "0.1", "--report", "--format", "json",
                                       "--record", recording, *where, "-a", p.pid],
                                      stdout=out, stderr=subprocess.PIPE, env=environment(), text=True)
            frames(recording, 2)  # before that, it may find the next image alone
            wait_for(lambda: images(viewer.pid) == 1, "one image")
            p.ask(b"i")
            check_equal(p.process.stdout.readline(), b"ready\n", "the next image")
            wait_for(lambda: images(viewer.pid) == 2, "the viewer's next image")
            p.process.stdin.close()
            p.process.wait()
            err = viewer.communicate(timeout=100)[1]
            check_equal(viewer.returncode, 0, "status (%s)" % err)
        with open(path, encoding="utf-8") as f:
            report = json.load(f)
        return [[t[name] for name in ("allocs", "live_blocks", "live_bytes")] for t in report["children"][0]["threads"]]
    near = threads()
    check_equal(near[0][1], 100, "blocks")
    check_equal(threads(*VIA), near, "threads")


run_cases()
