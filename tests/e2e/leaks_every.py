#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leak scans every so often, of a program that loses blocks when it is told to: what each scan says is
new, and what the report keeps of them."""

import json
import os
import re
import signal
import subprocess

from proving import (HEAPTOP, LIBRARY, Failure, case, check, check_equal, environment, run_cases, scratch, target,
                     wait_for)
from scanning import Fed, account

EVERY = "--leak-check=every:100ms"
OUT, ERR = os.path.join(scratch, "out"), os.path.join(scratch, "err")


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as f:
        return f.read()


class Asked(Fed):
    """A command of which the program is a part, which answers each line that it is sent."""

    def __init__(self, command, stderr=subprocess.DEVNULL, **variables):
        super().__init__(command, stderr, **variables)
        self.pid = int(self.process.stdout.readline())

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        check_equal(self.process.stdout.readline(), "done\n", line)

    def lose(self, blocks):
        """And nothing of it stays in a register."""
        self.ask("lose %d" % blocks)
        self.ask("turn 10")


def last_definite(path, of=""):
    """Number, bytes and blocks of the last scan that is reported there in full."""
    found = re.findall(r"^leak scan (\d+)%s at .*\n  definite  ([\d,]+) bytes in (\d+) blocks?.*\n" % of, read(path),
                       re.M)
    return tuple(int(n.replace(",", "")) for n in found[-1]) if found else (0, 0, 0)


def wait_definite(path, bytes_, blocks, after=0, of=""):
    def there():
        number, *sums = last_definite(path, of)
        return number > after and sums == [bytes_, blocks]
    try:
        wait_for(there, "a scan with %d blocks" % blocks)
    except Failure as failure:
        raise Failure("%s: %s" % (failure, read(path)[-600:])) from failure
    return last_definite(path, of)[0]


@case("each scan of a program says what came since the one before, and the report has the last")
def launched():
    with Asked([HEAPTOP, EVERY, "-o", OUT, "--", target("asked")]) as program:
        program.lose(3)
        number = wait_definite(OUT, 2100, 3)
        program.lose(2)
        wait_definite(OUT, 3500, 5, number)
        check_equal(program.end()[0], 0, "status")
    text = read(OUT)
    scans, rest = text.split("heaptop 0", 1)
    new = re.findall(r"^  \+([\d,]+) bytes, \+\d+ blocks?: definite, (?:new|now .*): .*asked", scans, re.M)
    check_equal(sum(int(n.replace(",", "")) for n in new), 3500, "bytes reported as new")
    check(re.search(r"definite +3,500 bytes in 5 blocks\n", rest), "the report: " + rest)
    number = last_definite(OUT)[0]
    check("it is the last of %d, " % number in rest, "the report does not say which scan it has")


@case("so is each process that it has started, and what the last scan found of one that is killed counts")
def others():
    command = [HEAPTOP, EVERY, "-o", OUT, "--fail-on", "definite", "--"]
    with Asked([*command, "sh", "-c", target("asked") + "; true"]) as program:
        of = " of process %d, %s," % (program.pid, target("asked"))
        program.lose(3)
        number = wait_definite(OUT, 2100, 3, of=of)
        program.lose(2)
        wait_definite(OUT, 3500, 5, number, of)
        os.kill(program.pid, signal.SIGKILL)
        check_equal(program.end()[0], 1, "status")
    scans, rest = read(OUT).split("heaptop 0", 1)
    # A scan may come between two of the blocks.
    new = re.findall(r"^  \+([\d,]+) bytes, \+\d+ blocks?: definite, (?:new|now .*): .*asked", scans, re.M)
    check_equal(sum(int(n.replace(",", "")) for n in new), 3500, "bytes reported as new: " + scans)
    check("below     definite   3,500 bytes in 5 blocks, in 1 of 1 other process\n" in rest, rest)
    with Fed([*command, target("leaks_forked"), "wait"]) as program:
        said = "".join(iter(program.process.stdout.readline, "ready\n"))
        blocks, bytes_ = account(said)["definite_since_fork"]
        wait_definite(OUT, bytes_, blocks, of=" of process %s, .*," % re.search(r"^pid (\d+)$", said, re.M)[1])
        check_equal(program.end()[0], 1, "status")


@case("what is attached to is scanned until the viewer is to end, and goes on; JSON has the history")
def attached():
    with Asked([target("asked")], LD_PRELOAD=LIBRARY) as program, open(ERR, "w", encoding="utf-8") as err:
        program.lose(4)
        with subprocess.Popen([HEAPTOP, EVERY, "--format", "json", "-o", OUT, "-a", str(program.pid)],
                              env=environment(), stderr=err) as viewer:
            number = wait_definite(ERR, 2800, 4)
            program.lose(1)
            wait_definite(ERR, 3500, 5, number)
            viewer.send_signal(signal.SIGTERM)
            check_equal(viewer.wait(60), 0, "status")
        program.ask("keep 1")
        leaks = json.loads(read(OUT))["leaks"]
        history = leaks["history"]
        check(len(history) >= 2, "scans: %s" % history)
        check_equal([h["number"] for h in history], list(range(1, len(history) + 1)), "numbers")
        check_equal([h["ns"] for h in history], sorted(h["ns"] for h in history), "times")
        check_equal(history[0]["definite"], {"blocks": 4, "bytes": 2800}, "the first")
        for kind in ("definite", "indirect", "possible"):
            check_equal(history[-1][kind], leaks[kind], "the last, " + kind)
        check_equal(leaks["definite"], {"blocks": 5, "bytes": 3500}, "definite")
        check_equal(history[-1]["stop_ns"], leaks["stop_ns"], "stop_ns")
        check_equal(program.end()[0], 0, "the program's status")


@case("scans stand among frames, and what the last one found counts where the program is killed")
def frames():
    with Asked([HEAPTOP, EVERY, "-b", "-d", "0.1", "-o", OUT, "--fail-on", "definite", "--",
                target("asked")]) as program:
        program.lose(3)
        number = wait_definite(OUT, 2100, 3)
        wait_definite(OUT, 2100, 3, number)
        os.kill(program.pid, signal.SIGKILL)
        check_equal(program.process.wait(60), 1, "status")
    text = read(OUT)
    check("  no call site changed since the previous scan\n" in text, text)
    check(re.search(r"^leak scan 1 at (?s:.*)^heaptop  .*killed by SIGKILL", text, re.M), "frames: " + text)


@case("a program that ends before the first scan is scanned at its end; attached, one line says there was none")
def too_soon():
    with Asked([HEAPTOP, "--leak-check=every:1h", "--format", "json", "-o", OUT, "--", target("asked")]) as program:
        program.lose(2)
        check_equal(program.end()[0], 0, "status")
    leaks = json.loads(read(OUT))["leaks"]
    check_equal([(h["number"], h["definite"]["blocks"]) for h in leaks["history"]], [(1, 2)], "the scans")
    os.unlink(OUT)
    with Asked([target("asked")], LD_PRELOAD=LIBRARY) as program, open(ERR, "w", encoding="utf-8") as err:
        with subprocess.Popen([HEAPTOP, "--leak-check=every:1h", "-b", "--fail-on", "definite", "-o", OUT, "-a",
                               str(program.pid)], env=environment(), stderr=err) as viewer:
            wait_for(lambda: "live" in read(OUT).lower(), "a frame")
            check_equal(program.end()[0], 0, "the program's status")
            check_equal(viewer.wait(60), 125, "status")
    check_equal(read(ERR), "heaptop: --leak-check: no leak scan: none has ended yet\n", "what is said")


run_cases()
