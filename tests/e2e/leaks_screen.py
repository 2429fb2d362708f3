#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leak scans from the screen, on a program whose blocks are known (tests/targets/leaks.c): launched
and attached, again and again, ended in the middle; and what a scan must leave behind: nothing."""

import os
import subprocess

from proving import (HEAPTOP, case, check, check_equal, environment, run, run_cases, scratch, target)
from scanning import Waiting

SIZE = ":size 160x60\n"


def script(text):
    path = os.path.join(scratch, "keys")
    with open(path, "w", encoding="utf-8") as f:
        f.write(SIZE + text)
    return ["-d", "0.1", "--script", path]


def status(pid, name):
    with open("/proc/%d/status" % pid, encoding="utf-8") as f:
        return [line.split(":")[1].strip() for line in f if line.startswith(name + ":")][0]


def leaks():
    return Waiting(target("leaks"), "wait")


def play_attached(pid, text, options=()):
    done = run([HEAPTOP, *script(text), *options, "-a", str(pid)])
    check_equal((done.returncode, done.stderr), (0, b""), "the end")
    return done.stdout.decode()


def shown_kinds(screen):
    """Function -> kinds of the table's rows."""
    kinds = {}
    for line in screen.splitlines():
        words = line.lstrip(" >").split()
        if words and words[0] in ("definite", "indirect", "possible", "reachable"):
            for word in words[1:]:
                if word.split("_")[0] in ("definite", "indirect", "possible", "reachable") and "_" in word:
                    kinds.setdefault(word, set()).add(words[0])
    return kinds


def check_kinds(screen, least):
    kinds = shown_kinds(screen)
    check(len(kinds) >= least, "few rows: %s" % screen)
    for name, got in kinds.items():
        check_equal(got, {name.split("_")[0]}, name)


@case("the kinds of every call site are on the screen, attached and launched")
def kinds():
    keys = "L\n:until definite_plain\n:save-display -\n"
    with leaks() as program:
        check_kinds(play_attached(program.pid, keys), 10)
    # Launched, the first scans may come before the program has made anything.
    keys = ":until LIVE\n" + "L\n:wait 4\n" * 6 + keys
    saved = os.path.join(scratch, "saved")
    with subprocess.Popen([HEAPTOP, *script(keys.replace("display -", "display " + saved)), "--",
                           target("leaks"), "wait"], env=environment(),
                          stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as heaptop:
        check_equal(heaptop.wait(60), 0, "status")
    with open(saved, encoding="utf-8") as f:
        check_kinds(f.read(), 10)


@case("scan after scan: nothing is new, the program notices nothing, and none of them is missed")
def again():
    rounds = int(os.environ.get("HEAPTOP_SCANS", "8"))
    with leaks() as program:
        before = status(program.pid, "VmRSS")
        screen = play_attached(program.pid, "".join("L\n:until scan %d,\n" % (i + 1) for i in range(rounds))
                               + ":until definite_plain\n:save-display -\n")
        check_kinds(screen, 10)
        check("high" in screen and " new " not in screen, screen)
        check_equal(status(program.pid, "TracerPid"), "0", "its tracer")
        check_equal(status(program.pid, "VmRSS"), before, "resident memory")
        check_equal(program.end()[0], 0, "status")


# A child of ours: the main thread asks after its end all the while that another one traces it.
@case("scans of a launched program: the stops are the scan's, the end is the launcher's")
def launched():
    rounds = int(os.environ.get("HEAPTOP_SCANS", "8"))
    program = "import time\nkeep = [str(i) for i in range(30000)]\nwhile True: time.sleep(0.0005)"
    keys = ":until LIVE\n:wait 3\n" + "".join("L\n:until scan %d,\n" % (i + 1) for i in range(rounds))
    done = run([HEAPTOP, *script(keys + ":save-display -\nq\nt\n"), "--", "/usr/bin/python3", "-c", program])
    check(("scan %d," % rounds).encode() in done.stdout, done.stdout.decode() + done.stderr.decode())
    check_equal(done.returncode, 128 + 15, "status, as it was ended by q and t")


@case("Esc ends a scan, and the program goes on")
def ended():
    with leaks() as program:
        screen = play_attached(program.pid, "L Esc\n:wait 3\n:save-display -\nL\n:until scan 1\n"
                               ":save-display -\n")
        check("scan 1" in screen, screen)
        check_equal(status(program.pid, "TracerPid"), "0", "its tracer")
        check(status(program.pid, "State")[0] in "SR", "state " + status(program.pid, "State"))


@case("why: the way from a root, the lost ones' company, and contents only after H")
def why():
    with leaks() as program:
        screen = play_attached(
            program.pid, "L\n:until definite_plain\nK K K K K\n:until reachable_by_block\n/\n:type reachable_by_block\nEnter\nEnter\n"
            ":until Allocated\n:save-display -\n")
        check("data of leaks at 0x" in screen and "of reachable_global" in screen, screen)
        screen = play_attached(
            program.pid, "L\n:until definite_plain\n/\n:type definite_tree\nEnter\nEnter\n"
            ":until Allocated\n:save-display -\n")
        check("No root, stack, register or reachable block points to" in screen, screen)
        check("With it is lost what only it points to" in screen, screen)
        check(" 00 00 00 " not in screen, "contents: " + screen)
        screen = play_attached(program.pid, "L\n:until definite_plain\n/\n:type definite_plain\nEnter\nEnter\nH\n"
                               ":until 00 00 00\n:save-display -\n")
        check("00 00 00 00" in screen, screen)


@case("! suppresses, writes its line to the file, and the file does so the next time")
def suppresses():
    rules = os.path.join(scratch, "rules")
    with open(rules, "w", encoding="utf-8") as f:
        f.write("# mine\n")
    keys = "L\n:until definite_plain\n/\n:type definite_plain\nEnter\n!\n:until suppressed 500 in 5\n"
    with leaks() as program:
        screen = play_attached(program.pid, keys + ":save-display -\n", ["--suppressions", rules])
        check("leak:^definite_plain$" in screen, screen)
        with open(rules, encoding="utf-8") as f:
            check_equal(f.read(), "# mine\nleak:^definite_plain$\n", "the file")
        screen = play_attached(program.pid, "L\n:until suppressed 500 in 5\n:save-display -\n",
                               ["--suppressions", rules])
        check("definite_plain" not in screen, screen)
        # Without a file it is for now; what it leads to goes with it.
        screen = play_attached(program.pid, "L\n:until indirect_tree\n/\n:type definite_tree\nEnter\n!\n"
                               ":until to keep it, put it into a --suppressions FILE\n:save-display -\n")
        check("  definite_tree" not in screen and "indirect_tree" not in screen, screen)


@case("an export has the last scan")
def export():
    with leaks() as program:
        here = os.getcwd()
        os.chdir(scratch)
        try:
            play_attached(program.pid, "L\n:until definite_plain\nx\n:until saved\n")
        finally:
            os.chdir(here)
        with open(os.path.join(scratch, "heaptop-snapshot-%d-1.txt" % program.pid), encoding="utf-8") as f:
            text = f.read()
        check("definite" in text and "definite_plain" in text, text)


@case("what cannot be scanned says so in one line")
def refused():
    with leaks() as program:
        tracer = subprocess.Popen(["strace", "-p", str(program.pid), "-o", "/dev/null"],
                                  stderr=subprocess.DEVNULL)
        try:
            while status(program.pid, "TracerPid") == "0" and tracer.poll() is None:
                pass
            screen = play_attached(program.pid, "L\n:until cannot be scanned\n:save-display -\n")
        finally:
            tracer.terminate()
            tracer.wait()
        check("it is traced by %d" % tracer.pid in screen, screen)


run_cases()
