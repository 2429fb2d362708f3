# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of core files share: the ways to get a core, reports of it, and what must be equal to the program's."""

import contextlib
import glob
import json
import os
import resource
import signal
import subprocess
import tempfile

from proving import B, HEAPTOP, Skip, check_equal, environment, need, run, scratch

# What differs between a scan of a process and one of its core.
OF_THE_WAY = ("how", "no_copy", "stop_ns", "scan_ns", "scanned_bytes", "unread_bytes", "at_ns")
OF_THE_MOMENT = ("peak_ns",)  # at a peak that still holds: now
# gdb before 14 drops zmm16 to zmm31, and more, on processors whose XSAVE layout is not Intel's.
NO_VECTORS = ("--leak-roots", "registers,stacks,tls,globals,maps")


def report_of(*options):
    out = os.path.join(scratch, "report.json")
    done = run([HEAPTOP, "--leak-check", "--format", "json", "-o", out, *options])
    check_equal(done.returncode, 0, "status of %s: %s" % (options, done.stderr.decode()))
    with open(out, encoding="utf-8") as f:
        return json.load(f)


def check_same(core, live):
    totals = {k: v for k, v in live["totals"].items() if k not in OF_THE_MOMENT}
    check_equal({k: core["totals"][k] for k in totals}, totals, "totals")
    for key, value in live["leaks"].items():
        if key not in OF_THE_WAY:
            check_equal(core["leaks"].get(key), value, key)
    check_equal(core["leaks"]["how"], "core file", "how")
    names = [(s["id"], s["live_bytes"], [f.get("function") for f in s["stack"]]) for s in live["sites"]]
    check_equal([(s["id"], s["live_bytes"], [f.get("function") for f in s["stack"]]) for s in core["sites"]], names,
                "call sites")


def segment_of(pid):
    with open("/proc/%d/maps" % pid, encoding="ascii") as f:
        return next(line.split()[5] for line in f if "/heaptop-" in line)


def blocks_of(path):
    return os.stat(path).st_blocks


def stopped(program):
    """The program stands still from now on."""
    os.kill(program.pid, signal.SIGSTOP)
    os.waitpid(program.pid, os.WUNTRACED)


def gcore_of(pid):
    path = os.path.join(scratch, "core")
    done = subprocess.run([need("gcore"), "-o", path, str(pid)], capture_output=True, env=environment(), check=False)
    path = "%s.%d" % (path, pid)
    if not os.path.exists(path):
        raise Skip("gcore: " + done.stderr.decode()[-200:])
    return path


def saved(program, *options):
    """What --save writes."""
    path = os.path.join(scratch, "saved")
    done = run([HEAPTOP, "--save", path, *options, "-a", str(program.pid)])
    check_equal((done.returncode, done.stderr), (0, b""), "the end of --save")
    check_equal(oct(os.stat(path).st_mode), "0o100600", "its mode")
    return path, done.stdout.decode()


@contextlib.contextmanager
def kernel_cores():
    """A folder where the kernel writes cores."""
    with open("/proc/sys/kernel/core_pattern", encoding="ascii") as f:
        pattern = f.read().strip()
    if "/" in pattern or pattern.startswith("|") or "%" in pattern:
        raise Skip("core_pattern is not a plain name: " + pattern)
    if resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
        raise Skip("cores are limited (ulimit -c)")
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        yield folder


def crashing(folder, *command):
    return ["sh", "-c", "ulimit -c unlimited; cd %s; exec \"$@\"" % folder, "sh", *command]


def core_in(folder):
    path = (glob.glob(folder + "/*") or [None])[0]
    if not path:
        raise Skip("the kernel wrote no core")
    return path


def cut_everywhere(path, step, timeout=60):
    """Cuts a core shorter and shorter; each time it opens with its whole account, or a line says why not. How often
    which; a scan is made of each that opens."""
    done = run([os.path.join(B, "tests/tools/cut_core"), path, str(step)], timeout=timeout)
    check_equal((done.returncode, done.stderr), (0, b""), "%s: status" % done.stdout.decode())
    return json.loads(done.stdout)
