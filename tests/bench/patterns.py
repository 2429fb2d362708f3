# SPDX-License-Identifier: GPL-3.0-or-later
"""The small programs of the bench: nanoseconds of one malloc/free pair by pattern and depth, with blocks
alive, with threads; and the live table alone."""

import os
import statistics
import subprocess

from measure import TIMEOUT_S, added, environment, micro, ratios, rounds_run, shown, variants, walker
from places import BENCH
from table import Section

DEPTHS = (5, 15, 30, 60)
DEPTH = 15
PATTERNS = {"same stack": "same", "inner 3 frames change": "inner-3", "inner half changes": "inner-half",
            "all frames change": "all"}
WALKED = ("same stack", "all frames change")
RECORDERS = ("heaptop", "heaptrack")
WALL, CPU, SEGMENT = 0, 1, 2
GROW_BLOCKS = 1000000  # what micro allocates, but for a warm-up


def ways(arguments, which, binary="micro"):
    return {name: (lambda more=more: micro(arguments, more, binary), 1 << 30)
            for name, more in variants().items() if name in which}


def walkers(arguments):
    """A stack taken and thrown away: by frame pointers of a program built with them, by libunwind."""
    shim = {"LD_PRELOAD": os.path.join(BENCH, "walker-fp.so")}
    return {"fp-plain": (lambda: micro(arguments, {}, "micro-fp"), 1 << 30),
            "fp": (lambda: micro(arguments, shim, "micro-fp"), 1 << 30),
            **{name: (lambda more=more: micro(arguments, more), 1 << 30) for name, more in walker().items()}}


def column(result, name, which=CPU):
    return [numbers[which] for numbers in result.get(name, [])]


class Pairs(Section):
    key = "pairs"
    head = "Nanoseconds of processor time for one `malloc` + `free`, by the depth of the call stack:"
    columns = [("malloc + free, ns", 28)] + [("depth %d" % d, 13) for d in DEPTHS]
    LINES = (("+ heaptop", "heaptop", "plain"), ("+ heaptrack", "heaptrack", "plain"),
             ("+ frame pointer walk only", "fp", "fp-plain"), ("+ unw_backtrace only", "unwind", "plain"))

    def rows(self):
        return list(PATTERNS)

    def measure(self, row, rounds):
        result = {}
        for depth in DEPTHS:
            arguments = [PATTERNS[row], depth]
            more = walkers(arguments) if row in WALKED else {}
            result[str(depth)] = rounds_run(rounds, {**ways(arguments, ("plain", *RECORDERS)), **more})
        return result

    def lines(self, row, result):
        cells = [[row] + [shown(column(result[str(d)], "plain")) for d in DEPTHS]]
        for title, name, base in self.LINES:
            if result[str(DEPTHS[0])].get(name):
                cells.append([title] + [shown(added(column(result[str(d)], name), column(result[str(d)], base)))
                                        for d in DEPTHS])
        return cells


class Blocks(Section):
    key = "blocks"
    head = "The same at depth %d: with live blocks, and with threads, all at one call site:" % DEPTH
    columns = [("ns", 26), ("plain", 13), ("heaptop", 16), ("ratio", 5), ("heaptrack", 16), ("ratio", 5)]
    GROW = "nothing freed, per malloc"
    SINGLE = {
        "1,000 live, any replaced": ["set", DEPTH, 0, 1000],
        "100,000 live, any replaced": ["set", DEPTH, 0, 100000],
        GROW: ["grow", DEPTH],
        "one allocates, one frees": ["queue", DEPTH],
    }

    def __init__(self, most_threads):
        self.threads = [n for n in (1, 2, 4, 8, 16) if n <= most_threads]

    def rows(self):
        return list(self.SINGLE) + ["%d thread%s" % (n, "" if n == 1 else "s") for n in self.threads]

    def measure(self, row, rounds):
        if row in self.SINGLE:
            arguments = self.SINGLE[row]
        else:
            arguments = ["threads", DEPTH, 0, row.split()[0]]
        return rounds_run(rounds, ways(arguments, ("plain", *RECORDERS)))

    @staticmethod
    def line(title, result, which):
        plain = column(result, "plain", which)
        cells = [title, shown(plain)]
        for name in RECORDERS:
            values = column(result, name, which)
            cells += [shown(values), shown(ratios(values, plain), spread=False)]
        return cells

    def lines(self, row, result):
        if row in self.SINGLE or row.endswith("1 thread"):
            return [self.line(row, result, CPU)]
        return [self.line(row + ", processor", result, CPU), self.line(row + ", wall", result, WALL)]

    def notes(self, results):
        said = []
        if self.GROW in results:
            memory = statistics.median(column(results[self.GROW], "heaptop", SEGMENT))
            said.append("If nothing is freed, the segment takes %.0f bytes for each of a million live "
                        "blocks of 64 bytes on average." % (memory / GROW_BLOCKS))
        several = [row for row in results if row.endswith(" threads")]
        if "1 thread" in results and several:
            said.append("Processor time of a pair, as a multiple of that with one thread: %s." % "; ".join(
                "%s %s" % (row, self.slowdown(results["1 thread"], results[row])) for row in several))
        return said

    @staticmethod
    def slowdown(one, several):
        return ", ".join("%s %.2f" % (name, statistics.median(column(several, name)) /
                                      statistics.median(column(one, name)))
                         for name in ("plain", *RECORDERS) if column(several, name))


class LiveTable(Section):
    key = "live table"
    head = "The live table alone: 10 million blocks of 64 bytes on average, in the order of their addresses:"
    columns = [("ns per block", 20), ("first insert", 13), ("remove", 13), ("insert again", 13),
               ("bytes per live block", 20)]

    def rows(self):
        return ["10,000,000 blocks"]

    def measure(self, row, rounds):
        def once():
            done = subprocess.run([os.path.join(BENCH, "live_table")], env=environment(),
                                  stdout=subprocess.PIPE, timeout=TIMEOUT_S, check=True)
            return [float(number) for number in done.stdout.split()]
        return rounds_run(rounds, {"alone": (once, 1 << 30)})

    def lines(self, row, result):
        return [[row] + [shown(column(result, "alone", i)) for i in range(4)]]
