# SPDX-License-Identifier: GPL-3.0-or-later
"""The real programs of the fault matrix, each plain and with heaptop: make bench-programs, or make bench
BENCH_PROGRAMS=1. Off unless asked for: many need packages of their own, and most are so short that starting
them is what costs."""

import json
import os
import statistics
import sys

from measure import added, ratios, rounds_run, shown
from places import BENCH, HEAPTOP, LIBRARY, ROOT
from programs import images, millions
from table import Section

LEAST_S = 0.2  # processor time of a program that is more than its start
CPU, WALL = range(2)


def matrix():
    """The modules that have the list and run what is on it. Loaded when it is to be measured, since they make
    folders of their own."""
    sys.path += [os.path.join(ROOT, "tests", name) for name in ("faults", "e2e")]
    import driving, real_programs, proving, servers  # found by the path above
    return driving, real_programs, proving, servers.PROGRAMS


def results_fresh():
    """An empty folder in which any user may write: the paths of what was used, and of the report."""
    folder = os.path.join(matrix()[2].scratch, "results")
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o1777)
    paths = [os.path.join(folder, name) for name in ("usage", "report.json")]
    for path in paths:
        if os.path.exists(path):
            os.unlink(path)
    return paths


def preloaded(program):
    return {"LD_PRELOAD": ":".join(filter(None, (LIBRARY, program.env.get("LD_PRELOAD"))))}


def run(name, more=(), prefix=()):
    """Its exit status, and what it and all that it started used: processor and wall seconds."""
    driving, real, proving, programs = matrix()
    program, usage = programs[name], results_fresh()[0]
    driving.run_to_end(program, [os.path.join(BENCH, "usage"), usage, *("%s=%s" % v for v in dict(more).items()), "--",
                                 *prefix, *real.command(program)], env=real.variables(program))
    for path in proving.segment_files():
        os.unlink(path)
    with open(usage, encoding="ascii") as f:
        status, user, system, _, wall = f.read().split()
    return int(status), [float(user) + float(system), float(wall)]


class Runs:
    """One program, run each way in turn."""

    def __init__(self, name):
        self.name = name
        self.statuses = set()
        self.about = None

    def once(self, *how):
        status, used = run(self.name, *how)
        self.statuses.add(status)
        if len(self.statuses) > 1:
            raise OSError("it ended in different ways: %s" % sorted(self.statuses))
        return used

    def reported(self):
        """All of it: with the viewer, and its report."""
        path = results_fresh()[1]
        used = self.once((), [HEAPTOP, "--report", "--format", "json", "-o", path, "--"])
        with open(path, encoding="utf-8") as f:
            every = list(images(json.load(f)))
        self.about = {"allocs": sum(i["totals"]["allocs"] for i in every), "images": len(every)}
        return used

    def all(self, rounds):
        program = matrix()[3][self.name]
        ways = {"plain": self.once, "heaptop": lambda: self.once(preloaded(program)), "report": self.reported}
        results = rounds_run(rounds, {name: (function, rounds) for name, function in ways.items()})
        return {**results, "about": self.about}


def column(result, name, which=CPU):
    return [used[which] for used in result[name]]


def factor(number):
    return "%.2f" % number if number < 10 else "%.1f" % number


def slowdown(result, name="heaptop", which=CPU):
    """The median of what each round says; 1 where there is nothing to compare."""
    return statistics.median(ratios(column(result, name, which), column(result, "plain", which)) or [1])


class Slowdown(Section):
    key = "slowdown"
    asked_only = True
    ordered = True
    head = ("The real programs of the fault matrix, the slowest first: user + system seconds of the plain run, "
            "and how many times that with heaptop:")
    columns = [("program", 23), ("plain", 5), ("allocs", 6), ("images", 6), ("heaptop", 16), ("wall", 4), ("report", 6),
               ("ms each", 7)]

    LEGEND = ("images: programs that were run and children that were forked, one after the other or at once, each with "
              "a segment. heaptop: the library alone, processor time of all processes; wall: the same by the clock. "
              "report: processor time with the viewer, which names the sites and writes a report at the end. ms each: "
              "the processor time that the library adds, by image.")

    def rows(self):
        return list(matrix()[3])

    def measure(self, row, rounds):
        _, real, proving, programs = matrix()
        try:
            real.command(programs[row])
            return Runs(row).all(rounds)
        except proving.Skip as why:
            return {"missing": str(why)}
        except proving.Failure as why:
            raise OSError(str(why)) from why

    def order(self, results):
        there = [row for row in results if "missing" not in results[row]]
        return sorted(there, key=lambda row: -slowdown(results[row]))

    def lines(self, row, result):
        plain, watched, about = column(result, "plain"), column(result, "heaptop"), result["about"]
        return [[row, "%.2f" % statistics.median(plain), millions(about["allocs"]), "%d" % about["images"],
                 shown(ratios(watched, plain), 2), factor(slowdown(result, which=WALL)),
                 factor(slowdown(result, "report")),
                 "%.1f" % (1000 * statistics.median(added(watched, plain)) / about["images"])]]

    @staticmethod
    def mean(results, title):
        if not results:
            return []
        means = [statistics.geometric_mean(slowdown(r, *how) for r in results)
                 for how in (("heaptop", CPU), ("heaptop", WALL), ("report", CPU))]
        return ["Geometric mean of %s (%d): %.2f in processor time, %.2f by the clock, %.2f with the report." % (
            title, len(results), *means)]

    def notes(self, results):
        there = [result for result in results.values() if "missing" not in result]
        longer = [r for r in there if statistics.median(column(r, "plain")) >= LEAST_S]
        return ([self.LEGEND] + self.mean(there, "all")
                + self.mean(longer, "those that take %.1f s or more" % LEAST_S)
                + ["%s: %s." % (row, result["missing"]) for row, result in results.items() if "missing" in result])
