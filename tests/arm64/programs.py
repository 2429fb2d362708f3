#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""On the arm64 machine: what signed return addresses, processes and real programs need there. Uses what the
end-to-end tests share."""

import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))

from proving import (B, HEAPTOP, case, check, check_equal, environment, frames_of, need, report, run, run_cases, scratch,
                     truth_of, wait_for)


def processes(rep):
    yield rep
    for child in rep.get("children", []):
        yield from processes(child)


def checked(command):
    """Runs it with every stack compared; returns the report."""
    out = os.path.join(scratch, "report.json")
    done = run([HEAPTOP, "--report", "--format", "json", "-o", out, "--", *command],
               env=environment(HEAPTOP_UNWINDER="check"))
    check_equal(done.returncode, 0, "status of %s: %s" % (command[0], done.stderr.decode()[-300:]))
    with open(out, encoding="utf-8") as f:
        rep = json.load(f)
    for p in processes(rep):
        if "unwinds" in p:
            check_equal(p["unwinds"]["wrong"], 0, "wrong stacks of %s, of %d" % (
                p["process"]["command"][0], p["unwinds"]["checked"]))
    return rep


@case("signed return addresses: totals and whole stacks")
def signed():
    for name in ("truth_apis", "truth_jumps"):
        program = os.path.join(B, "tests/arm64", name + "_signed")
        truth_of([program])
        checked([program])


@case("counts that do not depend on the architecture")
def counts():
    """A program whose requests are the same everywhere; what x86-64 counts for it."""
    _, rep = report([os.path.join(B, "tests/arm64/counts")])
    ours = [s for s in rep["sites"] if s["function"] == "malloc"]  # not those of pthread_create
    got = tuple(sum(s[name] for s in ours) for name in ("allocs", "frees", "alloc_bytes", "live_bytes", "live_blocks"))
    check_equal(got, (81050, 80050, 4556250, 62500, 1000), "allocs, frees, bytes, live")
    for site in ours:
        check("main" in frames_of(site) or "start_thread" in frames_of(site), "a stack that ends early")


@case("gcc and its children")
def compiler():
    source = os.path.join(scratch, "a.c")
    with open(source, "w", encoding="ascii") as f:
        f.write("int f(int a) { return a * 3; }\n")
    rep = checked(["gcc-12", "-O2", "-c", source, "-o", os.path.join(scratch, "a.o")])
    names = {os.path.basename(p["process"]["command"][0]) for p in processes(rep)}
    check({"cc1", "as"} <= names, "processes: %s" % names)


@case("python3: a subprocess, threads, and a leak scan at the end")
def python():
    out = os.path.join(scratch, "report.json")
    code = ("import subprocess, threading; subprocess.run(['/bin/true']);"
            "t = [threading.Thread(target=lambda: [str(i) for i in range(999)]) for _ in range(3)];"
            "[x.start() for x in t]; [x.join() for x in t]")
    done = run([HEAPTOP, "--report", "--leak-check", "--format", "json", "-o", out, "--", need("python3"), "-c", code])
    check_equal(done.returncode, 0, "status")
    with open(out, encoding="utf-8") as f:
        rep = json.load(f)
    check_equal(rep["leaks"]["failed"], None, "the scan")
    check_equal(rep["totals"]["lost_events"], 0, "events lost")


@case("redis-server: recorded, scanned while it waits, and it does not notice")
def redis():
    server = subprocess.Popen([HEAPTOP, "--report", "-o", "/dev/null", "--", need("redis-server"), "--port", "7777",
                               "--save", "", "--appendonly", "no"], env=environment(), stdout=subprocess.DEVNULL)

    def said(*words):
        done = run([need("redis-cli"), "-p", "7777", *words])
        return done.stdout.decode().strip()
    try:
        wait_for(lambda: said("ping") == "PONG", "the server")
        pid = int([line for line in said("info", "server").splitlines() if line.startswith("process_id")][0].split(":")[1])
        said("set", "a", "b")
        for _ in range(3):
            done = run([HEAPTOP, "--report", "--leak-check", "--format", "json", "-a", str(pid)])
            check_equal(json.loads(done.stdout)["leaks"]["failed"], None, "the scan")
            check_equal(said("get", "a"), "b", "an answer after it")
        said("shutdown", "nosave")
        server.wait()
    finally:
        if server.poll() is None:
            server.send_signal(signal.SIGTERM)
            server.wait()


@case("attaching to a running program is refused in words")
def attaching():
    program = subprocess.Popen(["sleep", "1000"])
    try:
        done = run([HEAPTOP, "--report", "-a", str(program.pid)])
        check(done.returncode != 0 and b"x86-64" in done.stderr, done.stderr)
        check_equal(program.poll(), None, "the program")
    finally:
        program.kill()
        program.wait()


@case("a system call that a stop cuts off goes on, unless a handler runs")
def cut_off():
    done = subprocess.run([os.path.join(B, "tests/unit/trace_stop")], stdout=subprocess.PIPE, check=False)
    check_equal(done.returncode, 0, done.stdout.decode())


run_cases()
