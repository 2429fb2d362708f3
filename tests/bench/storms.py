# SPDX-License-Identifier: GPL-3.0-or-later
"""Many short processes, forked and executed one after another: what each costs more than in the plain run."""

import os
import statistics
import subprocess

from measure import TIMEOUT_S, added, environment, rounds_run, segments_remove, shown, variants
from places import BENCH
from table import Section

RECORDERS = ("heaptop", "heaptrack")
_WALL, USER, SYSTEM, FAULTS = range(4)
STORM = os.path.join(BENCH, "storm")
# Name: (mode, processes, what each does).
STORMS = {
    "exec true": ("exec", 300, ["/bin/true"]),
    "exec, 1,000 blocks": ("exec", 300, [STORM, "work", "1000"]),
    "exec python3": ("exec", 30, ["/usr/bin/python3", "-I", "-c", ""]),
    "fork": ("fork", 300, ["0"]),
    "fork, 1,000 blocks": ("fork", 300, ["1000"]),
}


def storm(row, more):
    """Milliseconds of processor time and minor faults of each process."""
    mode, processes, rest = STORMS[row]
    command = [STORM, mode, str(processes)]
    if mode == "exec":  # for the command alone
        command += ["%s=%s" % variable for variable in more.items()] + ["--", *rest]
        more = {}
    else:
        command += rest
    try:
        done = subprocess.run(command, env=environment(more), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=TIMEOUT_S, check=True)
    finally:
        segments_remove()
    numbers = [float(number) for number in done.stdout.split()]
    return [(numbers[USER] + numbers[SYSTEM]) / 1e3, numbers[SYSTEM] / 1e3, numbers[FAULTS]]


def column(result, name, which):
    return [numbers[which] for numbers in result.get(name, [])]


class Storms(Section):
    key = "storms"
    head = ("Many short processes, one after another: milliseconds of processor time of each, and what a recorder adds "
            "to it:")
    columns = [("process", 18), ("plain", 5), ("+ heaptop", 18), ("kernel", 6), ("faults", 6),
               ("+ heaptrack", 18), ("faults", 6)]

    def rows(self):
        return list(STORMS)

    def measure(self, row, rounds):
        return rounds_run(rounds, {name: (lambda more=more: storm(row, more), rounds)
                                   for name, more in variants().items() if not name.startswith("jemalloc")})

    def lines(self, row, result):
        more = {name: [added(column(result, name, which), column(result, "plain", which)) for which in range(3)]
                for name in RECORDERS if name in result}
        ours, theirs = more["heaptop"], more.get("heaptrack", [[], [], []])
        return [[row, "%.2f" % statistics.median(column(result, "plain", 0)), shown(ours[0], 2),
                 shown(ours[1], 2, False), shown(ours[2], 0, False), shown(theirs[0], 2),
                 shown(theirs[2], 0, False)]]

    def notes(self, results):
        return ["kernel: the system time in that. faults: minor page faults that it adds. heaptrack does not record "
                "in the children of a fork."]
