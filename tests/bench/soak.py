# SPDX-License-Identifier: GPL-3.0-or-later
"""The real programs of the fault matrix, measured: make bench T=soak. Off unless asked for: many need packages
of their own, and most are so short that starting them is what costs."""

import json
import os
import statistics
import sys

from measure import added, ratios, rounds_run, shown, variants
from places import BENCH, HEAPTOP, ROOT
from programs import images, millions
from table import Section

LEAST_S = 0.02  # processor time below which a ratio is noise


def matrix():
    """The modules that have the list and run what is on it. Loaded when it is to be measured, since they make
    folders of their own."""
    sys.path += [os.path.join(ROOT, "tests", name) for name in ("faults", "e2e")]
    import driving, real_programs, proving, servers  # found by the path above
    return driving, real_programs, proving, servers.PROGRAMS


def used(name, more):
    """Processor seconds and the largest resident set in MB, of all processes that were waited for."""
    driving, real, proving, programs = matrix()
    program = programs[name]
    result = os.path.join(proving.scratch, "usage")
    ahead = [v for v in (more.get("LD_PRELOAD"), program.env.get("LD_PRELOAD")) if v]
    changed = {**more, "HEAPTOP_DIR": proving.segments, **({"LD_PRELOAD": ":".join(ahead)} if ahead else {})}
    driving.run_to_end(program, [os.path.join(BENCH, "usage"), result, *("%s=%s" % v for v in changed.items()), "--",
                                 *real.command(program)], env=real.variables(program))
    for path in proving.segment_files():
        os.unlink(path)
    with open(result, encoding="ascii") as f:
        _, user, system, resident = f.read().split()
    return [float(user) + float(system), int(resident) / 1024]


def reported(name):
    """Allocations, images and the segments' memory."""
    driving, real, proving, programs = matrix()
    path = os.path.join(proving.scratch, "report.json")
    driving.run_to_end(programs[name], [HEAPTOP, "--report", "--format", "json", "-o", path, "--",
                                        *real.command(programs[name])], env=real.variables(programs[name]))
    with open(path, encoding="utf-8") as f:
        every = list(images(json.load(f)))
    return {"allocs": sum(i["totals"]["allocs"] for i in every), "images": len(every),
            "segment_mb": sum(i["self"]["segment_bytes"] for i in every) / 2**20}


class Soak(Section):
    key = "soak"
    asked_only = True
    head = "More real programs: user + system seconds of the plain run, and how many times that a recorder takes:"
    columns = [("program", 23), ("plain", 5), ("allocs", 6), ("images", 6), ("heaptop", 16), ("heaptrack", 16),
               ("MB", 14)]

    LEGEND = ("images: programs that were run, one after the other or at once, each with a segment; heaptrack "
              "is shown where there is one, since it does not follow children. MB: the largest resident set, what "
              "heaptop adds to it, and the memory of its segments. A program of less than %d ms has no ratio."
              % (LEAST_S * 1000))

    def rows(self):
        return list(matrix()[3])

    def measure(self, row, rounds):
        _, real, proving, programs = matrix()
        try:
            real.command(programs[row])
            if programs[row].user and not os.geteuid():
                raise proving.Skip("it does not run as root")
        except proving.Skip as why:
            return {"missing": str(why)}
        try:
            about = reported(row)
            ways = {name: (lambda more=more: used(row, more), rounds) for name, more in variants().items()
                    if name in ("plain", "heaptop") or name == "heaptrack" and about["images"] == 1}
            return {**rounds_run(rounds, ways), "report": about}
        except proving.Failure as why:
            raise OSError(str(why)) from why

    def lines(self, row, result):
        if "missing" in result:
            return []
        seconds = {name: [r[0] for r in runs] for name, runs in result.items() if name != "report"}
        resident = [statistics.median(r[1] for r in result[name]) for name in ("plain", "heaptop")]
        plain, about = statistics.median(seconds["plain"]), result["report"]
        times = [shown(ratios(seconds.get(name, []), seconds["plain"]) if plain >= LEAST_S else [], 2)
                 for name in ("heaptop", "heaptrack")]
        return [[row, "%.2f" % plain, millions(about["allocs"]), "%d" % about["images"], *times,
                 "%.0f +%.0f (%.0f)" % (resident[0], resident[1] - resident[0], about["segment_mb"])]]

    def notes(self, results):
        return [self.LEGEND] + ["%s: %s." % (row, result["missing"]) for row, result in results.items()
                                if "missing" in result]
