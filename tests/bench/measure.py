# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parts of the bench share: the profilers to compare, running something under each of them
round by round, and writing numbers as min, median and max."""

import atexit
import functools
import glob
import os
import shutil
import signal
import stat
import statistics
import subprocess
import sys
import tempfile

from places import BENCH, LIBRARY

HEAPTRACK = ("/usr/lib/heaptrack/libheaptrack_preload.so", "/usr/lib64/heaptrack/libheaptrack_preload.so",
             "/usr/lib/*/heaptrack/libheaptrack_preload.so")
JEMALLOC = ("/usr/lib/*/libjemalloc.so.2", "/usr/lib64/libjemalloc.so.2")
TIMEOUT_S = 600

folders = []


def folder_make(where=None):
    """A folder that goes with us, also when a signal ends us."""
    folders.append(tempfile.mkdtemp(prefix="heaptop-bench-", dir=where))
    return folders[-1]


def cleanup():
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


atexit.register(cleanup)
signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
segments = folder_make("/dev/shm")
scratch = folder_make()


def first_file(patterns):
    return next((path for pattern in patterns for path in sorted(glob.glob(pattern))), None)


def jemalloc_profiles(path):
    """Whether this build of jemalloc was made with its profiler."""
    env = {"LD_PRELOAD": path, "MALLOC_CONF": "stats_print:true"}
    done = subprocess.run([sys.executable, "-c", ""], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    return b"config.prof: true" in done.stdout


def null_device():
    """A /dev/null of our own: heaptrack locks its output, and cannot share one with another run of it.
    Not everybody may make one."""
    path = os.path.join(scratch, "null")
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.stat("/dev/null").st_rdev)
        with open(path, "wb"):
            return path
    except OSError:
        return "/dev/null"


_quick = False


def quick():
    """Before the first variants(): heaptop only, beside nothing."""
    global _quick
    _quick = True


def is_quick():
    return _quick


@functools.lru_cache
def variants():
    """Environment of each way to run a program, by its name."""
    found = {"plain": {}, "heaptop": {"LD_PRELOAD": LIBRARY, "HEAPTOP_DIR": segments}}
    if _quick:
        return found
    heaptrack, jemalloc = first_file(HEAPTRACK), first_file(JEMALLOC)
    if heaptrack:
        found["heaptrack"] = {"LD_PRELOAD": heaptrack, "DUMP_HEAPTRACK_OUTPUT": null_device()}
    if jemalloc and jemalloc_profiles(jemalloc):
        found["jemalloc"] = {"LD_PRELOAD": jemalloc}
        found["jemalloc-prof"] = {"LD_PRELOAD": jemalloc,
                                  "MALLOC_CONF": "prof:true,lg_prof_sample:0,prof_final:false"}
    return found


def walker():
    """unw_backtrace at each allocation, which is the least that any recorder with it pays."""
    return {} if _quick else {"unwind": {"LD_PRELOAD": os.path.join(BENCH, "walker-unwind.so")}}


def environment(more=()):
    """Ours without what would change a program's allocations, and `more`."""
    env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "MALLOC_CONF", "DEBUGINFOD_URLS")
           and not k.startswith(("HEAPTOP_", "GIT_", "PYTHON"))}
    env["LC_ALL"] = "C.UTF-8"
    env.update(more)
    return env


def segments_remove():
    for name in os.listdir(segments):
        os.unlink(os.path.join(segments, name))


def micro(arguments, more, binary="micro"):
    """Wall and processor nanoseconds per pair, and bytes of the segment that the run left."""
    done = subprocess.run([os.path.join(BENCH, binary), *map(str, arguments)], env=environment(more),
                          stdout=subprocess.PIPE, timeout=TIMEOUT_S, check=True)
    memory = sum(os.stat(os.path.join(segments, name)).st_blocks * 512 for name in os.listdir(segments))
    segments_remove()
    return [*map(float, done.stdout.split()), memory]


def rounds_run(rounds, ways):
    """Each way once, in turn, again and again: a slow moment of the machine meets all of them. `ways` is
    name: (function, rounds at most); the result name: list of what the function returned."""
    results = {name: [] for name in ways}
    for number in range(rounds):
        for name, (function, most) in ways.items():
            if number < most:
                results[name].append(function())
    return results


def ratios(values, base):
    return [a / b for a, b in zip(values, base) if b > 0]


def added(values, base):
    return [a - b for a, b in zip(values, base)]


def shown(values, digits=None, spread=True):
    """"median (min-max)", or "-" when there is nothing."""
    if not values:
        return "-"
    median = statistics.median(values)
    if digits is None:
        digits = 1 if max(map(abs, values)) < 10 else 0
    if not spread or len(values) < 2:
        return "%.*f" % (digits, median)
    return "%.*f (%.*f-%.*f)" % (digits, median, digits, min(values), digits, max(values))


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        names = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
    return {"processor": names[0] if names else os.uname().machine, "processors": os.cpu_count() or 1,
            "kernel": os.uname().release, "libc": os.confstr("CS_GNU_LIBC_VERSION"),
            "load": os.getloadavg()[0]}
