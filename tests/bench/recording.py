# SPDX-License-Identifier: GPL-3.0-or-later
"""What recordings cost: --record in the program, in heaptop and on disk, and --record-events beside
heaptrack as it is used, with its file."""

import os
import re
import shutil
import statistics
import subprocess
import time

import inputs
import programs
from measure import (TIMEOUT_S, added, environment, is_quick, rounds_run, scratch, segments, segments_remove, shown,
                     variants)
from places import B, BENCH, HEAPTOP, LIBRARY
from table import Section
from viewer import cpu_ns

MANY_SITES = os.path.join(B, "tests/targets/many_sites")
SETTLE_S, WATCH_S = 3, 12  # the call sites are in the file by then; what comes each second
BOUND_S = 150, 60  # the same for a file whose growth is bounded: what it may take at first is used by then
ROUNDS_MOST = 3  # a round of all takes half a minute
FILE = os.path.join(scratch, "recording")
LOST = re.compile(r"(\d+) of (\d+) events were lost")


def usage_read(name):
    """User + system seconds of a run under usage."""
    with open(os.path.join(scratch, name), encoding="ascii") as f:
        status, user, system, *_ = f.read().split()
    if status != "0":
        raise OSError("it ended with status " + status)
    return float(user) + float(system)


def usage(name, command):
    return [os.path.join(BENCH, "usage"), os.path.join(scratch, name), "--", *command]


def recorded(options, command):
    """Runs the command under heaptop. Seconds of both, those of the command, bytes of the file, stderr."""
    done = subprocess.run(usage("both", [HEAPTOP, *options, "--", *usage("program", command)]),
                          env=environment({**programs.VARIABLES, "HEAPTOP_DIR": segments}), cwd=scratch,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          timeout=TIMEOUT_S, check=True)
    segments_remove()
    return [usage_read("both"), usage_read("program"), os.stat(FILE).st_size, done.stderr]


def many_sites(way):
    """20,000 blocks each second are replaced at random, on a machine that is not busy."""
    process = subprocess.Popen([MANY_SITES, "100000", way], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env=environment({"LD_PRELOAD": LIBRARY, "HEAPTOP_DIR": segments}))
    process.stdout.readline()
    return process


def redis():
    process = subprocess.Popen(programs.PROGRAMS["redis-server"](), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               env=environment({"LD_PRELOAD": LIBRARY, "HEAPTOP_DIR": segments}))
    until = time.monotonic() + 30
    while programs.redis_ask("ping") != b"PONG" and time.monotonic() < until:
        time.sleep(0.05)
    return process


def watch(process, options, settle_s, watch_s):
    """Records a server: bytes and heaptop's processor time of each second."""
    heaptop = subprocess.Popen([HEAPTOP, "--headless", "--record", FILE, *options, "-a", str(process.pid)],
                               env=environment({"HEAPTOP_DIR": segments}), stderr=subprocess.DEVNULL)
    try:
        time.sleep(settle_s)
        before = os.stat(FILE).st_size, cpu_ns(heaptop.pid), time.monotonic()
        time.sleep(watch_s)
        after = os.stat(FILE).st_size, cpu_ns(heaptop.pid), time.monotonic()
    finally:
        heaptop.terminate()
        heaptop.wait(TIMEOUT_S)
    seconds = after[2] - before[2]
    return {"mb_per_hour": (after[0] - before[0]) / seconds * 3600 / 2**20,
            "cpu_percent": (after[1] - before[1]) / 1e7 / seconds, "begin_kb": before[0] / 1024}


def python():
    text = inputs.PYTHON.replace("range(6)", "range(18)")
    return [programs.need("python3"), programs.made("long.py", text)]


# How it is made, the aim, options, and for how long it is watched.
SERVERS = {"redis, idle": (redis, 2, [], SETTLE_S, WATCH_S),
           "10,000 busy sites": (lambda: many_sites("busy"), 60, [], SETTLE_S, WATCH_S),
           "the same, mixed": (lambda: many_sites("mixed"), 60, [], *BOUND_S),
           "without a bound": (lambda: many_sites("mixed"), 0, ["--record-rate", "0"], SETTLE_S, WATCH_S)}
COMMANDS = {"python3": python, "C++": lambda: [os.path.join(BENCH, "allocbound"), "600"]}


class Recording(Section):
    key = "recording"
    head = ("--record at one refresh a second: the program's time, that of the recorder alone taken as 100, the file "
            "(its rate after the first seconds), and heaptop's own time:")
    columns = [("program", 18), ("program's time, %", 19), ("file, MB/h", 11), ("aim", 4), ("begins with", 11),
               ("heaptop, of a core", 18)]

    def rows(self):
        return [*SERVERS, *COMMANDS]

    def measure(self, row, rounds):
        try:
            return self.server(row) if row in SERVERS else self.command(row, min(rounds, ROUNDS_MOST))
        except programs.Missing as why:
            return {"missing": str(why)}

    def server(self, row):
        process = SERVERS[row][0]()
        try:
            return watch(process, *SERVERS[row][2:])
        finally:
            process.kill()
            process.communicate()
            segments_remove()

    def command(self, row, rounds):
        command = COMMANDS[row]()
        options = ["--headless", "--record", FILE]
        return rounds_run(rounds, {
            "alone": (lambda: programs.used(row, command, variants()["heaptop"])[0], rounds),
            "recorded": (lambda: recorded(options, command)[:3], rounds)})

    def lines(self, row, result):
        if "missing" in result:
            return []
        if row in SERVERS:
            return [[row, "-", "%.2f" % result["mb_per_hour"], "< %d" % SERVERS[row][1] if SERVERS[row][1] else "-",
                     "%.0f KB" % result["begin_kb"], "%.2f %%" % result["cpu_percent"]]]
        runs = list(zip(result["recorded"], result["alone"]))
        share = statistics.median(100 * (both - alone) / alone for (both, alone, _), _ in runs)
        return [[row, shown([100 * r[1] / alone for r, alone in runs], 1), "-", "-",
                 "%.0f KB" % (runs[-1][0][2] / 1024), "%.1f %%" % share]]

    def notes(self, results):
        return ["The aim for the program's time is less than 101. begins with: the file after some seconds, which has "
                "all call sites and what was found of their names. Each second some 20,000 blocks of the busy sites "
                "are replaced at random; those of a site have one size, or several (mixed). Then --record-rate leaves "
                "refreshes out, after the first megabyte; without a bound has all of them. The last column of a "
                "command is the time of heaptop as a share of the command's, with names and the end."]


def events(options, command):
    both, alone, size, said = recorded(["--record-events", FILE, *options, "--headless"], command)
    lost = LOST.search(said)
    return [both, alone, size, 100 * int(lost[1]) / int(lost[2]) if lost else 0]


def heaptrack(command):
    """As a user calls it: its interpreter's time counts, and its file is compressed."""
    out = os.path.join(scratch, "heaptrack")
    subprocess.run(usage("both", ["heaptrack", "-o", out, *command]), env=environment(programs.VARIABLES), cwd=scratch,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT_S,
                   check=True)
    files = [os.path.join(scratch, name) for name in os.listdir(scratch) if name.startswith("heaptrack.")]
    size = sum(os.stat(path).st_size for path in files)
    for path in files:
        os.unlink(path)
    return [usage_read("both"), 0, size, 0]


CHURN = {
    "python3": lambda: programs.PROGRAMS["python3"](),
    "cc1plus -O1": lambda: programs.PROGRAMS["cc1plus -O1"](),
    "C++": lambda: programs.PROGRAMS["C++"](),
}


class Events(Section):
    key = "events"
    head = ("--record-events beside heaptrack -o: user + system seconds that each adds to the program's, its own "
            "processes included; and the files:")
    columns = [("program", 11), ("plain", 5), ("heaptop", 13), ("lost", 5), ("--lossless", 13), ("lost", 5),
               ("heaptrack", 13), ("MB, of heaptrack", 16)]

    def rows(self):
        return list(CHURN)

    def measure(self, row, rounds):
        rounds = min(rounds, ROUNDS_MOST)
        try:
            command = CHURN[row]()
        except programs.Missing as why:
            return {"missing": str(why)}
        ways = {"plain": (lambda: [programs.used(row, command, {})[0]], rounds),
                "events": (lambda: events([], command), rounds),
                "lossless": (lambda: events(["--lossless"], command), rounds)}
        if shutil.which("heaptrack") and not is_quick():
            ways["heaptrack"] = (lambda: heaptrack(command), rounds)
        return rounds_run(rounds, ways)

    def lines(self, row, result):
        if "missing" in result:
            return []
        plain = [r[0] for r in result["plain"]]
        cells = {name: shown(added([r[0] for r in result.get(name, [])], plain), 1)
                 for name in ("events", "lossless", "heaptrack")}
        lost = {name: "%.0f %%" % statistics.median(r[3] for r in result[name]) for name in ("events", "lossless")}
        sizes = ["%.1f" % (statistics.median(r[2] for r in result[name]) / 2**20) if name in result else "-"
                 for name in ("lossless", "heaptrack")]
        return [[row, "%.2f" % statistics.median(plain), cells["events"], lost["events"], cells["lossless"],
                 lost["lossless"], cells["heaptrack"], "%s, %s" % tuple(sizes)]]

    def notes(self, results):
        return ["The aim is half of heaptrack's seconds, and at most twice its file, which has no times finer than "
                "10 ms and does not say which block was freed. lost: events that were overwritten before heaptop "
                "read them; the program had both processors to share with it. MB: the lossless file, and heaptrack's."]
