#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program elsewhere over bad connections: slow and late ones give the same figures, dead and cut ones are said in a
line, and the screen goes on. SOAK=1: the slowest ones, too."""

import fcntl
import json
import os
import signal
import subprocess
import sys

from far_program import frame, heaptop, leaks
from proving import (HEAPTOP, ROOT, Skip, case, check, check_equal, environment, kill_hard, need, run_cases, scratch,
                     wait_for)
from scanning import Waiting

LINK = os.path.join(ROOT, "tests", "e2e", "link.py")


def via(*link):
    return ["--via", " ".join([sys.executable, LINK, *link, "env"]), "--agent", HEAPTOP]


def sites(*where, **more):
    return [(s["id"], s["live_bytes"], s["live_blocks"], s["allocs"]) for s in frame(*where, **more)["sites"]]


def played(keys, *where, **more):
    path = os.path.join(scratch, "keys")
    with open(path, "w", encoding="ascii") as f:
        f.write(":size 160x50\n:until LIVE\n" + keys + ":save-display -\n")
    done = heaptop("-d", "0.2", "--script", path, *where, **more)
    check_equal((done.returncode, done.stderr), (0, ""), "the end")
    return done.stdout


@case("a slow and late connection gives the same figures, and a leak scan")
def slow():
    rates = (("--rate", "200000", "--delay", "20"),)
    if os.environ.get("SOAK"):
        rates += (("--rate", "1000"), ("--delay", "200"), ("--rate", "4000", "--delay", "200"))
    with leaks() as p:
        near = sites("-a", str(p.pid))
        for link in rates:
            check_equal(sites(*via(*link), "-a", str(p.pid), "--no-fetch", timeout=300), near, " ".join(link))
        done = heaptop(*via(*rates[0]), "--steer", "-a", str(p.pid), "--no-fetch", "--report", "--leak-check", "--format", "json")
        found = json.loads(done.stdout)["leaks"]
        check(found["failed"] is None and len(found["sites"]) > 50, str(found)[:300])


@case("a connection that is dead is said within seconds, and what is known stays")
def dead():
    gone = os.path.join(scratch, "gone")
    with leaks() as p:
        shown = played(":until main\n:save-display %s\n:until no answer from\n" % gone, *via("--dead-file", gone), "-a", str(p.pid),
                       "--no-fetch")
        check("these are the last figures" in shown and "main" in shown, shown)


@case("a connection that ends is said with the time, and what is known stays")
def ended():
    now = os.path.join(scratch, "now")
    with leaks() as p:
        shown = played(":until main\n:save-display %s\n:until connection lost at\n" % now, *via("--cut-file", now), "-a", str(p.pid),
                          "--no-fetch")
        check("these are the last figures" in shown and "main" in shown, shown)


def catches(pid, number):
    """Whether the process has a handler of this signal."""
    with open("/proc/%d/status" % pid, encoding="ascii") as f:
        caught = next(line for line in f if line.startswith("SigCgt:"))
    return int(caught.split()[1], 16) >> (number - 1) & 1 == 1


@case("a report whose agent falls silent still ends by a signal, with what is known")
def silent():
    path = os.path.join(scratch, "silent.sock")
    with leaks() as p:
        agent = subprocess.Popen([HEAPTOP, "--no-config", "--serve", "unix:" + path, "-a", str(p.pid)], env=environment(),
                                 stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        desk = None
        try:
            check("serving on" in agent.stderr.readline(), "the agent")
            desk = subprocess.Popen([HEAPTOP, "--no-config", "unix:" + path, "--report", "-d", "0.5", "--no-fetch", "--format",
                                     "json"], env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
            wait_for(lambda: catches(desk.pid, signal.SIGTERM), "the desk to run")
            agent.send_signal(signal.SIGSTOP)
            os.waitpid(agent.pid, os.WUNTRACED)
            desk.send_signal(signal.SIGTERM)
            said = desk.communicate(timeout=100)[0]
            check_equal(json.loads(said)["process"]["pid"], p.pid, "the report")
        finally:
            kill_hard(agent)
            agent.stderr.close()
            if desk:
                kill_hard(desk)
                desk.stdout.close()


@case("what a desk that was killed has left in the cache goes at the next start; what another one copies stays")
def cleaned():
    cache = os.path.join(scratch, "cache")
    folder = os.path.join(cache, "heaptop", "objects")
    os.makedirs(folder)
    kept = ("0123abcd", "0123abcd.debug", "README.1")
    for name in (*kept, "0123abcd.4711", "0123abcd.4712"):
        with open(os.path.join(folder, name), "w", encoding="ascii"):
            pass
    with leaks() as p, open(os.path.join(folder, "0123abcd.4712"), encoding="ascii") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        sites(*via(), "-a", str(p.pid), "--no-fetch", XDG_CACHE_HOME=cache)
        check_equal(sorted(os.listdir(folder)), sorted((*kept, "0123abcd.4712")), "files")


@case("while a file comes the screen goes on, says how much is here, and names come with it")
def copying():
    if os.geteuid() != 0:
        raise Skip("a place that only the program sees needs root")
    built, hidden = os.path.join(scratch, "hidden_program"), os.path.join(scratch, "hidden")
    source = os.path.join(scratch, "hidden_program.c")
    with open(source, "w", encoding="ascii") as f:
        f.write("#include <stdlib.h>\n#include <stdio.h>\nstatic void *volatile held[9];\nstatic volatile char room[3 << 20] = { 1 };\n"
                "__attribute__((noinline)) void *keep_hidden(int n)\n{\n\treturn malloc(n);\n}\nint main(void)\n{\n"
                "\tfor (int i = 0; i < 9; i++)\n\t\theld[i] = keep_hidden(99 + room[0]);\n\tputs(\"ready\");\n\tfflush(stdout);\n"
                "\treturn getchar() != EOF;\n}\n")
    subprocess.run([need("gcc"), "-g", "-O1", "-Wl,--build-id", "-o", built, source], check=True)
    os.makedirs(hidden)
    inside = os.path.join(hidden, "hidden_program")
    mount = "mount -t tmpfs none %s && cp %s %s && exec %s" % (hidden, built, inside, inside)
    with Waiting("unshare", "-m", "/bin/sh", "-c", mount) as p:
        cache = os.path.join(scratch, "cache-" + str(p.pid))
        where = ("-a", str(p.pid))
        shown = played(":until copying hidden_program from there\n:until M of 3\n", *via("--dead", "2000000"), *where,
                          XDG_CACHE_HOME=cache)
        check("keep_hidden" not in shown and "hidden_program+0x" in shown, shown)
        check_equal(os.listdir(os.path.join(cache, "heaptop", "objects")), [], "parts that are left")
        shown = played(":until keep_hidden\n", *via(), *where, XDG_CACHE_HOME=cache)
        check(os.listdir(os.path.join(cache, "heaptop", "objects")), "it is kept")


run_cases()
