#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Instructions that libheaptop.so adds to one malloc/free pair, counted by callgrind: the same number in
every run, so two versions can be compared to the instruction.

Only instructions inside the library count: libc picks other code on another processor. The rest is kept
from changing the path through the library: names and environment have the same length everywhere (they
move the stack, and with it what is hashed), the clock is tests/bench/steady_clock.c, and the processor's
cycle counter, by which the library decides how often it looks at that, tests/bench/steady_cycles.h: the
real one goes on with the load of the machine. That is the only difference to the library. Another compiler
makes other code, so the accepted counts in instructions.txt are those of the compiler named there.

Without arguments it is a test; see --help."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import closing

from places import B, LIBRARY, ROOT

ACCEPTED = os.path.join(ROOT, "tests/bench/instructions.txt")
BUILT = {"heaptop.so": "tests/bench/steady/libheaptop.so", "clock.so": "tests/bench/steady_clock.so",
         "micro": "tests/bench/micro", "micro-new": "tests/bench/micro-new", "micro-own": "tests/bench/micro-own",
         "stacks": "tests/bench/stacks"}

PAIRS = 4000
CASES = [("same stack, depth %d" % d, ["./micro", "same", d, PAIRS]) for d in (5, 15, 30, 60)] + [
    ("same stack, depth 15, two threads", ["./micro", "same-not-alone", 15, PAIRS]),
    ("same stack, depth 15, new/delete", ["./micro-new", "same", 15, PAIRS]),
    ("inner 3 change, depth 15", ["./micro", "inner-3", 15, PAIRS]),
    ("inner 3 change, depth 30", ["./micro", "inner-3", 30, PAIRS]),
    ("working set of 1k, depth 15", ["./micro", "set", 15, PAIRS, 1000]),
    ("working set of 1k, depth 15, new and delete of the program", ["./micro-own", "set", 15, PAIRS, 1000]),
    ("ignored, depth 5", ["./micro", "ignored", 5, PAIRS]),
    ("ignored, depth 15", ["./micro", "ignored", 15, PAIRS]),
    ("ignored, depth 60", ["./micro", "ignored", 60, PAIRS]),
    ("ignored, inner 3 change, depth 15", ["./micro", "ignored-3", 15, PAIRS]),
    ("a new stack each time, depth 20", ["./stacks", "fresh", PAIRS, PAIRS]),
]
WORSE, BETTER = 1.02, 0.95
ACCEPT = "make bench-instructions ACCEPT=1"


KERNEL_LEAST = (5, 14)  # before that a segment has another layout


class CannotCount(Exception):
    """Why there is nothing to compare here."""


class Broken(Exception):
    """What went wrong with a run."""


def compiler():
    """What built the library, with its options, as the debug information tells; and the libc, whose
    place in memory is hashed."""
    readelf = shutil.which("readelf")
    if not readelf:
        raise CannotCount("readelf is not installed")
    dump = subprocess.run([readelf, "--debug-dump=info", "--dwarf-depth=1", LIBRARY],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()
    producer = re.search(r"DW_AT_producer *: (?:\(.*?\): )?(.*)", dump)
    if not producer:
        raise CannotCount("the library has no debug information")
    options = producer.group(1).strip().replace(" -fcallgraph-info=su", "")  # makes no other code
    return "%s, %s" % (options, os.confstr("CS_GNU_LIBC_VERSION"))


def costs(path):
    """Own instructions of each (object, function) in a callgrind output file."""
    total = {}
    where = inside = None
    inclusive = False
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            key, _, value = line.rstrip("\n").partition("=")
            if key == "ob":
                inside = value
            elif key == "fn":
                where = inside, value
            elif key == "calls":
                inclusive = True  # the next line is the callee's
            elif line[0].isdigit():
                if not inclusive:
                    total[where] = total.get(where, 0) + int(line.split()[1])
                inclusive = False
    return total


def segment_left(folder):
    """Removes the segment that a run left in the folder; its virtual size, which tells the layout. None: the
    program returned from main, and left none."""
    names = [n for n in os.listdir(folder) if n.startswith("heaptop-")]
    if not names:
        return None
    if len(names) != 1:
        raise Broken("the run left %d segments" % len(names))
    size = os.stat(os.path.join(folder, names[0])).st_size
    os.unlink(os.path.join(folder, names[0]))
    return size


class Counter:
    """Runs cases in a folder of its own, whose name is as long as any other's."""

    def __init__(self):
        self.valgrind = shutil.which("valgrind")
        if not self.valgrind:
            raise CannotCount("valgrind is not installed")
        if tuple(int(n) for n in os.uname().release.split(".")[:2]) < KERNEL_LEAST:
            raise CannotCount("this kernel is older than Linux %d.%d" % KERNEL_LEAST)
        for built in BUILT.values():
            if not os.path.exists(os.path.join(B, built)):
                raise Broken("%s is not built" % built)
        self.folder = tempfile.mkdtemp(prefix="heaptop-bench-", dir="/dev/shm")
        for name, built in BUILT.items():
            shutil.copy(os.path.join(B, built), os.path.join(self.folder, name))
        self.env = {"LD_PRELOAD": "./heaptop.so:./clock.so", "HEAPTOP_DIR": ".", "LC_ALL": "C"}

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, command):
        done = subprocess.run(command, cwd=self.folder, env=self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=300, check=False)
        if done.returncode != 0:
            raise Broken("%s ended with status %d: %s" % (
                command[0], done.returncode, done.stderr.decode(errors="replace").strip()[-300:]))
        return segment_left(self.folder)

    def functions(self, arguments):
        """Instructions per pair of each function of the library."""
        program = [str(a) for a in arguments]
        out = os.path.join(self.folder, "out")
        under = self.run([self.valgrind, "--tool=callgrind", "--callgrind-out-file=./out",
                          "--compress-strings=no", "--compress-pos=no", "--zero-before=timed_begin",
                          "--dump-before=timed_end", *program])
        if under != self.run(program):
            raise Broken("under valgrind the segment has another layout than without")
        counted = {function: instructions / PAIRS for (thing, function), instructions
                   in costs(out + ".1").items() if thing and os.path.basename(thing) == "heaptop.so"}
        for part in (out, out + ".1"):
            os.unlink(part)
        return counted


def accepted_read():
    """The compiler, and the accepted count of each case."""
    made_by, counts = None, {}
    if os.path.exists(ACCEPTED):
        with open(ACCEPTED, encoding="utf-8") as f:
            for line in f:
                if line.startswith("# compiler: "):
                    made_by = line[len("# compiler: "):].strip()
                elif not line.startswith("#"):
                    count, name = line.strip().split(None, 1)
                    counts[name] = float(count)
    return made_by, counts


def accepted_write(made_by, counts):
    with open(ACCEPTED, "w", encoding="utf-8") as f:
        f.write("# Instructions inside libheaptop.so for one malloc/free pair, as accepted. Written by\n"
                "# %s. They are of this compiler, its options and this libc:\n"
                "# compiler: %s\n" % (ACCEPT, made_by))
        for name, count in counts.items():
            f.write("%8.2f  %s\n" % (count, name))


def percent(now, before):
    change = 100 * (now / before - 1)
    return "=" if abs(change) < 0.05 else "%+.1f %%" % change


def verdict(name, count, accepted):
    name = "instructions per pair, " + name
    if accepted is None:
        return "not ok - %s: %.2f, and no count is accepted yet (%s)" % (name, count, ACCEPT)
    change = "%.2f, accepted %.2f (%s)" % (count, accepted, percent(count, accepted))
    if count > accepted * WORSE:
        return "not ok - %s: %s; if that is the price of something, %s" % (name, change, ACCEPT)
    if count < accepted * BETTER:
        return "not ok - %s: %s: better, so that it stays so: %s" % (name, change, ACCEPT)
    return "ok - " + name


def difference(one, other):
    """Two compilers in few words: their names, or the options that only one of them has."""
    names = [text.split(" -")[0] for text in (one, other)]
    if names[0] != names[1]:
        return "counts are of %s, this is %s" % tuple(names)
    words = [set(text.replace(",", "").split()) for text in (one, other)]
    return "counts are of the same compiler with other options or libc: %s" % " ".join(
        sorted(words[0] ^ words[1]))


def test(wanted):
    made_by, accepted = accepted_read()
    here = compiler()
    if accepted and made_by != here:
        raise CannotCount(difference(made_by, here))
    bad = False
    with closing(Counter()) as counter:
        for name, arguments in wanted:
            line = verdict(name, sum(counter.functions(arguments).values()), accepted.get(name))
            print(line, flush=True)
            bad |= line.startswith("not ok")
        twice = [counter.functions(wanted[0][1]) for _ in range(2)] if wanted else []
    moved = {name for once in twice for name in once if twice[0].get(name) != twice[1].get(name)}
    print("%s - instructions per pair, counted twice, are the same%s" % (
        "not ok" if moved else "ok", ": not of " + ", ".join(sorted(moved)) if moved else ""))
    return 1 if bad or moved else 0


def show_case(name, by_function, before, functions):
    now = sum(by_function.values())
    print("%-40s %10s %10.2f %8s" % (name, "-" if before is None else "%.2f" % before, now,
                                     "" if before is None else percent(now, before)))
    if functions:
        for function, count in sorted(by_function.items(), key=lambda item: -item[1]):
            print("    %-47s %10.2f" % (function, count))
    sys.stdout.flush()


def show(wanted, functions):
    """The table of make bench-instructions. Returns the counts."""
    _, accepted = accepted_read()
    counts = {}
    print("%-40s %10s %10s %8s" % ("instructions per pair", "accepted", "now", "change"))
    with closing(Counter()) as counter:
        for name, arguments in wanted:
            by_function = counter.functions(arguments)
            counts[name] = sum(by_function.values())
            show_case(name, by_function, accepted.get(name), functions)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print the counts instead of judging them")
    parser.add_argument("--functions", action="store_true", help="print what each function has of them")
    parser.add_argument("--accept", action="store_true", help="print them, and accept them from now on")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases to count")
    options = parser.parse_args()
    wanted = [(name, arguments) for name, arguments in CASES if re.search(options.only, name)]
    try:
        if not (options.show or options.functions or options.accept):
            return test(wanted)
        counts = show(wanted, options.functions)
        if options.accept:
            accepted_write(compiler(), {**accepted_read()[1], **counts} if options.only else counts)
    except CannotCount as why:
        print("skip - instructions per pair: %s" % why)
    except Broken as why:
        print("not ok - instructions per pair: %s" % why)
        return 1
    return 0


sys.exit(main())
