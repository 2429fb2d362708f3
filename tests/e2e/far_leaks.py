#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leak scans of a program elsewhere: made by its agent, if that may act on it, and shown as those of a viewer beside
it."""

import json
import os
import signal
import socket
import subprocess

from far_program import VIA, heaptop, leaks
from proving import (HEAPTOP, case, check, check_equal, environment, run_cases, scratch, wait_for)
from scanning import relatives

# How long it took, and with copies who made them, differ from scan to scan.
TIMES = ("scan_ns", "stop_ns")


def scanned(*where):
    done = heaptop(*where, "--report", "--leak-check", "--format", "json")
    check_equal(done.returncode, 0, "exit status (%s)" % done.stderr)
    found = json.loads(done.stdout)["leaks"]
    return {k: v for k, v in found.items() if k not in TIMES}


def state_of(pid):
    with open("/proc/%d/status" % pid, encoding="utf-8") as f:
        lines = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
    return lines["State"][0], lines["TracerPid"]


def check_released(pid):
    wait_for(lambda: state_of(pid) == ("S", "0"), "the program to wait for its input again, untraced")


@case("a scan there is a scan here: classes, call sites, cycles, what holds the heap, retained sizes")
def equal():
    with leaks() as p:
        near, far = scanned("-a", str(p.pid)), scanned(*VIA, "--steer", "-a", str(p.pid))
        check(near["failed"] is None and len(near["sites"]) > 50 and near["held"]["by"] and near["cycles"], str(near)[:500])
        for name in sorted(set(near) | set(far)):
            check_equal(far.get(name), near.get(name), name)
        check_released(p.pid)


@case("an agent that may only read refuses, in one line that says what is missing")
def refused():
    path = os.path.join(scratch, "read.sock")
    with leaks() as p:
        done = heaptop(*VIA, "-a", str(p.pid), "--report", "--leak-check")
        check_equal((done.returncode, done.stderr.count("--steer")), (2, 1), done.stderr)
        with subprocess.Popen([HEAPTOP, "--no-config", "--serve", "unix:" + path, "-a", str(p.pid)],
                              stderr=subprocess.PIPE, env=environment(), text=True) as agent:
            agent.stderr.readline()
            done = heaptop("unix:" + path, "--report", "--leak-check", "--format", "json")
            check("may only read" in json.loads(done.stdout)["leaks"]["failed"], done.stdout[:500])
            screen = played("L\n:until may only read\n", "unix:" + path)
            check("--serve=steer" in screen, screen)
            agent.terminate()
        check_released(p.pid)


def played(keys, *where):
    path = os.path.join(scratch, "keys")
    with open(path, "w", encoding="ascii") as f:
        f.write(":size 160x50\n:until LIVE\n" + keys + ":save-display -\n")
    done = heaptop("-d", "0.1", "--script", path, *where)
    check_equal((done.returncode, done.stderr), (0, ""), "the end")
    return done.stdout


@case("L on the screen: rows, the path to a block, and a second scan that finds nothing new")
def screen():
    with leaks() as p:
        where = (*VIA, "--steer", "-a", str(p.pid))
        shown = played("L\n:until definite_plain\n", *where)
        check("indirect" in shown and "possible" in shown, shown)
        shown = played("L\n:until scan 1,\nL\n:until scan 2,\n", *where)
        check(" new " not in shown, shown)
        check_released(p.pid)


MAGIC = b"heaptop\x1a"


@case("a desk that disappears in the middle of a scan leaves a program that goes on")
def lost():
    path = os.path.join(scratch, "lost.sock")
    with leaks() as p, subprocess.Popen([HEAPTOP, "--no-config", "--serve", "steer:unix:" + path, "-a", str(p.pid)],
                                        stderr=subprocess.PIPE, env=environment(), text=True) as agent:
        agent.stderr.readline()
        try:
            for request in (b"\0\x01\0\x3f\xff\x0f\x01\x01\x01\x01\x01", b"\0\x01\0\xff\xff\xff\x7f\1\1\1\1\1", b"\0\x01"):
                with socket.socket(socket.AF_UNIX) as desk:
                    desk.connect(path)
                    desk.sendall(MAGIC + b"S" + len(request).to_bytes(4, "little") + request + b"X\1\0\0\0\0")
                    check_equal(desk.recv(len(MAGIC)), MAGIC, "the agent")
            found = scanned("unix:" + path)
            check_equal((found["failed"], len(found["sites"]) > 50), (None, True), "the scan after those")
        finally:
            agent.send_signal(signal.SIGTERM)
            check_equal(agent.wait(30), 0, "status of the agent")
        check_released(p.pid)
        check_equal(relatives(p.process), [], "copies that are left")


@case("options that contradict each other")
def options():
    for words in (("--steer", "true"), (*VIA, "-a", "1", "--steer", "--readonly"), ("--serve=steering", "1")):
        done = heaptop(*words)
        check_equal(done.returncode, 2, "status of %s (%s)" % (words, done.stderr))


run_cases()
