# SPDX-License-Identifier: GPL-3.0-or-later
"""What the viewer takes while it watches a program with many sites and blocks: processor time and bytes
sent to the terminal."""

import fcntl
import glob
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import termios
import time

from measure import environment, segments, segments_remove
from places import B, HEAPTOP, LIBRARY
from table import Section

MANY_SITES = os.path.join(B, "tests/targets/many_sites")
SITES, BLOCKS = 10000, 1000000
COLS, ROWS = 100, 30
SETTLE_S, WATCH_S = 4, 12
GAP_S = 0.08  # silence that ends a frame: frames come once a second, in one burst


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


def watch(pid, env):
    start = time.monotonic()
    viewer, master = pty_start([HEAPTOP, "-d", "1", "-a", str(pid)], env)
    try:
        first = bursts(master, start + SETTLE_S)
        before = cpu_ns(viewer), time.monotonic()
        steady = bursts(master, before[1] + WATCH_S)
        used = cpu_ns(viewer) - before[0]
        elapsed = time.monotonic() - before[1]
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
            "start_cpu_ms": before[0] / 1e6,
            "cpu_percent": 100 * used / 1e9 / elapsed,
            "frames": len(steady),
            "bytes_per_frame": statistics.median([b for _, b in steady]) if steady else 0,
            "bytes_per_frame_max": max([b for _, b in steady], default=0)}


class Viewer(Section):
    key = "viewer"
    head = "The viewer at one frame a second, {:,} sites, {:,} live blocks, {}x{}:".format(
        SITES, BLOCKS, COLS, ROWS)
    columns = [("program", 14), ("first frame", 11), ("until it is idle", 18), ("then, of a core", 15),
               ("bytes a frame (most)", 20)]

    def rows(self):
        return ["idle", "churn"]

    def measure(self, row, rounds):
        env = environment({"HEAPTOP_DIR": segments, "TERM": "xterm-256color"})
        program = subprocess.Popen([MANY_SITES, str(BLOCKS), row], env={**env, "LD_PRELOAD": LIBRARY},
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            program.stdout.readline()
            return watch(program.pid, env)
        finally:
            program.kill()
            program.communicate()
            segments_remove()

    def lines(self, row, result):
        if result["first_frame_ms"] is None:
            return [[row, "none came", "-", "-", "-"]]
        return [[row, "%.0f ms" % result["first_frame_ms"], "%.0f ms processor" % result["start_cpu_ms"],
                 "%.2f %%" % result["cpu_percent"],
                 "%.0f (%d)" % (result["bytes_per_frame"], result["bytes_per_frame_max"])]]
