#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What heaptop costs. The program: nanoseconds per malloc/free pair, plain, under heaptop and under
heaptrack, interleaved round by round so that a slow moment of the machine meets all three. The viewer:
processor time, first frame, bytes per frame. Prints tables, writes JSON; a time never fails it."""

import argparse
import fcntl
import glob
import json
import os
import pty
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
B = os.path.join(ROOT, os.environ.get("B", "build"))
MICRO = os.path.join(B, "tests/bench/micro")
MANY_SITES = os.path.join(B, "tests/targets/many_sites")
HEAPTOP = os.path.join(B, "heaptop")
LIBRARY = os.path.join(B, "libheaptop.so")
HEAPTRACK = ("/usr/lib/heaptrack/libheaptrack_preload.so", "/usr/lib64/heaptrack/libheaptrack_preload.so")

BENCHES = [("same stack, depth %d" % d, ["same", str(d)]) for d in (5, 15, 30, 60)] + [
    ("%s, depth %d" % (title, d), [name, str(d)])
    for title, name in (("inner 3 change", "inner-3"), ("inner half changes", "inner-half"),
                        ("all frames change", "all")) for d in (15, 30)] + [
    ("working set of 1k, depth 15", ["set", "15", "0", "1000"]),
    ("working set of 100k, depth 15", ["set", "15", "0", "100000"]),
    ("grow only, depth 15", ["grow", "15"]),
] + [("same stack, %d thread%s" % (n, "s" if n > 1 else ""), ["threads", "15", "0", str(n)])
     for n in (1, 2, 4, 8, 16) if n <= (os.cpu_count() or 1)]

SITES, BLOCKS = 10000, 1000000
COLS, ROWS = 100, 30
SETTLE_S, WATCH_S = 4, 12
GAP_S = 0.08  # silence that ends a frame: frames come once a second, in one burst


def variants(segments):
    found = {"plain": {}, "heaptop": {"LD_PRELOAD": LIBRARY, "HEAPTOP_DIR": segments}}
    for path in HEAPTRACK:
        if os.path.exists(path):
            found["heaptrack"] = {"LD_PRELOAD": path, "DUMP_HEAPTRACK_OUTPUT": "/dev/null"}
            break
    return found


def micro(arguments, more):
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and not k.startswith("HEAPTOP_")}
    done = subprocess.run([MICRO, *arguments], env={**env, **more}, stdout=subprocess.PIPE, timeout=300,
                          check=True)
    return float(done.stdout.split()[0])


def spread(values):
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}


def measure(arguments, kinds, rounds):
    """ns of every kind in every round, and each kind's ratio to plain of the same round."""
    ns = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind, more in kinds.items():
            ns[kind].append(micro(arguments, more))
    return {kind: {"ns": spread(ns[kind]), "added_ns": spread([a - b for a, b in zip(ns[kind], ns["plain"])]),
                   "ratio": spread([a / b for a, b in zip(ns[kind], ns["plain"])])} for kind in kinds}


def shown(s, digits):
    return "%.*f-%.*f-%.*f" % (digits, s["min"], digits, s["median"], digits, s["max"])


def program_cost(rounds, segments):
    kinds = variants(segments)
    results = []
    print("ns per pair, and ratio to plain: min-median-max of %d rounds" % rounds)
    head = "%-30s %-20s" % ("", "plain ns")
    for kind in list(kinds)[1:]:
        head += " %-22s %-18s" % (kind + " ns", "ratio")
    print(head)
    for title, arguments in BENCHES:
        result = measure(arguments, kinds, rounds)
        results.append({"bench": title, **result})
        line = "%-30s %-20s" % (title, shown(result["plain"]["ns"], 1))
        for kind in list(kinds)[1:]:
            line += " %-22s %-18s" % (shown(result[kind]["ns"], 1), shown(result[kind]["ratio"], 2))
        print(line)
        sys.stdout.flush()
    if "heaptrack" not in kinds:
        print("heaptrack is not installed (make deps): not compared")
    return results


def cpu_ns(pid):
    """Processor time of all threads so far."""
    total = 0
    for path in glob.glob("/proc/%d/task/*/schedstat" % pid):
        with open(path, encoding="ascii") as f:
            total += int(f.read().split()[0])
    return total


def pty_start(command, env):
    pid, master = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
        os.execvpe(command[0], command, env)
    return pid, master


def bursts(master, until):
    """Bytes that come until then, as (time of the last byte, bytes) of each frame."""
    frames = []
    while True:
        left = until - time.monotonic()
        if left <= 0:
            return frames
        if not select.select([master], [], [], left)[0]:
            return frames
        try:
            got = len(os.read(master, 65536))
        except OSError:
            return frames
        now = time.monotonic()
        if frames and now - frames[-1][0] < GAP_S:
            frames[-1] = (now, frames[-1][1] + got)
        else:
            frames.append((now, got))


def viewer_watch(pid, env):
    start = time.monotonic()
    viewer, master = pty_start([HEAPTOP, "-d", "1", "-a", str(pid)], env)
    try:
        first = bursts(master, start + SETTLE_S)
        before = cpu_ns(viewer), time.monotonic()
        steady = bursts(master, before[1] + WATCH_S)
        used = cpu_ns(viewer) - before[0]
        elapsed = time.monotonic() - before[1]
        settle_cpu = before[0]
        os.write(master, b"q")
        bursts(master, time.monotonic() + 1)
    finally:
        try:
            os.kill(viewer, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(viewer, 0)
        os.close(master)
    return {"first_frame_ms": (first[0][0] - start) * 1e3 if first else None,
            "first_frame_bytes": first[0][1] if first else None,
            "start_cpu_ms": settle_cpu / 1e6,
            "cpu_percent": 100 * used / 1e9 / elapsed,
            "frames": len(steady),
            "bytes_per_frame": statistics.median([b for _, b in steady]) if steady else 0,
            "bytes_per_frame_max": max([b for _, b in steady], default=0)}


def viewer_cost(kind, segments):
    env = {**os.environ, "HEAPTOP_DIR": segments, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    program = subprocess.Popen([MANY_SITES, str(BLOCKS), kind], env={**env, "LD_PRELOAD": LIBRARY},
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        program.stdout.readline()
        return viewer_watch(program.pid, env)
    finally:
        program.kill()
        program.communicate()


def viewer_costs(segments):
    results = {}
    print("\nviewer at 1 Hz, %d sites, %d live blocks, %dx%d" % (SITES, BLOCKS, COLS, ROWS))
    for kind in ("idle", "churn"):
        r = results[kind] = viewer_cost(kind, segments)
        if r["first_frame_ms"] is None:
            print("%-6s no frame came" % kind)
            continue
        print("%-6s first frame %.0f ms (%d bytes), start %.0f ms of processor; then %.2f %% of one core, "
              "%d frames in %d s, %d bytes per frame (most %d)" % (
                  kind, r["first_frame_ms"], r["first_frame_bytes"], r["start_cpu_ms"], r["cpu_percent"],
                  r["frames"], WATCH_S, r["bytes_per_frame"], r["bytes_per_frame_max"]))
        sys.stdout.flush()
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", default=os.path.join(B, "bench.json"))
    parser.add_argument("--only", choices=("program", "viewer"))
    options = parser.parse_args()
    segments = tempfile.mkdtemp(prefix="heaptop-bench-", dir="/dev/shm")
    out = {"processors": os.cpu_count(), "rounds": options.rounds}
    try:
        if options.only != "viewer":
            out["program"] = program_cost(options.rounds, segments)
        if options.only != "program":
            out["viewer"] = viewer_costs(segments)
    finally:
        shutil.rmtree(segments, ignore_errors=True)
    with open(options.output, "w", encoding="utf-8") as f:
        json.dump(out, f, indent=1)
        f.write("\n")


main()
