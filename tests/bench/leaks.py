# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a program stops for a leak scan, by its own clock, and how long the whole scan takes;
beside LeakSanitizer's and memcheck's on the same program."""

import json
import os
import shutil
import statistics
import subprocess
import time

from measure import environment, is_quick, scratch, segments, segments_remove
from places import BENCH, HEAPTOP, LIBRARY, ROOT
from table import Section

PROGRAM = os.path.join(BENCH, "leak_pause")
SIZES = {"100 MB": 100, "1 GB": 1000, "4 GB": 4000, "10 MB": 10}  # as it asks for, in blocks of 200 bytes
WAYS = {"stop and read": "never", "copy on write": "always"}
# Memory per byte of heap: the block with malloc's header, the live table, and the viewer's copy of each block.
MEMORY_FACTOR = 1.8
MEMORY_SPARE_MB = 500
# The aims: how long the program stops to be copied, and how fast it is read if it is not copied.
AIM_MS, AIM_MS_GB, AIM_GB_S = 5, 20, 1.5
READERS_MAX = 4  # src/leak/analysis/block_words.h
MEMCHECK_MB, MEMCHECK_S = 100, 600


def memory_mb():
    """Memory that is available without swapping."""
    with open("/proc/meminfo", encoding="ascii") as f:
        found = dict(line.split(":") for line in f)
    return int(found["MemAvailable"].split()[0]) // 1024


class Program:
    """The program, or why not: `failed`."""

    def __init__(self, command, more):
        self.process = subprocess.Popen(command, env=environment(more), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        said = self.process.stdout.readline().split()
        self.blocks = int(said[1]) if said[:1] == ["ready"] else 0
        self.failed = not self.blocks

    def gap_ms(self, line=""):
        """The longest it stood still since this was asked last."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline()) / 1e6

    def end_s(self):
        """How long it takes to end once it has said that it does."""
        self.process.stdin.close()
        self.process.stdout.readline()
        start = time.monotonic()
        self.process.wait(MEMCHECK_S)
        return time.monotonic() - start

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def scan(program, copying):
    out = os.path.join(scratch, "leaks.json")
    program.gap_ms()
    subprocess.run([HEAPTOP, "--leak-check", "--leak-copy", copying, "--format", "json", "-o", out, "-a",
                    str(program.process.pid)], env=environment({"HEAPTOP_DIR": segments}), check=True)
    gap = program.gap_ms()
    with open(out, encoding="utf-8") as f:
        leaks = json.load(f)["leaks"]
    if leaks["failed"] or leaks["definite"]["blocks"] != 100:
        raise OSError("not 100 leaks: %s" % (leaks["failed"] or leaks["definite"]))
    return {"gap_ms": gap, "stop_ms": leaks["stop_ns"] / 1e6, "scan_ms": leaks["scan_ns"] / 1e6,
            "read_bytes": leaks["scanned_bytes"], "how": leaks["how"]}


def lsan(megabytes, rounds):
    """Its check in the same program, built with it; None: not here."""
    built = os.path.join(scratch, "leak_pause-lsan")
    if not os.path.exists(built) and subprocess.run(
            [os.environ.get("CC", "cc"), "-O2", "-fsanitize=leak", "-o", built,
             os.path.join(ROOT, "tests/bench/leak_pause.c")], stderr=subprocess.DEVNULL, check=False).returncode:
        return None
    with Program([built, str(megabytes)], {}) as program:
        if program.failed:
            return None
        program.gap_ms()
        return [program.gap_ms("leaks") for _ in range(min(rounds, 2))]


def memcheck(megabytes):
    """Its check at the end of the same program, and the time until then; None: not here, or too long."""
    if megabytes > MEMCHECK_MB or not shutil.which("valgrind"):
        return None
    start = time.monotonic()
    with Program(["valgrind", "--leak-check=full", PROGRAM, str(megabytes)], {}) as program:
        if program.failed:
            return None
        before = time.monotonic() - start
        return {"end_ms": program.end_s() * 1e3, "before_ms": before * 1e3}


def ms(value):
    if value < 10:
        return "%.1f ms" % value
    return "%.0f ms" % value if value < 1000 else "%.1f s" % (value / 1e3)


def aim_ms(row):
    return AIM_MS + AIM_MS_GB * SIZES[row] / 1000


def middle(values):
    return statistics.median(values)


class Leaks(Section):
    key = "leaks"
    head = ("Leak scans of a running program with blocks of 200 bytes on average in one list: how long the program "
            "stops, by its own clock, and how long the scan takes until the report.")
    columns = [("heap, blocks", 14), ("stop and read", 13), ("scan", 7), ("copy on write", 14), ("scan", 7),
               ("LeakSanitizer", 13), ("memcheck", 8)]

    def rows(self):
        return ["10 MB"] if is_quick() else ["100 MB", "1 GB", "4 GB"]

    def measure(self, row, rounds):
        megabytes = SIZES[row]
        if memory_mb() < megabytes * MEMORY_FACTOR + MEMORY_SPARE_MB:
            return {"skipped": "%d MB of memory are free here, too few" % memory_mb()}
        result = {how: [] for how in WAYS}
        try:
            with Program([PROGRAM, str(megabytes)], {"LD_PRELOAD": LIBRARY, "HEAPTOP_DIR": segments}) as program:
                if program.failed:
                    raise OSError("the program did not get its heap")
                result["blocks"] = program.blocks
                program.gap_ms()
                time.sleep(0.5)
                result["idle_ms"] = program.gap_ms()
                result["fork_ms"] = [program.gap_ms("fork") for _ in range(rounds)]
                for _ in range(rounds):
                    for how, copying in WAYS.items():
                        result[how].append(scan(program, copying))
        finally:
            segments_remove()
        result["lsan"] = None if is_quick() else lsan(megabytes, rounds)
        result["memcheck"] = None if is_quick() else memcheck(megabytes)
        return result

    def lines(self, row, result):
        if "skipped" in result:
            return [[row] + ["-"] * (len(self.columns) - 1)]
        cells = ["%s, %.1f M" % (row, result["blocks"] / 1e6)]
        for how in WAYS:
            of = result[how]
            if all(s["how"] == how for s in of):
                gap = ms(middle([s["gap_ms"] for s in of]))
                if how == "copy on write":
                    gap += ", aim %.0f" % aim_ms(row)
                cells += [gap, ms(middle([s["scan_ms"] for s in of]))]
            else:
                cells += ["-", "-"]
        cells.append(ms(middle(result["lsan"])) if result["lsan"] else "-")
        cells.append(ms(result["memcheck"]["end_ms"]) if result["memcheck"] else "-")
        return [cells]

    def notes(self, results):
        whole = [r for r in results.values() if "skipped" not in r]
        notes = ["%s: %s." % (row, r["skipped"]) for row, r in results.items() if "skipped" in r]
        if not whole:
            return notes
        rates = [s["read_bytes"] / s["stop_ms"] / 1e6 for r in whole for s in r["stop and read"]]
        readers = min(len(os.sched_getaffinity(0)), READERS_MAX)
        idle = max(r["idle_ms"] for r in whole)
        forks = ["%s for %s" % (ms(middle(r["fork_ms"])), row) for row, r in results.items() if r in whole]
        return notes + [
            "The two ways are --leak-copy never and always. Without a scan the program stopped for up to %s. The "
            "kernel alone takes %s to copy it, as for any fork; the aim was %d ms and %d ms per GB in all. The stopped "
            "program is read at %.1f to %.1f GB/s, %.1f to %.1f for each of %d processors, where the aim "
            "was %.1f. LeakSanitizer's scan is its check on demand. Memcheck's is the one at the end of a program "
            "that ran many times slower until then. Under both the program stops for the whole scan." % (
                ms(idle), ", ".join(forks), AIM_MS, AIM_MS_GB, min(rates), max(rates), min(rates) / readers,
                max(rates) / readers, readers, AIM_GB_S)]
