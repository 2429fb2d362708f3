#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leak scans of programs that people use, while they work: nothing of theirs is called lost, or
possibly lost, however often one looks. HEAPTOP_SCANS: so often each (1). HEAPTOP_COPY: --leak-copy (never)."""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

from proving import (B, HEAPTOP, LIBRARY, Failure, add_case, check, check_equal, environment, need, run,
                     run_cases, scratch, segments, wait_for)

ROUNDS = int(os.environ.get("HEAPTOP_SCANS", "1"))
COPY = os.environ.get("HEAPTOP_COPY", "never")
LOOP = "while True:\n    d[i % 3000] = json.dumps([i] * (i % 40))\n    i += 1\n    time.sleep(1e-4)"
PROGRAMS = {  # name -> command, and what it is fed again and again, if anything
    "python3": (["/usr/bin/python3", "-c", "import json, time\nd = {}\ni = 0\n" + LOOP], None),
    "node": (["node", "-e", "let m = new Map(), i = 0; setInterval(() => { for (let k = 0; k < 99; k++) "
              "m.set(i % 5000, 'x'.repeat(i++ % 100) + i) }, 5)"], None),
    "perl": (["perl", "-e", "while (1) { $h{$i % 5000} = 'x' x ($i % 200); $i++; "
              "select(undef, undef, undef, .002) if $i % 100 == 0 }"], None),
    "perl with modules": (["perl", "-e", "use POSIX; use Data::Dumper; use Getopt::Long; use File::Spec; "
                           "while (1) { $h{$i % 50} = Dumper([$i++]); select(undef, undef, undef, .002) }"], None),
    "bash": (["bash"], "a[i++ % 1000]=$(printf %d $i); declare -A m; m[k$((i % 300))]=\"$i $i\"\n"),
    "sqlite3": (["sqlite3", ":memory:"],
                "create table if not exists t(a, b); with recursive c(x) as (select 1 union all select "
                "x + 1 from c where x < 200) insert into t select x, hex(x) from c; "
                "select count(*) from t where b like '%3%';\n"),
    "gdb": (["gdb", "-q", "-nx", os.path.join(B, "tests", "targets", "demo")],
            "info functions main\ninfo line main\nptype struct timespec\n"),
    "git": (["git", "-C", scratch, "cat-file", "--batch"], "HEAD\nHEAD:file\nHEAD^{tree}\n"),
    "redis-server": (["redis-server", "--port", "0", "--unixsocket", os.path.join(scratch, "redis"),
                      "--save", "", "--dir", scratch], None),
    "tmux": (["tmux", "-f", "/dev/null", "-S", os.path.join(scratch, "tmux"), "new-session", "-d", "cat"], None),
}
DAEMONS = {"tmux": ["tmux", "-S", os.path.join(scratch, "tmux"), "display-message", "-p", "#{pid}"]}  # that say their pid


class Live:
    """The program, at work until the end of the block: its pid."""

    def __init__(self, name):
        self.name = name
        command, self.food = PROGRAMS[name]
        self.ended = False
        self.process = subprocess.Popen(command, env=environment(LD_PRELOAD=LIBRARY), stdin=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.feeder = threading.Thread(target=self.feed)
        self.pid = self.process.pid
        if name in DAEMONS:
            check_equal(self.process.wait(), 0, "status of what begins the daemon")
            self.pid = int(run(DAEMONS[name]).stdout)

    def feed(self):
        while not self.ended:
            try:
                if self.food:
                    self.process.stdin.write(self.food.encode())
                    self.process.stdin.flush()
                elif self.name in DRIVERS:
                    DRIVERS[self.name]()
            except (BrokenPipeError, subprocess.CalledProcessError):
                pass
            time.sleep(0.01)

    def __enter__(self):
        self.feeder.start()
        return self.pid

    def __exit__(self, *_):
        self.ended = True
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait()
        self.feeder.join()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # it did not read all of it


def drive_redis():
    lines = "".join("set k%d %s\nlpush l%d %d\nhset h f%d v\nzadd z %d m%d\n" %
                    (i, "a" * (i % 300), i % 7, i, i, i, i) for i in range(200))
    subprocess.run(["redis-cli", "-s", os.path.join(scratch, "redis")], input=lines.encode(), check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def drive_tmux():
    subprocess.run(["tmux", "-S", os.path.join(scratch, "tmux"), "new-session", "-d", "ls -l /; ls -l /etc"],
                   check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


DRIVERS = {"redis-server": drive_redis, "tmux": drive_tmux}


def runs(pid):
    """Whether it does: one that has ended has no memory."""
    try:
        with open("/proc/%d/maps" % pid, encoding="utf-8") as f:
            return f.read(1) != ""
    except OSError:
        return False


def scan(pid):
    """Its leaks, when it has come so far that it has made a hundred blocks."""
    out = os.path.join(scratch, "leaks.json")
    done = run([HEAPTOP, "--leak-check", "--leak-copy", COPY, "--format", "json", "-o", out, "-a", str(pid)])
    check_equal(done.returncode, 0, "status: " + done.stderr.decode())
    with open(out, encoding="utf-8") as f:
        leaks = json.load(f)["leaks"]
    check(leaks["failed"] is None, leaks["failed"])
    return leaks


def lost(leaks):
    return [(s["class"], s["blocks"], [f["function"] for f in s["stack"][:6]])
            for s in leaks["sites"] if s["class"] != "reachable"]


def look(name):
    need(PROGRAMS[name][0][0])
    if name == "git":
        prepare_git()
    with Live(name) as pid:
        # One that loads many libraries first, on a slow machine.
        wait_for(lambda: glob.glob(os.path.join(segments, "heaptop-%d-*" % pid)), "a segment", 60)
        deadline = time.monotonic() + 60
        while scan(pid)["reachable"]["blocks"] < 100 and time.monotonic() < deadline:
            pass
        for i in range(ROUNDS):
            leaks = scan(pid)
            wrong = lost(leaks)
            check(not wrong, "scan %d: %s" % (i + 1, wrong[:3]))
            check(runs(pid), "it ended")
        print("  %s: %s blocks, %s by a place learned" %
              (name, leaks["reachable"]["blocks"], leaks["heuristics"]["header"]["blocks"]), file=sys.stderr)


def prepare_git():
    with open(os.path.join(scratch, "file"), "w", encoding="ascii") as f:
        f.write("text\n" * 1000)
    for command in (["init", "-q"], ["add", "file"],
                    ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        if run(["git", "-C", scratch, *command]).returncode != 0:
            raise Failure("git " + command[0])


for program in PROGRAMS:
    add_case("nothing that %s uses is lost" % program, lambda name=program: look(name))
run_cases()
