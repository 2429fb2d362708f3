#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The other processes of a launch, seen from elsewhere: listed, opened over the same connection, scanned."""

import os
import signal
import subprocess

from far_program import MAGIC, VIA, Program, frame, heaptop
from proving import HEAPTOP, case, check, check_equal, environment, run_cases, scratch, wait_for


def children_of(pid):
    with open("/proc/%s/task/%s/children" % (pid, pid), encoding="ascii") as f:
        return f.read().split()


def played(script, *arguments):
    keys = os.path.join(scratch, "keys")
    with open(keys, "w", encoding="ascii") as f:
        f.write(":size 160x40\n" + script)
    done = heaptop("-d", "0.2", "--script", keys, *arguments)
    check_equal(done.returncode, 0, "status (%s)" % done.stderr)
    return done.stdout


def launched(p):
    """Has the program make a child with a child: their pids."""
    p.ask(b"f")
    check_equal(p.process.stdout.readline(), b"done\n", "a child")
    wait_for(lambda: children_of(p.pid) and children_of(children_of(p.pid)[0]), "children")
    child = children_of(p.pid)[0]
    return child, children_of(child)[0]


def ended(*pids):
    for pid in pids:
        os.kill(int(pid), signal.SIGKILL)


@case("recorded children are named in a line on the screen, listed with their sums, and opened over the same link")
def children():
    with Program() as p:
        child, grandchild = launched(p)
        try:
            shown = played(":until its recorded children\n:save-display -\np\n:until %s\n:save-display -\n"
                           "Down\nEnter\n:until keep_child\n:save-display -\np\n:until %s\nHome\nDown\nDown\nDown\n"
                           "Enter\n:until pid %s\n:until keep_child\n:save-display -\np\nHome\nDown\nEnter\n"
                           ":until pid %s\n:until keep_far\n:save-display -\nq\n"
                           % (grandchild, grandchild, grandchild, p.pid), *VIA, "-a", p.pid)
            first, rows, second, third, back = ["\n" + s for s in shown.split("\n heaptop ")][-5:]
            check("%s (far_program)" % child in first, first)
            line = {f[0]: f for f in (r.replace("*", "").replace(">", "").split() for r in rows.split("\n")) if f}
            check_equal(line[child][2:4], ["68.4k", "73.2k"], "live bytes of a child, with those below it")
            check_equal(line[grandchild][2], "4.9k", "live bytes below it")
            check("pid %s on" % child in second and "68.4k" in second and "far_program.c" in second, second)
            check("pid %s on" % grandchild in third and "4.9k" in third, third)
            check("pid %s on" % p.pid in back and "keep_child" not in back, back)
            check_equal(frame(*VIA, "-a", child)["process"]["pid"], int(child), "pid of the child")
        finally:
            ended(child, grandchild)


@case("a leak scan of a child is of that process, and needs the agent's leave")
def children_scanned():
    with Program() as p:
        child, grandchild = launched(p)
        try:
            script = ("p\n:until %s\nDown\nEnter\n:until keep_child\nL\n:until %s\n:save-display -\nq\n")
            shown = played(":until keep_far\n" + script % (grandchild, "scan 1"), "--steer", *VIA, "-a", p.pid)
            check("pid %s on" % child in shown and "reachable 68.4k in 1" in shown, shown)
            played(":until keep_far\n" + script % (grandchild, "the agent there may only read"), *VIA, "-a", p.pid)
        finally:
            ended(child, grandchild)


@case("a process that does not belong to the served one is neither listed nor opened")
def strangers_near():
    with Program() as p, Program() as other:
        hello = MAGIC + b"W\0\0\0\0" + b"O\3\0\0\0\1\7\0"
        done = subprocess.run([HEAPTOP, "--no-config", "--serve", "-", p.pid], input=hello, capture_output=True,
                              env=environment(), timeout=60, check=False)
        check(b"this process has ended" in done.stdout, "an id that is none")
        shown = played(":until keep_far\np\n:until 1 recorded process\n:save-display -\nq\n", *VIA, "-a", p.pid)
        check(p.pid in shown and other.pid not in shown, shown)


@case("a connection that ends while a child is shown is said there, too")
def children_lost():
    path = os.path.join(scratch, "lost.sock")
    with Program() as p:
        child, grandchild = launched(p)
        agent = subprocess.Popen([HEAPTOP, "--no-config", "--serve", "unix:" + path, "-a", p.pid], env=environment(),
                                 stderr=subprocess.PIPE, text=True)
        try:
            check("serving on" in agent.stderr.readline(), "the agent")
            seen = os.path.join(scratch, "seen")
            keys = os.path.join(scratch, "lost_keys")
            with open(keys, "w", encoding="ascii") as f:
                f.write(":size 160x40\n:until keep_far\np\n:until %s\nDown\nEnter\n:until keep_child\n:save-display %s\n"
                        ":until connection lost\n:save-display -\nq\n" % (grandchild, seen))
            desk = subprocess.Popen([HEAPTOP, "--no-config", "-d", "0.2", "--script", keys, "unix:" + path],
                                    env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            wait_for(lambda: os.path.exists(seen) or desk.poll() is not None, "the child")
            agent.kill()
            shown, err = desk.communicate(timeout=60)
            check_equal(desk.returncode, 0, "status (%s)" % err)
            check("pid %s on" % child in shown and "keep_child" in shown and "last figures" in shown, shown)
        finally:
            agent.kill()
            agent.wait()
            agent.stderr.close()
            ended(child, grandchild)


run_cases()
