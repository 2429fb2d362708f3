#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of settings with real programs: what it says holds, on the screen and without, and what
is wrong with it stops nothing."""

import os

from proving import HEAPTOP, case, check, check_equal, environment, run, run_cases, scratch, target

CONFIG = os.path.join(scratch, "config")
FILE = os.path.join(CONFIG, "heaptop/config")


def config(text):
    os.makedirs(os.path.dirname(FILE), exist_ok=True)
    with open(FILE, "w", encoding="utf-8") as f:
        f.write(text)


def heaptop(*options):
    return run([HEAPTOP, *options, "--", target("many_sites"), "10000", "idle", "1"],
               env=environment(XDG_CONFIG_HOME=CONFIG))


ENDED = ":until exited 0\n"


def play(text, *options, first=ENDED):
    path = os.path.join(scratch, "script")
    with open(path, "w", encoding="utf-8") as f:
        f.write(":size 100x40\n" + first + text)
    done = heaptop("-d", "0.1", "--script", path, *options)
    check_equal(done.stderr, b"", "messages")
    return done.stdout.decode()


@case("the file's order, grouping and rules hold in a report, and options outrank them")
def report():
    config("sort = blocks\ngroup = function\nhide = digit_*\n")
    text = heaptop("--report").stderr.decode()
    check("functions, by blocks" in text, text)
    check("digit_" not in text, "rules do not hold: " + text)
    text = heaptop("--report", "-s", "live", "--group=stack").stderr.decode()
    check("call sites, by live" in text, text)
    text = heaptop("--report", "--no-config", "--group=function").stderr.decode()
    check("functions, by live" in text and "in digit_" in text, text)


@case("a broken file is a line on stderr each, and no refusal")
def broken():
    config("sort = size\nnames = full\n\nwhat\n")
    done = heaptop("--report", "-o", "/dev/null")
    check_equal(done.returncode, 0, "status")
    check_equal(done.stderr.decode().splitlines(),
                ["heaptop: %s:1: \"sort = size\": no such value" % FILE,
                 "heaptop: %s:4: \"what\": no \"key = value\"" % FILE], "messages")
    check_equal(heaptop("--report", "-o", "/dev/null", "--no-config").stderr, b"", "messages")


@case("on the screen the message is seen, and W writes what is seen")
def screen():
    config("sort = size\n")
    first = play(":save-display -\n" + ENDED, first=":until no such value\n")  # it goes after ten seconds
    check("no such value" in first, first)
    os.unlink(FILE)
    said = play(":until digit_\n5 v g f S Enter\n:type digit_*\nEnter W\n:save-display -\nEsc\n:save-display -\n")
    check("settings saved in " + FILE in said, said)
    check("digit_*" in said, said)
    check("digit_" not in said.split("settings saved")[1].split("Sites")[1], "the table: " + said)
    with open(FILE, encoding="utf-8") as f:
        lines = f.read().splitlines()
    for line in ("sort = blocks", "names = full", "group = function", "hide = digit_*"):
        check(line in lines, line + " is not in the file")
    # They hold the next time, and the rule can be taken out again.
    said = play(":until digits_alloc\n:save-display -\n")
    check("by function" in said and "digit_" not in said, said)
    said = play(":until digits_alloc\nS Backspace Esc\n:until digit_\n:save-display -\n")
    check("digit_" in said, said)


@case("a profile decides as its options do, whatever the settings are; a section of the file is one, too")
def profiles():
    config("sort = blocks\nhistory = nonsense\n\n[profile mine]\nreport\ntop = 3\ngroup = function\n")
    leaks = [HEAPTOP, "--profile", "ci", "--", target("leaks")]
    done = run(leaks, env=environment(XDG_CONFIG_HOME=CONFIG))
    check_equal(done.returncode, 1, "status of a program that leaks")
    check(b"definite" in done.stderr and b"nonsense" not in done.stderr, done.stderr.decode())
    fine = run([HEAPTOP, "--profile", "ci", "-o", "/dev/null", "--", "true"])
    check_equal((fine.returncode, fine.stderr), (0, b""), "one that does not")
    text = heaptop("--profile", "mine").stderr.decode()
    check("functions, by blocks" in text, text)
    check("call sites, by blocks" in heaptop("--profile", "mine", "--group", "stack").stderr.decode(), "outranked")
    listed = run([HEAPTOP, "--profile", "help"], env=environment(XDG_CONFIG_HOME=CONFIG)).stdout.decode()
    check_equal([line.split()[0] for line in listed.splitlines()], ["ci", "server", "tiny", "mine"], "profiles")
    check("mine       --report --top=3 --group=function\n" in listed, listed)


@case("what cannot be written is a message")
def unwritable():
    os.unlink(FILE)
    os.rmdir(os.path.dirname(FILE))
    with open(os.path.dirname(FILE), "w", encoding="utf-8"):
        pass
    said = play("W\n:save-display -\n")
    check("not saved" in said, said)
    said = play("W\n:save-display -\n", "--readonly")
    check("W is refused" in said, said)


run_cases()
