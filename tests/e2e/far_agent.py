#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""heaptop-agent, the static program: the same figures and leaks as of heaptop itself as the agent; and in a container,
which is made of namespaces."""

import json
import os
import shutil
import signal
import subprocess

from far_program import heaptop, leaks
from proving import HEAPTOP, LIBRARY, Skip, case, check, check_equal, environment, run, run_cases, scratch, target, wait_for
from scanning import Fed

AGENT = os.path.join(os.path.dirname(HEAPTOP), "heaptop-agent")


def agent():
    if not os.path.exists(AGENT):
        raise Skip("no heaptop-agent (make heaptop-agent, needs libc.a)")
    return AGENT


def reported(*where):
    done = heaptop(*where, "--report", "--leak-check", "--format", "json")
    check_equal(done.returncode, 0, "exit status (%s)" % done.stderr)
    report = json.loads(done.stdout)
    found = report["leaks"]
    check_equal(found["failed"], None, "the scan")
    for name in ("scan_ns", "stop_ns", "held"):  # the last has names of roots
        found.pop(name)
    return report["totals"], found


@case("it needs no library, no curses and no libdw")
def static():
    with open(agent(), "rb") as f:
        program = f.read()
    check(b"libncurses" not in program and b"libdw" not in program, "what it names")
    check_equal(run([agent(), "--version"], env={}).stdout[:14], b"heaptop-agent ", "without an environment")
    readelf = shutil.which("readelf")
    if readelf:
        check(b"INTERP" not in run([readelf, "-lW", AGENT]).stdout, "it has an interpreter")
    check(len(program) < 2 << 20, "it has %d bytes" % len(program))


@case("what it says of a process, by pid or name, is what heaptop says; leaks, too")
def equal():
    with leaks() as p:
        near = reported("-a", str(p.pid))
        far = reported("--via", "env", "--steer", "--agent", agent(), "-a", str(p.pid))
        check_equal(far, near, "totals and leaks")
        done = subprocess.run([AGENT, "--serve=-", "leaks"], input=b"", capture_output=True, env=environment(), timeout=60,
                              check=False)
        check(done.stdout.startswith(b"heaptop\x1a") or b"several" in done.stderr, done.stderr)


@case("what it cannot do is said in a line")
def refused():
    agent()
    for words in ((), ("--serve=-",), ("--serve=127.0.0.1:1", "1"), ("--serve=-", "no-such-name"), ("--serve=-", str(2 ** 22 + 7)),
                  ("--report", "1")):
        done = run([AGENT, *words])
        check(done.returncode in (2, 125), "status of %s" % (words,))
        check(done.stderr.startswith(b"heaptop-agent: ") and done.stderr.count(b"\n") == 1, done.stderr)


@case("in a container of its own pids, mounts and users' files, by nsenter")
def container():
    if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("nsenter"):
        raise Skip("namespaces need root, unshare and nsenter")
    agent()
    root, shm = os.path.join(scratch, "image"), os.path.join(scratch, "image", "shm")
    os.makedirs(shm)
    for path in (AGENT, LIBRARY, target("leaks")):
        shutil.copy(path, root)
    inside = "mount -t proc proc /proc && mount -t tmpfs none /dev/shm && mkdir -p $HEAPTOP_DIR && cd %s && LD_PRELOAD=%s/libheaptop.so exec ./leaks wait" % (
        root, root)
    with Fed(["unshare", "--fork", "-p", "-m", "--kill-child", "/bin/sh", "-c", inside], stderr=subprocess.DEVNULL) as p:
        while p.process.stdout.readline() not in ("ready\n", ""):
            pass
        with open("/proc/%d/task/%d/children" % (p.pid, p.pid), encoding="ascii") as f:
            child = f.read().split()[0]
        via = "nsenter -t %s -m -p" % child
        totals, found = reported("--via", via, "--steer", "--agent", os.path.join(root, "heaptop-agent"), "-a", "1")
        check(totals["live_blocks"] > 50 and len(found["sites"]) > 50, str(totals))
        os.kill(int(child), signal.SIGKILL)
        wait_for(lambda: p.process.poll() is not None, "the container to end")


run_cases()
