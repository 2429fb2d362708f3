#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leak scans from the screen, on a program whose blocks are known (tests/targets/leaks.c): launched
and attached, again and again, ended in the middle; and what a scan must leave behind: nothing."""

import os
import re
import subprocess

from proving import (HEAPTOP, case, check, check_equal, environment, run, run_cases, scratch, target)
from scanning import Waiting, children

SIZE = ":size 160x60\n"
# What the roots of reachable_register and reachable_vector are called.
HELD_IN = {"register": r"register (r12|x19) of thread \d+ \(leaks\), in hold_general\(\)",
           "vector": r"a vector register of thread \d+ \(leaks\), in hold_vector\(\)"}


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
    keys = "L\n:until definite_plain\n:until definite_tree\n:save-display -\n"
    with leaks() as program:
        check_kinds(play_attached(program.pid, keys), 10)
    keys = ":until mark 1\n" + keys  # the program has made all of it
    saved = os.path.join(scratch, "saved")
    with subprocess.Popen([HEAPTOP, *script(keys.replace("display -", "display " + saved)), "--",
                           target("leaks"), "wait"], env=environment(),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as heaptop:
        try:
            while heaptop.stdout.readline() not in (b"ready\n", b""):
                pass
            program, = children(heaptop.pid)
            done = run([HEAPTOP, "--mark", str(program)])
            check_equal((done.returncode, done.stderr), (0, b""), "--mark, for which the script waits")
            check_equal(heaptop.wait(60), 0, "status")  # the program may go on: its output does not end
        finally:
            heaptop.kill()
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
        screen = play_attached(program.pid, "L Esc\n:until L scans for leaks\n:save-display -\nL\n:until scan 1\n"
                               ":save-display -\n")
        check("scan 1" in screen, screen)
        check_equal(status(program.pid, "TracerPid"), "0", "its tracer")
        check(status(program.pid, "State")[0] in "SR", "state " + status(program.pid, "State"))


@case("why: the way from a root, the lost ones' company, and contents only after H")
def why():
    with leaks() as program:
        screen = play_attached(
            program.pid, "L\n:until definite_plain\nK r\n:until reachable_by_block\n/\n:type reachable_by_block\nEnter\nEnter\n"
            ":until Allocated\n:save-display -\n")
        check("global (leaks.c:" in screen and "of reachable_global" in screen, screen)
        for what in ("register", "vector"):
            screen = play_attached(
                program.pid, "L\n:until definite_plain\nK r\n:until reachable_%s\n/\n:type reachable_%s\n"
                "Enter\nEnter\n:until Allocated\n:save-display -\n" % (what, what))
            check(re.search(HELD_IN[what], screen), screen)
        screen = play_attached(
            program.pid, "L\n:until definite_tree\n/\n:type definite_tree\nEnter\nEnter\n"
            ":until Allocated\n:save-display -\n")
        check("No root, stack, register or reachable block points to" in screen, screen)
        check("reachable only through it are lost as well" in screen, screen)
        check(" 00 00 00 " not in screen, "contents: " + screen)
        screen = play_attached(program.pid, "L\n:until definite_plain\n/\n:type definite_plain\nEnter\nEnter\nH\n"
                               ":until 00 00 00\n:save-display -\n")
        check("00 00 00 00" in screen, screen)


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def suppress(pid, name, until, *files):
    """The screen after ! on the first row where a function's name stands."""
    options = [option for path in files for option in ("--suppressions", path)]
    return play_attached(pid, "L\n:until scan 1,\n:until %s\n/\n:type %s\nEnter\n!\n:until %s\n"
                         ":save-display -\n" % (name, name, until), options)


def rule(name, *frames):
    return ("{\n   leak of %s\n   Memcheck:Leak\n   match-leak-kinds: definite,indirect,possible\n   fun:malloc\n" % name
            + "".join("   %s\n" % f for f in frames) + "}\n")


@case("! suppresses, writes its rule to the file, and the file does so the next time")
def suppresses():
    rules = os.path.join(scratch, "rules")
    write(rules, "# mine")
    with leaks() as program:
        screen = suppress(program.pid, "definite_plain", "suppressed 500 in 5", rules)
        # A loop that was unrolled is several call sites, which differ only in the address.
        check(re.search(r"suppressed 5 blocks( \(.* same\))?; written to %s: fun:malloc fun:definite_plain fun:"
                        % re.escape(rules), screen), screen)
        check(read(rules).startswith("# mine\n{\n   leak of definite_plain\n"), read(rules))
        check("fun:malloc\n   fun:definite_plain\n" in read(rules), read(rules))
        screen = play_attached(program.pid, "L\n:until suppressed 500 in 5\n:save-display -\n",
                               ["--suppressions", rules])
        check("definite_plain" not in screen, screen)
        # Without a file it is for this session; what it leads to stays.
        screen = suppress(program.pid, "definite_tree", "to keep it, give a --suppressions FILE")
        check("  definite_tree" not in screen and "indirect_tree" in screen, screen)
        check("for this session" in screen, screen)


def high():
    return Waiting(target("leak_high"), "wait")


def rows(screen, name):
    """Blocks of the rows of a function, and of all that is suppressed."""
    of = [line.lstrip(" >").split() for line in screen.splitlines()]
    shown = [int(w[2]) for w in of if w[:1] == ["definite"] and name in w[3:]]
    return sorted(shown), re.findall(r"suppressed [\d.]+k? in (\d+)", screen)


@case("! on what a function loses that calls others hides that, and not what those lose")
def suppresses_high():
    rules = os.path.join(scratch, "high")
    write(rules, "")
    with high() as program:
        screen = suppress(program.pid, "outer", "suppressed 4 blocks; written to", rules)
        check_equal(read(rules), rule("outer", "fun:outer", "fun:main"), "the file")
        check_equal((rows(screen, "outer"), rows(screen, "inner"), rows(screen, "main")),
                    (([], ["4"]), ([3], ["4"]), ([2, 5], ["4"])), "rows")
        # Two lines of main: a rule of functions would take both.
        screen = suppress(program.pid, "main", "suppressed 2 blocks; written to", rules)
        check_equal((rows(screen, "inner"), rows(screen, "main")), (([3], ["6"]), ([5], ["6"])), "rows")
        check("src:leak_high.c:" in read(rules), read(rules))
        screen = play_attached(program.pid, "L\n:until in 6 \n:until inner\n:save-display -\n",
                               ["--suppressions", rules])
        check_equal((rows(screen, "inner"), rows(screen, "main")), (([3], ["6"]), ([5], ["6"])), "the next time")


@case("! without symbols hides the row and says which others read the same")
def suppresses_nameless():
    rules, bare = os.path.join(scratch, "bare.supp"), os.path.join(scratch, "bare")
    done = run(["strip", "-o", bare, target("leak_high")])
    check_equal(done.returncode, 0, "strip: " + done.stderr.decode())
    write(rules, "")
    with Waiting(bare, "wait") as program:
        screen = suppress(program.pid, "bare+0x", "; written to", rules)
        check("suppressed 7 blocks (1 other row, too: its stack reads the same); written to" in screen, screen)
        check("fun:malloc\n   obj:%s\n" % bare in read(rules), read(rules))
        screen = play_attached(program.pid, "L\n:until suppressed 2.0k in 7\n:save-display -\n",
                               ["--suppressions", rules])
        check("in 7 " in screen, screen)


@case("! leaves a file of LeakSanitizer's alone, which that would refuse then")
def suppresses_beside_theirs():
    theirs, rules = os.path.join(scratch, "lsan"), os.path.join(scratch, "ours")
    write(theirs, "# known\nleak:^no such$\n")
    write(rules, "# none yet\n")
    with high() as program:
        screen = suppress(program.pid, "inner", "suppressed 3 blocks for this session", theirs)
        check("%s is LeakSanitizer's" % theirs in screen, screen)
        suppress(program.pid, "inner", "suppressed 3 blocks; written to", rules, theirs)
    check_equal(read(theirs), "# known\nleak:^no such$\n", "theirs")
    check_equal(read(rules), "# none yet\n" + rule("inner", "fun:inner", "fun:outer", "fun:main"), "the other")


@case("an export has the last scan")
def export():
    with leaks() as program:
        here = os.getcwd()
        os.chdir(scratch)
        try:
            play_attached(program.pid, "L\n:until definite_plain\nx\nEnter\n:until saved\n")
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
