#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks of a real program that allocates what it is asked to: reports, scripts, detaching, the
screen."""

import json
import os
import subprocess
import time

from proving import (HEAPTOP, case, check, check_equal, environment, run, run_cases, scratch,
                     segment_files, target)

STATE = os.path.join(scratch, "state")


def env():
    return environment(XDG_STATE_HOME=STATE)


class Asked:
    """The program, under heaptop with these options."""

    def __init__(self, *options):
        self.process = subprocess.Popen([HEAPTOP, *options, "--", target("asked")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env())
        self.pid = self.process.stdout.readline().decode().strip()

    def ask(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        check_equal(self.process.stdout.readline(), b"done\n", line)

    def mark(self, *name):
        done = run([HEAPTOP, "--mark", self.pid, *name], env=env())
        check_equal((done.returncode, done.stderr), (0, b""), "--mark")
        return done.stdout.decode()

    def end(self):
        self.process.stdin.close()
        check_equal(self.process.wait(60), 0, "the end")


def files():
    directory = os.path.join(STATE, "heaptop")
    return os.listdir(directory) if os.path.isdir(directory) else []


def site(report, function):
    return [s for s in report["sites"]
            if any(f["function"] == function for f in s["stack"])][0]


@case("a script marks a program, and the report says what came since, to the block")
def reported():
    path = os.path.join(scratch, "report")
    program = Asked("-d", "0.1", "--report", "--format", "json", "-o", path)
    program.ask("keep 100")
    program.ask("turn 50")
    check(program.mark("warm up").startswith("mark 1 of process " + program.pid), "what is said")
    program.ask("keep 40")
    program.ask("drop 10")
    program.ask("turn 20")
    check(program.mark().startswith("mark 2"), "what is said")
    program.ask("keep 7")
    check_equal(len(files()), 1, "files of marks")
    program.end()
    with open(path, encoding="utf-8") as f:
        report = json.load(f)
    check_equal([(m["number"], m["name"]) for m in report["marks"]], [(1, "warm up"), (2, "")],
                "marks")
    keep, turn = site(report, "asked_keep"), site(report, "asked_turn")
    check_equal({k: keep["since"][k] for k in ("mark", "bytes", "blocks", "allocs", "alive_blocks",
                                              "alive_bytes")},
                {"mark": 1, "bytes": 37000, "blocks": 37, "allocs": 47, "alive_blocks": 47,
                 "alive_bytes": 47000}, "what was kept since")
    check_equal([turn["since"][k] for k in ("bytes", "blocks", "allocs", "alive_blocks")],
                [0, 0, 20, 0], "what came and went since")
    at = [{s["id"]: s["live_blocks"] for s in m["sites"]}[keep["id"]] for m in report["marks"]]
    check_equal(at, [100, 130], "what was live at the marks")
    # Between the marks only these two sites allocated: 40 that are there and 20 that are not.
    check_equal(report["marks"][1]["alive_blocks"], 40, "alive of what came between the marks")
    check_equal((files(), segment_files()), ([], []), "what is left")


@case("marks by the clock, and in a text report")
def by_the_clock():
    path = os.path.join(scratch, "report")
    program = Asked("-d", "0.1", "--mark-every", "0.1", "--report", "-o", path)
    program.ask("keep 10")
    while not files() or b"end 2\n" not in open(os.path.join(STATE, "heaptop", files()[0]),
                                                "rb").read():
        program.ask("turn 1")
    program.ask("keep 20")
    program.end()
    with open(path, encoding="utf-8") as f:
        text = f.read()
    check("\n mark     time " in text and "\n      2 " in text and "\n    now " in text, text)
    check("since mark 1: +" in text, text)


@case("a viewer that comes back has the marks, and compares two of them")
def come_back():
    program = Asked("-d", "0.1", "--report", "-o", os.path.join(scratch, "report"))
    script = os.path.join(scratch, "script")
    program.ask("keep 10")

    def play(text):
        with open(script, "w", encoding="utf-8") as f:
            f.write(text)
        done = run([HEAPTOP, "-d", "0.1", "--script", script, "-a", program.pid], env=env())
        check_equal(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    play(":size 120x30\n:until asked_keep\nm\n:type one\nEnter\n:until mark 1 (one)\n")
    program.ask("keep 1024")
    program.mark("two")
    program.ask("keep 500")
    text = play(":size 120x30\n:until since mark 1 (one)\n`\nk\ne\n:until to mark 2 (two)\nEnter\n"
                ":save-display -\n")
    check("+1,024 " in text and "mark 1 (one) to mark 2 (two)" in text, text)
    program.end()


@case("what cannot be marked says why")
def refused():
    done = run([HEAPTOP, "--mark", str(os.getpid())], env=env())
    check_equal(done.returncode, 125, "status")
    check(b"not started under heaptop" in done.stderr, done.stderr)
    done = run([HEAPTOP, "--mark", "1", "one", "two"], env=env())
    check_equal(done.returncode, 2, "status")


run_cases()
