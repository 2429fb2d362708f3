#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The screen's timeline on a real program: a spike that is over is found, and what made it; the peak;
and back to now."""

import os
import subprocess
import time

from proving import HEAPTOP, case, check, check_equal, environment, run_cases, scratch, target

LIMIT_S = 60
SCRIPT = """:size 120x30
:until 1,000
:until asked_keep
:save-display %(scratch)s/begun
:until 6,000
:save-display %(scratch)s/spiked
:until 1,134
^
:save-display %(scratch)s/highest
F J
:save-display %(scratch)s/jump
s ,
:save-display %(scratch)s/range
P
:save-display %(scratch)s/peak
:wait 3
:save-display %(scratch)s/peak-later
F
:save-display %(scratch)s/live
"""


def shown(name):
    with open(os.path.join(scratch, name), encoding="utf-8") as f:
        return f.read()


def await_file(name):
    end = time.monotonic() + LIMIT_S
    while not os.path.exists(os.path.join(scratch, name)):
        check(time.monotonic() < end, "never written: " + name)
        time.sleep(0.02)


def row(screen, function):
    """Its numbers, from the table."""
    return [line for line in screen.splitlines() if function in line and line[:1] in " >"][0].split()


@case("a spike that is over is found with two keys, the peak with one, and now with one")
def spike():
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="utf-8") as f:
        f.write(SCRIPT % {"scratch": scratch})
    program = subprocess.Popen([HEAPTOP, "--report", "-o", "/dev/null", "--", target("asked")], env=environment(),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    pid = program.stdout.readline().decode().strip()

    def ask(line):
        program.stdin.write(line.encode() + b"\n")
        program.stdin.flush()
        check_equal(program.stdout.readline(), b"done\n", line)

    ask("keep 1000")
    screen = subprocess.Popen([HEAPTOP, "-d", "0.1", "--script", script, "-a", pid], env=environment(),
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    await_file("begun")
    ask("keep 5000")
    await_file("spiked")
    ask("drop 5000")
    ask("keep 134")
    error = screen.communicate(timeout=LIMIT_S)[1].decode()
    check_equal(screen.returncode, 0, error)
    program.stdin.close()
    check_equal(program.wait(LIMIT_S), 0, "the end")

    check(" PAST " in shown("highest") and "6,000" in row(shown("highest"), "asked_keep"), shown("highest"))
    check(" PAST " in shown("jump") and "largest rise: +" in shown("jump"), shown("jump"))
    check(" RANGE " in shown("range") and "ALLOC" in shown("range"), shown("range"))
    first = [line for line in shown("range").splitlines() if line.startswith(">")][0]
    check("asked_keep" in first and "+" in first, shown("range"))
    # One thread allocates, so what was live at the peak is exact.
    for name in ("peak", "peak-later"):
        check(" PEAK " in shown(name) and "6,000" in row(shown(name), "asked_keep"), shown(name))
    check("LIVE" in shown("live").splitlines()[0] and "1,134" in row(shown("live"), "asked_keep"), shown("live"))


run_cases()
