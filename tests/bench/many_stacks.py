# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs whose call stacks are many, deep or out of the ordinary, under each recorder, and with
unw_backtrace alone: processor time, and the memory that each takes."""

import os
import statistics

from measure import added, ratios, rounds_run, shown, variants, walker
from places import B, BENCH
from programs import used
from table import Section

RECORDERS = ("heaptop", "heaptrack")
SECONDS, RESIDENT = range(2)


def stacks(pattern, number, allocations, threads=1, depth=0, program="stacks"):
    return [os.path.join(BENCH, program), pattern, str(number), str(allocations), str(threads), str(depth)]


def flow(way, allocations):
    return [os.path.join(BENCH, "control_flow"), way, str(allocations), os.path.join(B, "tests/targets/plugin")]


# Of tenths of a second to seconds under each recorder, so that a round of all takes a minute or two.
PROGRAMS = {
    "1,000 cyclic": stacks("cyclic", 1000, 4000000),
    "10,000 cyclic": stacks("cyclic", 10000, 4000000),
    "100,000 cyclic": stacks("cyclic", 100000, 4000000),
    "200,000 cyclic": stacks("cyclic", 200000, 2000000),
    "1,000,000 cyclic": stacks("cyclic", 1000000, 4000000),
    "100,000 random": stacks("random", 100000, 4000000),
    "1,000,000 random": stacks("random", 1000000, 4000000),
    "100,000 phases": stacks("phases", 100000, 4000000),
    "1,000,000 phases": stacks("phases", 1000000, 4000000),
    "200,000 search": stacks("search", 200000, 4000000),
    "1,000,000 once": stacks("fresh", 1000000, 1000000),
    "4,000,000 once": stacks("fresh", 4000000, 4000000),
    "100,000, many functions": stacks("cyclic", 100000, 4000000, program="stacks-wide"),
    "100,000, 2 threads": stacks("cyclic", 100000, 2000000, threads=2),
    "100,000, 8 threads": stacks("cyclic", 100000, 500000, threads=8),
    "10,000, depth 1,000": stacks("random", 10000, 500000, depth=1000),
    "the same, --depth 1024": stacks("random", 10000, 500000, depth=1000),
    "coroutines": flow("coroutines", 4000000),
    "exceptions": flow("exceptions", 1000000),
    "longjmp": flow("longjmp", 4000000),
    "made code, frame pointer": flow("jit-frame", 4000000),
    "made code, bare": flow("jit-bare", 4000000),
    "plugins come and go": flow("plugins", 100000),
}
VARIABLES = {"the same, --depth 1024": {"HEAPTOP_DEPTH": "1024"}}


def column(result, name, which=SECONDS):
    return [numbers[which] for numbers in result.get(name, [])]


def part(result):
    """What heaptop adds, of what heaptrack adds in the same round."""
    plain = column(result, "plain")
    return ratios(added(column(result, "heaptop"), plain), added(column(result, "heaptrack"), plain))


class ManyStacks(Section):
    key = "stacks"
    head = ("Many call stacks, deep ones, and control that does not call and return: user + system seconds of the "
            "plain run, and the time under each recorder as a multiple of it:")
    columns = [("program", 24), ("plain", 5), ("heaptop", 16), ("part", 4), ("heaptrack", 16), ("walk", 4),
               ("MB", 9)]

    LEGEND = ("part: what heaptop adds, of what heaptrack adds. walk: unw_backtrace at each allocation, and nothing "
              "else. MB: what heaptop adds to the largest resident set, segment included, and what heaptrack adds, "
              "whose file grows beside it. All but the last rows are tests/bench/stacks.c: functions that call each "
              "other 20 deep and more and allocate at each level, some 10 ns for a pair. cyclic: the stacks in order, "
              "again and again; random: in any order; phases: an eighth of them four times, then the next; search: "
              "23 deep, one in seven allocations at a stack not met lately, and 150 ns of calculation for each; "
              "once: each stack comes once. Made code is written at run time, with frame pointers or with nothing "
              "that describes it.")

    def rows(self):
        return list(PROGRAMS)

    def measure(self, row, rounds):
        ways = {name: {**more, **VARIABLES.get(row, {})} for name, more in {**variants(), **walker()}.items()
                if not name.startswith("jemalloc")}
        return rounds_run(rounds, {name: (lambda more=more: used(row, PROGRAMS[row], more), rounds)
                                   for name, more in ways.items()})

    def lines(self, row, result):
        plain = column(result, "plain")
        resident = {name: statistics.median(column(result, name, RESIDENT)) for name in result}
        memory = ["%.0f" % (resident[name] - resident["plain"]) for name in RECORDERS if name in result]
        times = [shown(ratios(column(result, name), plain), spread=name in RECORDERS)
                 for name in (*RECORDERS, "unwind")]
        return [[row, "%.2f" % statistics.median(plain), times[0], shown(part(result), 2, False), *times[1:],
                 " / ".join(memory)]]

    def notes(self, results):
        return [self.LEGEND]
