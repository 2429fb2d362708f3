#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of a program for leak scans: when one is made without being asked for, what a program and who takes its
orphans can see of it, and where none must be made: little memory, few processes, what a copy would break."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

from proving import (HEAPTOP, LIBRARY, Skip, case, check, check_equal, environment, need, run, run_cases, scratch,
                     segments, target, wait_for)
from scanning import Waiting, attached, children, zombies

COPIED, STOOD = "copy on write", "stop and read"
LARGE = "20"  # MB; from 16 on a copy is made
CGROUPS = "/sys/fs/cgroup"


def how_of(pid, *options):
    leaks = attached(pid, *options)[1]
    check(leaks["failed"] is None, leaks["failed"])
    check(not leaks["copy_left"], "a copy was left")
    check_equal(leaks["definite"]["blocks"], 0, "definite")
    return leaks["how"], leaks["no_copy"]


@case("a copy is made of a large program, and none of a small one, unless asked for")
def by_size():
    for megabytes, options, how in ((LARGE, [], COPIED), ("1", [], STOOD), ("1", ["--leak-copy", "always"], COPIED),
                                    (LARGE, ["--leak-copy", "never"], STOOD)):
        with Waiting(target("copied"), megabytes, "alone") as program:
            check_equal(how_of(program.process.pid, *options), (how, None), "%s MB %s" % (megabytes, options))


@case("a program that waits for its children sees no copy, nor a signal of one, nor is one left")
def unseen():
    for kind in ("alone", "parent", "locked", "reaper"):
        with Waiting(target("copied"), LARGE, kind) as program:
            if program.process.poll() == 3:
                raise Skip("no right to be " + kind)
            for _ in range(3):
                check_equal(how_of(program.process.pid), (COPIED, None), kind)
                check_equal(zombies(program.process.pid), [], "zombies of " + kind)
            check_equal(program.end(), (0, "0 strangers, 0 signals\n"), kind)


HOG = """
import os, time
os.sched_setaffinity(0, {%d})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
print("hogs", flush=True)
end = time.monotonic() + 0.7
while time.monotonic() < end:
    pass
"""


@case("a thread that gets no processor for a while is waited for, and is no reason against a copy")
def starved():
    processors = os.sched_getaffinity(0)
    if len(processors) < 2:
        raise Skip("one processor")
    one = max(processors)
    with Waiting(target("copied"), "1", "alone") as program:
        os.sched_setaffinity(program.process.pid, {one})
        with subprocess.Popen([sys.executable, "-c", HOG % one], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as hog:
            if not hog.stdout.readline():
                raise Skip("no right to be SCHED_FIFO")
            os.sched_setaffinity(0, processors - {one})
            how = how_of(program.process.pid, "--leak-copy", "always")
            os.sched_setaffinity(0, processors)
        check_equal(how, (COPIED, None), "how")


REFUSED = {"any": "it waits for children of every kind",
           "namespace": "its children are in another pid namespace",
           "watched": "its page faults are handled elsewhere (userfaultfd)"}


@case("none is made where it would be noticed, or break something, and that is said")
def refused():
    for kind, why in REFUSED.items():
        with Waiting(target("copied"), LARGE, kind) as program:
            if program.process.poll() == 3:
                raise Skip("no right to be " + kind)
            check_equal(how_of(program.process.pid), (STOOD, why), kind)
            check_equal(program.end()[0], 0, "the end of " + kind)


@case("in a pid namespace, of its first process and below one that takes no note of orphans, nothing is left")
def namespaces():
    unshare = [need("unshare"), "--pid", "--fork", "--mount-proc"]
    if run([*unshare, "true"]).returncode != 0:
        raise Skip("unshare --pid is not permitted here")
    # The second: a first process that waits for nobody but its own child.
    idle = "import os, sys; pid = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]); os.waitpid(pid, 0)"
    for below in ([], [need("python3"), "-c", idle]):
        with Waiting(*unshare, *below, target("copied"), LARGE, "alone") as program:
            first = children(program.process.pid)[0]
            pid = children(first)[0] if below else first
            for _ in range(3):
                check_equal(how_of(pid), (COPIED, None), "below " + str(below[:1]))
            check_equal(zombies(pid) + zombies(first), [], "zombies")
            check_equal(len(children(first)), len(below[:1]), "children of the first process")
            check_equal(program.end(), (0, "0 strangers, 0 signals\n"), "the program's end")


@case("what a killed viewer leaves is gone after the next scan, whichever it is")
def tidied():
    with Waiting(target("copied"), LARGE, "alone") as program:
        pid = program.process.pid
        for way in ("never", "always"):
            viewer = subprocess.Popen([HEAPTOP, "--leak-check", "--leak-copy", "always", "-a", str(pid)],
                                      env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not children(pid) and viewer.poll() is None:
                pass
            viewer.send_signal(signal.SIGKILL)
            viewer.wait()
            until = time.monotonic() + 20
            while children(pid) and not zombies(pid) and time.monotonic() < until:
                pass
            how_of(pid, "--leak-copy", way)
            # Killed right after the copy was made, the viewer left a thread that reaps it by itself.
            wait_for(lambda: children(pid) == [], "no children after a scan (%s)" % way)
        check_equal(program.end(), (0, "0 strangers, 0 signals\n"), "the program's end")


@case("a copy that is killed, as when memory gets short, is not taken for the program: that stands still after all")
def killed():
    with Waiting(target("copied"), LARGE, "alone") as program:
        pid = program.process.pid
        for _ in range(30):  # it may be through before
            result = []
            scan = threading.Thread(target=lambda: result.append(how_of(pid)))
            scan.start()
            while scan.is_alive() and not children(pid):
                pass
            for child in children(pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            scan.join()
            check(result, "the scan failed")
            check_equal(zombies(pid), [], "zombies")
            if result[0] == (STOOD, "the copy was killed before it was read"):
                break
        check_equal(result[0], (STOOD, "the copy was killed before it was read"), "how")
        check_equal(program.end(), (0, "0 strangers, 0 signals\n"), "the program's end")


def cgroup_home(kind):
    """Where cgroups with this controller can be made: of version 1 beside our own, of version 2 below the first."""
    with open("/proc/self/cgroup", encoding="ascii") as f:
        own = next((line.split(":", 2)[2].strip() for line in f if kind in line.split(":")[1].split(",")), None)
    if own is not None:
        return os.path.join(CGROUPS, kind) + own
    with open(os.path.join(CGROUPS, "cgroup.subtree_control"), "r+", encoding="ascii") as f:
        if kind not in f.read().split():
            f.write("+" + kind)
    return CGROUPS


NAMES = {"memory": ("memory.limit_in_bytes", "memory.max"), "pids": ("pids.max", "pids.max"),
         "usage": ("memory.usage_in_bytes", "memory.current"),
         "peak": ("memory.max_usage_in_bytes", "memory.peak")}


def cgroup_file(path, name):
    return next(f for f in (os.path.join(path, n) for n in NAMES[name]) if os.path.exists(f))


def removed(path):
    with contextlib.suppress(OSError):
        os.rmdir(path)
    return not os.path.exists(path)


@contextlib.contextmanager
def cgroup(kind, limit=None):
    """A cgroup for one program, where that may be made."""
    try:
        path = os.path.join(cgroup_home(kind), "heaptop-%d" % os.getpid())
        os.mkdir(path)
    except OSError as e:
        raise Skip("no cgroup for %s can be made here (%s)" % (kind, e)) from None
    try:
        if limit is not None:
            with open(cgroup_file(path, kind), "w", encoding="ascii") as f:
                f.write(str(limit))
        yield path
    finally:
        wait_for(lambda: removed(path), "the cgroup's last process is gone")


def joined(path, command):
    return ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', path, *command]


@case("none is made where its cgroup has too little memory left for all that it might write, or few processes")
def little_room():
    command = [target("copied"), LARGE, "alone"]
    for kind, limit, want in (
            ("memory", 100 << 20, (STOOD, "its cgroup has too little memory left")),
            ("memory", 900 << 20, (COPIED, None)),
            ("pids", 4, (STOOD, "its cgroup allows few more processes (pids.max)")),
            ("pids", 400, (COPIED, None))):
        with cgroup(kind, limit) as path, Waiting(*joined(path, command)) as program:
            check_equal(how_of(program.process.pid), want, "%s %d" % (kind, limit))
            check_equal(program.end(), (0, "0 strangers, 0 signals\n"), "the program's end")


# Has 40 MB that it does not write, and shares them with a child, if it is to.
HOLDS = """
import os, sys
held = b"x" * 40000000
child = os.fork() if sys.argv[1] == "child" else None
if child == 0:
    os.read(0, 1)
    os._exit(0)
print("ready", flush=True)
sys.stdin.read()
if child:
    os.waitpid(child, 0)
"""


def pss(pid):
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("Pss:"))


@case("what is read does not come to be there twice: not in a copy, nor in a program that shares it with its child")
def read_only():
    with Waiting(need("python3"), "-c", HOLDS, "child") as program:
        for way, how in (("never", STOOD), ("always", COPIED)):
            before = pss(program.pid)
            check_equal(attached(program.pid, "--leak-copy", way)[1]["how"], how, "how")
            check(pss(program.pid) < before + 8000, "of %d kB it has %d now (%s)" % (before, pss(program.pid), how))
    with cgroup("memory") as path, Waiting(*joined(path, [need("python3"), "-c", HOLDS, "alone"])) as program:
        with open(cgroup_file(path, "peak"), encoding="ascii") as f:
            before = int(f.read())
        check_equal(attached(program.pid)[1]["how"], COPIED, "how")
        with open(cgroup_file(path, "peak"), encoding="ascii") as f:
            peak = int(f.read())
        check(peak < before + (8 << 20), "of %d bytes it has had %d" % (before, peak))


# Makes blocks of 24 bytes; scans of it take memory of their own.
MANY = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    void **list = 0;
    for (int i = 0; i < 1000000; i++) { void **p = malloc(24); *p = list; list = p; }
    puts("ready"); fflush(stdout);
    getchar();
    return !list;
}
"""


@case("where memory gets short by the scan itself, in the same cgroup, it is the viewer that goes")
def yielding():
    many = os.path.join(scratch, "many")
    check_equal(run([need("cc"), "-O1", "-x", "c", "-o", many, "-"], stdin=MANY.encode()).returncode, 0, "cc")
    with cgroup("memory") as path, Waiting(*joined(path, [many])) as program:
        with open(cgroup_file(path, "usage"), encoding="ascii") as f:
            used = int(f.read())
        with open(cgroup_file(path, "memory"), "w", encoding="ascii") as f:
            f.write(str(used + (12 << 20)))
        scan = run(joined(path, [HEAPTOP, "--leak-check", "-o", os.devnull, "-a", str(program.pid)]))
        check(scan.returncode in (0, -signal.SIGKILL), "status %d: %s" % (scan.returncode, scan.stderr.decode()))
        check_equal(program.end(), (0, ""), "the program's end")


@case("none is made of a user's program who may have hardly more processes")
def few_processes():
    command = [need("setpriv"), "--reuid", "65534", "--clear-groups", need("prlimit"), "--nproc=9",
               target("copied"), LARGE, "alone"]
    if os.getuid() != 0:
        raise Skip("it needs root to be another user")
    os.chmod(segments, 0o1777)  # a user's segment is that user's
    program = subprocess.Popen(command, env=environment(LD_PRELOAD=LIBRARY), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    check_equal(program.stdout.readline(), "ready\n", "it said")
    leaks = attached(program.pid)[1]
    check_equal((leaks["how"], leaks["no_copy"]), (STOOD, "it may create few more processes (RLIMIT_NPROC)"), "how")
    program.stdin.close()
    check_equal(program.stdout.read(), "0 strangers, 0 signals\n", "it said at its end")
    program.wait()
    program.stdout.close()


run_cases()
