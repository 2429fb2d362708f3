#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs whose libraries keep pointers inside blocks. Among the blocks of GLib's types in
dot, no more are possible than memcheck says, which GLib informs of its pointers. Programs that draw on a
terminal are scanned while they wait for a key: nothing is lost, and our own rules leave at most half of
what memcheck's alone do; memcheck itself is not run on them."""

import contextlib
import fcntl
import glob
import json
import os
import pty
import signal
import subprocess
import termios
import threading
import xml.etree.ElementTree as ElementTree

from proving import (HEAPTOP, LIBRARY, add_case, case, check, check_equal, environment, need, report, run, run_cases,
                     scratch, segments, wait_for)

GRAPH = "digraph { a -> b; b -> c; a -> c }"
# What makes instances and closures of GLib's types, and slabs for both.
OF_TYPES = ("g_type_create_instance", "g_closure_new", "g_closure_new_simple", "g_slice_alloc", "g_type_register_static",
            "g_type_register_fundamental")


def of_types(functions):
    return any(name in OF_TYPES for name in functions)


def memcheck_possible(command, env):
    out = os.path.join(scratch, "memcheck.xml")
    run([need("valgrind"), "--leak-check=full", "--leak-check-heuristics=all", "--num-callers=60", "--xml=yes",
         "--xml-file=" + out, *command], env=env, timeout=200)
    return sum(int(error.find("xwhat").findtext("leakedblocks"))
               for error in ElementTree.parse(out).getroot().findall("error")
               if error.findtext("kind") == "Leak_PossiblyLost"
               and of_types([f.findtext("fn") for f in error.find("stack").findall("frame")]))


def our_possible(leaks):
    return sum(s["blocks"] for s in leaks["sites"] if s["class"] == "possible"
               and of_types([f["function"] for f in s["stack"]]))


def dot_case(slices):
    def try_it():
        need("dot")
        source = os.path.join(scratch, "graph")
        with open(source, "w", encoding="ascii") as f:
            f.write(GRAPH)
        command = ["dot", "-Tpng", "-o", os.path.join(scratch, "png"), source]
        env = environment(G_SLICE=slices)
        done, rep = report(command, ["--leak-check"], env=env)
        check_equal(done.returncode, 0, "status: " + done.stderr.decode())
        leaks = rep["leaks"]
        want = memcheck_possible(command, env)
        check(our_possible(leaks) <= want, "%d blocks are possible, memcheck says %d" % (our_possible(leaks), want))
        check(leaks["heuristics"]["gobject"]["blocks"] > 0, "dot has no instances of GLib's types")
    return try_it


for how in ("always-malloc", ""):
    case("dot: what GLib's types have is as memcheck says (G_SLICE=%s)" % how)(dot_case(how))


# ---- on a terminal ----

PROGRAMS = {  # name -> command, keys, what it shows when it has done what they ask, and whether perl runs in it then
    "irssi": (["irssi", "--home=" + os.path.join(scratch, "irssi")],
              b"/script exec use POSIX; Irssi::print(q(perl).q(loaded))\r", b"perlloaded", True),
    "emacs-nox": (["emacs-nox", "-nw", "-Q"], b"words\r", b"", False),
}


class OnTerminal:
    """The program, on a terminal of its own that somebody reads; it gets its keys when it has drawn something."""

    def __init__(self, command, keys):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(command, env=environment(LD_PRELOAD=LIBRARY, TERM="xterm", HOME=scratch),
                                        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.keys, self.seen = keys, b""
        self.pid = self.process.pid
        self.reader = threading.Thread(target=self.read)

    def read(self):
        try:
            while drawn := os.read(self.master, 65536):
                if not self.keys:
                    self.seen += drawn
                else:
                    os.write(self.master, self.keys)
                    self.keys = None
        except OSError:
            pass

    def __enter__(self):
        self.reader.start()
        return self.pid

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait()
        self.reader.join()
        os.close(self.master)


def scan(pid, *options):
    out = os.path.join(scratch, "scan.json")
    done = run([HEAPTOP, "--leak-check", "--format", "json", "-o", out, *options, "-a", str(pid)])
    check_equal(done.returncode, 0, "status: " + done.stderr.decode())
    with open(out, encoding="utf-8") as f:
        leaks = json.load(f)["leaks"]
    check(leaks["failed"] is None, leaks["failed"])
    return leaks


def waits(pid):
    """Whether all its threads wait, and so it has nothing more to draw."""
    states = []
    for path in glob.glob("/proc/%d/task/*/stat" % pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), \
                open(path, encoding="utf-8", errors="replace") as f:
            states.append(f.read().rpartition(")")[2].split()[0])
    return all(s == "S" for s in states)


def has_operators(leaks):
    return any("Perl_Slab_Alloc" in [f["function"] for f in s["stack"]] for s in leaks["sites"])


def terminal_case(name):
    command, keys, answer, has_perl = PROGRAMS[name]
    need(command[0])
    program = OnTerminal(command, keys)
    with program as pid:
        wait_for(lambda: glob.glob(os.path.join(segments, "heaptop-%d-*" % pid)), "a segment", 60)
        wait_for(lambda: program.keys is None and answer in program.seen and waits(pid), "its end of drawing", 60)
        if has_perl:
            wait_for(lambda: waits(pid) and has_operators(scan(pid)), "perl's operators", 60)
        leaks = scan(pid)
        check_equal((leaks["definite"]["blocks"], leaks["indirect"]["blocks"]), (0, 0), "lost")
        # By the same memory, whatever it does meanwhile: what memcheck's rules leave is moved, or possible.
        memcheck = leaks["possible"]["blocks"] + leaks["moved"]["blocks"]
        check(leaks["possible"]["blocks"] * 2 <= memcheck,
              "%d blocks are possible, %d by memcheck's rules" % (leaks["possible"]["blocks"], memcheck))
        check(not has_perl or leaks["possible"]["blocks"] == 0, "possible: %s" % leaks["possible"])


for program_name in PROGRAMS:
    add_case("nothing that %s uses is lost, and little of it possible" % program_name,
             lambda name=program_name: terminal_case(name))
run_cases()
