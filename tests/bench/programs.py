# SPDX-License-Identifier: GPL-3.0-or-later
"""Real programs under each profiler: processor time, memory, and what heaptop's own report says of the
run. Each is run directly, not by a shell or a wrapper that would carry the profiler too."""

import json
import os
import shutil
import statistics
import subprocess
import time

import inputs
from measure import (TIMEOUT_S, added, environment, ratios, rounds_run, scratch, segments_remove, shown,
                     variants, walker)
from places import BENCH, HEAPTOP
from table import Section

SLOW = "jemalloc", "jemalloc-prof"  # seconds to minutes a run: one round
REDIS_REQUESTS = 100000


class Missing(Exception):
    """What the program needs is not installed."""


def need(program):
    path = shutil.which(program, path="/usr/bin:/bin:/usr/local/bin")
    if not path:
        raise Missing(program + " is not installed")
    return path


def made(name, text):
    path = os.path.join(scratch, name)
    if not os.path.exists(path):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    return path


def cc1():
    done = subprocess.run([need("gcc"), "-print-prog-name=cc1"], stdout=subprocess.PIPE, check=True)
    return [done.stdout.decode().strip(), "-quiet", "-O2", "-fpreprocessed",
            made("text.i", inputs.c_text(240)), "-o", "/dev/null"]


def cc1plus():
    done = subprocess.run([need("g++"), "-print-prog-name=cc1plus"], stdout=subprocess.PIPE, check=True)
    text = os.path.join(scratch, "text.ii")
    if not os.path.exists(text):
        subprocess.run([need("g++"), "-std=c++17", "-E", "-o", text, made("text.cc", inputs.cxx_text(2))],
                       env=environment(), check=True)
    return [done.stdout.decode().strip(), "-quiet", "-O1", "-std=c++17", "-fpreprocessed", text, "-o", "/dev/null"]


def clang(level):
    return [need("clang++"), "-std=c++17", level, "-c", made("text.cc", inputs.cxx_text(2)),
            "-o", os.path.join(scratch, "text.o")]


def git():
    repository = os.path.join(scratch, "repository")
    if not os.path.exists(repository):
        inputs.repository_make(repository, 600, 120)
    # Threads would make the processor time depend on who comes first.
    return [need("git"), "-C", repository, "-c", "pack.threads=1", "gc", "-q", "--aggressive"]


JQ = "map(select(.at.x > 100)) | group_by(.tags[0]) | map({n: length, s: (map(.at.x) | add)})"
PROGRAMS = {
    "python3": lambda: [need("python3"), made("work.py", inputs.PYTHON)],
    "C++": lambda: [os.path.join(BENCH, "allocbound"), "150"],
    "cc1 -O2": cc1,
    "cc1plus -O1": cc1plus,
    "clang++ -O0": lambda: clang("-O0"),
    "clang++ -O1": lambda: clang("-O1"),
    "node": lambda: [need("node"), made("work.js", inputs.NODE)],
    "perl": lambda: [need("perl"), made("work.pl", inputs.PERL)],
    "sqlite3": lambda: [need("sqlite3"), ":memory:", ".read " + made("work.sql", inputs.SQL)],
    "bc": lambda: [need("bc"), "-q", made("work.bc", inputs.BC)],
    "redis-server": lambda: [need("redis-server"), "--port", "0", "--unixsocket", redis_socket(),
                             "--save", ""],
    "git gc": git,
    "jq": lambda: [need("jq"), "-c", JQ, made("text.json", inputs.json_text(60000))],
}
VARIABLES = {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
             "GIT_CONFIG_NOSYSTEM": "1"}


def redis_socket():
    return os.path.join(scratch, "redis.socket")


def redis_ask(*arguments):
    return subprocess.run([need("redis-cli"), "-s", redis_socket(), *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=environment(), check=False).stdout.strip()


def redis_drive():
    """Keeps the server busy, and ends it."""
    until = time.monotonic() + 60
    while redis_ask("ping") != b"PONG" and time.monotonic() < until:
        time.sleep(0.05)
    subprocess.run([need("redis-benchmark"), "-s", redis_socket(), "-n", str(REDIS_REQUESTS), "-r", "10000",
                    "-P", "16", "-q", "-t", "set,get,lpush,hset,sadd"], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env=environment(), timeout=TIMEOUT_S, check=True)
    redis_ask("shutdown", "nosave")


DRIVERS = {"redis-server": redis_drive}


def run(row, command):
    """Runs the command to its end, with a client where it needs one. Its status."""
    with subprocess.Popen(command, env=environment(VARIABLES), cwd=scratch, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            if row in DRIVERS:
                DRIVERS[row]()
            return process.wait(TIMEOUT_S)
        except BaseException:
            process.terminate()
            raise
        finally:
            segments_remove()


def used(row, command, more):
    """Processor seconds and the largest resident set in MB."""
    result = os.path.join(scratch, "usage")
    if run(row, [os.path.join(BENCH, "usage"), result, *("%s=%s" % v for v in more.items()), "--",
                 *command]) != 0:
        raise OSError("usage could not run " + row)
    with open(result, encoding="ascii") as f:
        status, user, system, resident, _ = f.read().split()
    if status != "0":
        raise OSError("%s ended with status %s" % (row, status))
    return [float(user) + float(system), int(resident) / 1024]


def images(report):
    yield report
    for child in report["children"]:
        yield from images(child)


def reported(row):
    """Allocations and the segments' memory, of all images of the program."""
    path = os.path.join(scratch, "report.json")
    run(row, [HEAPTOP, "--report", "--format", "json", "-o", path, "--", *PROGRAMS[row]()])
    with open(path, encoding="utf-8") as f:
        every = list(images(json.load(f)))
    return {"allocs": sum(i["totals"]["allocs"] for i in every),
            "segment_mb": sum(i["self"]["segment_bytes"] for i in every) / 2**20}


def millions(count):
    return "%.1fM" % (count / 1e6) if count >= 1e5 else "%.2fM" % (count / 1e6)


class Programs(Section):
    key = "programs"
    head = ("Real programs: user + system seconds of the plain run, and the time under each recorder as a multiple "
            "of it:")
    columns = [("program", 12), ("plain", 5), ("allocs", 6), ("heaptop", 16), ("ns", 4), ("heaptrack", 9),
               ("walk", 4), ("je", 4), ("MB", 12)]

    LEGEND = ("ns: what heaptop adds for each allocation. walk: unw_backtrace at each allocation, and nothing "
              "else. je: jemalloc's profiler at every allocation, as a "
              "multiple of jemalloc without it, one run. MB: the largest resident set, what heaptop adds to it, "
              "and the memory of its segments. python3 runs with PYTHONMALLOC=malloc. C++ is "
              "tests/bench/allocbound.cc: maps, strings, regular expressions and exceptions. bc factorises "
              "products of two primes. redis-server "
              "is the server's time alone. heaptrack does not follow the children of git gc.")

    def rows(self):
        return list(PROGRAMS)

    def measure(self, row, rounds):
        try:
            command = PROGRAMS[row]()
        except Missing as why:
            return {"missing": str(why)}
        ways = {name: (lambda more=more: used(row, command, more), 1 if name in SLOW else rounds)
                for name, more in {**variants(), **walker()}.items()}
        if row.startswith("git"):
            ways.pop("heaptrack", None)  # it does not follow the children, which do the work
        return {**rounds_run(rounds, ways), "report": reported(row)}

    def lines(self, row, result):
        if "missing" in result:
            return []
        seconds = {name: [r[0] for r in runs] for name, runs in result.items() if name != "report"}
        resident = [statistics.median(r[1] for r in result[name]) for name in ("plain", "heaptop")]
        allocs, segment = result["report"]["allocs"], result["report"]["segment_mb"]
        each = [1e9 * s / allocs for s in added(seconds["heaptop"], seconds["plain"])]
        recorders = [shown(ratios(seconds.get(name, []), seconds["plain"]), 2, name == "heaptop")
                     for name in ("heaptop", "heaptrack", "unwind")]
        slow = ratios(seconds.get("jemalloc-prof", []), seconds.get("jemalloc", []))
        return [[row, "%.2f" % statistics.median(seconds["plain"]), millions(allocs), recorders[0],
                 shown(each, 0, False), recorders[1], recorders[2], shown(slow, spread=False),
                 "%.0f +%.0f (%.0f)" % (resident[0], resident[1] - resident[0], segment)]]

    def notes(self, results):
        said = [self.LEGEND]
        said += ["%s: %s." % (row, result["missing"]) for row, result in results.items() if "missing" in result]
        return said
