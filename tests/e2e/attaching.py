#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""heaptop -a on programs that were not started under it: how they are named, what is recorded, how they are
left, and what is shown of those that cannot be attached to. Long because each case is short, and all share the few
helpers at the top."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios

from deadline import stat
from proving import (HEAPTOP, LIBRARY, TARGETS, case, check, check_equal, environment, frames_of, need, run, run_cases,
                     scratch, segment_files, segments, sites_named, target, total, wait_for)

# Names are looked for on the whole machine.
NAMED, ENDED = ("heaptop-%s-%d" % (what, os.getpid()) for what in ("named", "ended"))


class Asked:
    """The program, by itself, perhaps under another name. It answers what it is asked."""

    def __init__(self, program=None, **variables):
        self.process = subprocess.Popen([program or target("asked")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment(**variables))
        self.pid = int(self.process.stdout.readline())

    def ask(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        check_equal(self.process.stdout.readline(), b"done\n", line)

    @staticmethod
    def take():
        """One that is no longer young: heaptop waits for a second whether a program loads the library itself."""
        if not POOL:
            POOL.extend(Asked() for _ in range(10))
        return POOL.pop()

    def end(self):
        """It ends as if nothing had been."""
        self.process.stdin.close()
        check_equal(self.process.wait(60), 0, "the end")

    def maps(self, name):
        with open("/proc/%d/maps" % self.pid, encoding="utf-8") as f:
            return name in f.read()


POOL = []


def viewer(*arguments, **how):
    return subprocess.Popen([HEAPTOP, *map(str, arguments)], env=environment(), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)


PROGRESS = re.compile(r"(?m)^heaptop: attaching to process \d+: .*\n")  # what takes more than a moment says so


def finish(started, *asked):
    """The viewer's end; meanwhile the programs allocate, so that they can be attached to."""
    while started.poll() is None:
        for program in asked:
            program.ask("turn 1")
    out, err = started.communicate()
    return started.returncode, out.decode(), PROGRESS.sub("", err.decode())


def status_of(pid):
    with open("/proc/%d/status" % pid, encoding="utf-8", errors="replace") as f:
        return f.read()


def wait_line(started, words):
    """Reads on to a line that has them."""
    for line in started.stdout:
        if words.encode() in line:
            return
    check(False, "never said: " + words)


def attach(asked, *options):
    """Attaches and leaves it recorded."""
    status, out, err = finish(viewer("-b", "-n", "1", "--keep", *options, "-a", asked.pid), asked)
    check_equal(status, 0, "status (%s)" % err)
    check("process %d stays recorded" % asked.pid in err and "heaptop --detach %d" % asked.pid in err, err)
    return out


def frame(asked):
    done = run([HEAPTOP, "-b", "-n", "1", "--format", "json", "-a", str(asked.pid)])
    check_equal((done.returncode, done.stderr), (0, b""), "a later viewer")
    return json.loads(done.stdout)


def detach(*pids):
    done = run([HEAPTOP, "--detach", ",".join(map(str, pids))])
    check_equal((done.returncode, done.stderr), (0, b""), "--detach")
    return done.stdout.decode()


def check_left(*asked):
    """Nothing is recorded any more, and it works."""
    for program in asked:
        check(not program.maps(os.path.basename(segments)), "its segment is still mapped")
        program.ask("keep 3")
        program.ask("drop 3")
    check_equal(segment_files(), [], "segments left")


@case("a running program is attached to and recorded to the block, by one viewer after the other")
def recorded():
    asked = Asked.take()
    asked.ask("keep 50")
    out = attach(asked)
    check(re.search(r"(?m)^attached: \d+ pauses?, longest \S+, \S+ in all$", out), out)
    asked.ask("keep 100")
    asked.ask("turn 20")
    first = frame(asked)
    check_equal(first["attach"]["pauses"], None, "pauses, of a viewer that did not attach")
    keep = sites_named(first, "asked_keep")
    check_equal((total(keep, "live_blocks"), total(keep, "live_bytes")), (100, 100000), "kept since")
    before = first["totals"]["before_blocks"]
    check(before >= 50, "blocks from before: %r" % before)
    asked.ask("drop 7")
    rep = frame(asked)
    check_equal(rep["totals"]["before_blocks"], before - 7, "blocks from before that are left")
    check_equal(rep["totals"]["before_found_blocks"], first["totals"]["before_found_blocks"], "found once")
    check(any(s["function"] == "before attach" and s["frees"] == 7 for s in rep["sites"]), "their site's frees")
    asked.ask("keep 1")
    keep = sites_named(frame(asked), "asked_keep")
    check_equal(total(keep, "live_blocks"), 101, "kept by then")
    check(any("main" in frames_of(s) for s in keep), "a stack up to main")
    said = detach(asked.pid)
    check(re.match(r"detached from process %d: \d+ pauses?, the longest \S+; \S+ stays loaded there, unused$" % asked.pid,
                   said.strip()), said)
    check_left(asked)
    asked.end()


@case("the viewer that attached detaches when it leaves, and says what that cost")
def left():
    asked = Asked.take()
    started = viewer("-b", "-n", "1", "--format", "json", "-a", asked.pid)
    status, out, err = finish(started, asked)
    check_equal(status, 0, err)
    cost = json.loads(out)["attach"]
    check_equal(cost["state"], "attached", "state")
    check(0 < cost["longest_ns"] <= cost["total_ns"] and cost["pauses"] > 0, cost)
    check(cost["before_blocks"] > 0 and cost["before_bytes"] > 0, cost)
    check("heaptop: detached from process %d: " % asked.pid in err, err)
    check_left(asked)
    asked.end()


@case("of what was there before, what has turned over since differs from what never changes")
def turned():
    asked = Asked.take()
    asked.ask("keep 50")
    attach(asked)
    asked.ask("drop 20")
    status, out, err = finish(viewer("-b", "-n", "1", "-s", "freedshare", "-F", '"before attach"', "-a", asked.pid), asked)
    check_equal(status, 0, err)
    rows = re.findall(r" ([0-9.]+) \S+ attach, <=(\S+ \S+)", out)
    check("FREED%" in out and len(rows) > 2, out)
    check_equal({(share, size) for share, size in rows if share != "0"}, {("40.0", "1 KB")}, "what has turned over")
    detach(asked.pid)
    check_left(asked)
    asked.end()


@case("a later viewer says what is known of the attaching, and that another has detached")
def by_another():
    asked = Asked.take()
    attach(asked)
    known = frame(asked)["attach"]
    check_equal((known["state"], known["pauses"], known["longest_ns"]), ("attached", None, None), "a later viewer")
    check(known["before_blocks"] > 0 and known["before_bytes"] > 0, known)
    watching = viewer("-b", "-d", "0.1", "-a", asked.pid)
    wait_line(watching, "running")
    detach(asked.pid)
    wait_line(watching, "detached")
    watching.send_signal(signal.SIGINT)
    finish(watching, asked)
    check_left(asked)
    asked.end()


@case("a signal to the viewer detaches, too")
def signalled():
    asked = Asked.take()
    started = viewer("-b", "-d", "0.1", "-a", asked.pid)
    while not select.select([started.stdout], [], [], 0)[0]:
        asked.ask("turn 1")
    started.send_signal(signal.SIGTERM)
    _, err = started.communicate(timeout=60)
    check(b"detached from process %d" % asked.pid in err, err)
    check_left(asked)
    asked.end()


@case("the end detaches from all children, however many")
def many_children():
    asked = Asked.take()
    started = viewer("-b", "-d", "0.1", "-a", asked.pid)
    while not select.select([started.stdout], [], [], 0)[0]:
        asked.ask("turn 1")
    asked.ask("fork 34")
    started.send_signal(signal.SIGTERM)
    _, err = started.communicate(timeout=60)
    check(b"detached from 35 processes: " in err, err)
    check_left(asked)
    asked.end()


def shell_says(shell, command):
    """The line that it answers."""
    shell.stdin.write(command.encode() + b"\n")
    shell.stdin.flush()
    return shell.stdout.readline().decode().strip()


@case("the end detaches from what the program has executed meanwhile, and what that executes then is not recorded")
def executed_left():
    shell = subprocess.Popen(["/bin/sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(),
                             start_new_session=True)
    # It answers when what it has executed is gone.
    mapped = "echo $(grep -c %s /proc/self/maps)" % os.path.basename(segments)
    try:
        check_equal(shell_says(shell, mapped), "0", "segments in what it executes before")
        started = viewer("-b", "-d", "0.1", "--attach-timeout", "60s", "-a", shell.pid)
        wait_line(started, "running")
        check(int(shell_says(shell, mapped)) > 0, "what it executes is not recorded")
        inner = int(shell_says(shell, "exec 3>&1; sh -c 'echo $$; exec sh'"))
        check(int(shell_says(shell, "echo $(grep -c %s /proc/$$/maps)" % os.path.basename(segments))) > 0, "nor is the inner shell")
        started.send_signal(signal.SIGTERM)
        _, err = started.communicate(timeout=60)
        check(b"detached from 2 processes: " in err, err)
        for pid in (shell.pid, inner):
            with open("/proc/%d/maps" % pid, encoding="utf-8") as f:
                check(os.path.basename(segments) not in f.read(), "a segment is still mapped by %d" % pid)
        check_equal(shell_says(shell, mapped), "0", "segments in what the inner shell executes afterwards")
        check_equal(segment_files(), [], "segments left")
        shell.stdin.write(b"exit 5\n")
        shell.stdin.close()
        check_equal(shell.wait(60), 5, "the end")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()


@case("what is launched by a program that was attached to is recorded for itself")
def launched_by_attached():
    done = run([HEAPTOP, "--report", "--", "/bin/sh", "-c", 'test -z "$HEAPTOP_ATTACHED" && exit 5'],
               env=environment(HEAPTOP_ATTACHED="1"))
    check_equal(done.returncode, 5, "status (%s)" % done.stderr)


def play(text, *arguments, programs=()):
    path = os.path.join(scratch, "script")
    with open(path, "w", encoding="utf-8") as f:
        f.write(":size 120x20\n" + text)
    return finish(viewer("-d", "0.1", "--script", path, *arguments), *programs)


@case("D on the screen asks, detaches, and keeps what was seen; q asks what becomes of a recording")
def screen():
    asked = Asked.take()
    status, out, err = play(":until asked_turn\nD\n:save-display -\nD\n:save-display -\nq\n", "-a", asked.pid,
                            programs=[asked])
    check_equal((status, err), (0, ""), "status and errors")
    check("D again ends the recording" in out and "detached from process %d" % asked.pid in out, out)
    check("asked_turn" in out.split("D again")[1], "the sites are gone: " + out)
    check_left(asked)
    status, out, err = play(":until asked_turn\nq\n:save-display -\nk\n", "-a", asked.pid, programs=[asked])
    check("q detaches from the program, k leaves it recorded" in out, out)
    check_equal(status, 0, err)
    check("stays recorded" in err and len(segment_files()) == 1, err)
    status, out, err = play(":until asked_turn\nq\n", "-a", asked.pid, programs=[asked])
    check_equal((status, err), (0, ""), "a viewer that did not attach leaves at once")
    detach(asked.pid)
    check_left(asked)
    asked.end()


@case("several programs, and a program with its children")
def several():
    one, two = Asked.take(), Asked.take()
    status, out, err = finish(viewer("-b", "-n", "1", "-a", "%d,%d" % (one.pid, two.pid)), one, two)
    check_equal(status, 0, err)
    check("detached from 2 processes: " in err, err)
    check_left(one, two)
    script = ":until pid %d\np\n:until %d\n:save-display -\nq\nq\nq\n" % (one.pid, two.pid)
    status, out, err = play(script, "-a", "%d,%d" % (one.pid, two.pid), programs=[one, two])
    check_equal(status, 0, err)
    check(out.count(target("asked")) >= 2, out)
    check_left(one, two)
    one.end()
    two.end()


@case("programs are attached to beside one that is recorded already, and beside one that cannot be")
def beside():
    first, second = Asked.take(), Asked.take()
    attach(first)
    status, _, err = finish(viewer("-b", "-n", "1", "-a", "%d,%d" % (first.pid, second.pid)), second)
    check_equal(status, 0, err)
    check("detached from process %d: " % second.pid in err and "process %d:" % first.pid not in err, err)
    check_equal(len(segment_files()), 1, "segments: the first program's")
    detach(first.pid)
    os.kill(first.pid, signal.SIGSTOP)
    wait_for(lambda: " T " in open("/proc/%d/stat" % first.pid, encoding="utf-8").read(), "its stop")
    try:
        status, out, err = finish(viewer("-b", "-n", "1", "-a", "%d,%d" % (first.pid, second.pid)), second)
    finally:
        os.kill(first.pid, signal.SIGCONT)
    check_equal(status, 0, err)
    check("watching from outside: it is stopped" in out and "detached from process %d: " % second.pid in err, err)
    check_left(first, second)
    first.end()
    second.end()


@case("--tree takes the children that run already")
def tree():
    parent = subprocess.Popen(["/bin/sh", "-c", "sleep 300 & sleep 300 & wait"], env=environment(),
                              stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        def both():
            with open("/proc/%d/task/%d/children" % (parent.pid, parent.pid), encoding="ascii") as f:
                children = f.read().split()
            names = [os.path.basename(os.readlink("/proc/%s/exe" % c)) for c in children]
            return names == ["sleep"] * 2
        wait_for(both, "two children")
        done = run([HEAPTOP, "-b", "-n", "1", "--tree", str(parent.pid)], timeout=100)
        check_equal(done.returncode, 0, done.stderr)
        check(b"detached from 3 processes: " in done.stderr, done.stderr)
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()


@case("--tree says how many descendants it leaves out")
def tree_large():
    script = "for i in $(seq 34); do sleep 300 & done; echo; kill -STOP 0"
    parent = subprocess.Popen(["/bin/sh", "-c", script], env=environment(), stdout=subprocess.PIPE,
                              start_new_session=True)
    try:
        parent.stdout.readline()
        wait_for(lambda: " T " in open("/proc/%d/stat" % parent.pid, encoding="utf-8").read(), "its stop")
        done = run([HEAPTOP, "-b", "-n", "1", "--tree", str(parent.pid)], timeout=100)
        check_equal(done.returncode, 0, done.stderr)
        check(b"heaptop: 3 of the descendants of process %d are left out: 32 " % parent.pid in done.stderr,
              done.stderr)
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()
        parent.stdout.close()


def copy_of(name, program="asked"):
    path = os.path.join(scratch, name)
    shutil.copy(os.path.join(TARGETS, program), path)
    return path


@case("a program is named, several of one name are listed, and one that does not exist is waited for")
def named():
    path = copy_of(NAMED)
    done = run([HEAPTOP, "-b", "-a", NAMED])
    check_equal(done.returncode, 125, "status")
    check(b"no process is called " + NAMED.encode() in done.stderr and b"--wait" in done.stderr, done.stderr)
    waiting = viewer("-b", "-n", "1", "--wait", NAMED)
    line = waiting.stderr.readline()
    check(b"waiting for a process called " + NAMED.encode() in line, line)
    one = Asked(path)
    status, out, err = finish(waiting, one)
    check_equal(status, 0, err)
    check("pid %d" % one.pid in out and "detached" in err, out + err)
    status, out, err = finish(viewer("-b", "-n", "1", "-a", path), one)
    check("pid %d" % one.pid in out, out + err)
    two = Asked(path)
    done = run([HEAPTOP, "-b", "-a", NAMED])
    check_equal(done.returncode, 125, "status")
    check(b"2 processes are called " + NAMED.encode() in done.stderr, done.stderr)
    check(all(b"%d" % p.pid in done.stderr for p in (one, two)), done.stderr)
    check_left(one, two)
    one.end()
    two.end()


@case("recordings are ended by name")
def ended_by_name():
    path = copy_of(ENDED)
    programs = one, two, three = Asked(path), Asked(path), Asked(path)
    done = run([HEAPTOP, "--detach", ENDED])
    check_equal((done.returncode, done.stdout), (125, b""), "status and output")
    check(b"is recorded, of 3 that run" in done.stderr, done.stderr)
    for program in (one, two):
        attach(program)
    said = detach(ENDED)
    for program in (one, two):
        check("detached from process %d: " % program.pid in said, said)
    check(str(three.pid) not in said and not three.maps("libheaptop"), said)
    check_left(*programs)
    for program in programs:
        program.end()
    done = run([HEAPTOP, "--detach", ENDED])
    check(done.returncode == 125 and b"no process is called " + ENDED.encode() in done.stderr, done.stderr)


@case("two viewers that attach at the same time take turns")
def together():
    asked = Asked.take()
    for _ in range(10):
        both = [viewer("--report", "-n", "1", "-a", asked.pid) for _ in range(2)]
        for one in both:
            said = one.communicate(timeout=60)[1]
            check_equal(one.returncode, 0, said.decode())
    asked.end()


@case("-a alone lists the user's processes where there is no screen")
def listed():
    asked = Asked.take()
    done = run([HEAPTOP, "-a", "-b"])
    check_equal((done.returncode, done.stderr), (0, b""), "status and errors")
    lines = [line.split() for line in done.stdout.decode().splitlines()]
    check_equal(lines[0], ["PID", "RSS", "STATE", "COMMAND"], "the first line")
    check([str(asked.pid)] in [line[:1] for line in lines], "the program is not listed")
    asked.end()


def read_until(fd, text, limit=60):
    """What a terminal got, until `text` is in it."""
    got = bytearray()

    def ready():
        while select.select([fd], [], [], 0)[0]:
            try:
                got.extend(os.read(fd, 65536))
            except OSError:
                return True
        return text in got
    wait_for(ready, "%r on the screen" % text, limit)
    return bytes(got)


@case("-a alone on a terminal: a process is found, chosen and shown")
def chosen():
    asked = Asked(copy_of("heaptop-e2e-chosen"))
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    started = subprocess.Popen([HEAPTOP, "-d", "0.1", "--keep", "-a"], stdin=slave, stdout=slave, stderr=slave,
                               env=environment(TERM="xterm"), start_new_session=True)
    os.close(slave)
    try:
        read_until(master, b"choose a process to watch")
        os.write(master, b"/e2e-chosen")
        read_until(master, b"e2e-chosen_")
        os.write(master, b"\r\r")
        said = b""
        while b"LIVE" not in said:
            asked.ask("turn 1")
            if select.select([master], [], [], 0.01)[0]:
                said += os.read(master, 65536)
        os.write(master, b"q")
        read_until(master, b"stays recorded")
    finally:
        started.wait(60)
        os.close(master)
    detach(asked.pid)
    check_left(asked)
    asked.end()


@case("a program that cannot be attached to is watched from outside, and what needs a recording refused")
def outside():
    process = subprocess.Popen([target("asked")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    pid = int(process.stdout.readline())
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: " T " in open("/proc/%d/stat" % pid, encoding="utf-8").read(), "its stop")
    try:
        done = run([HEAPTOP, "-b", "-n", "2", "-d", "0.1", "-a", str(pid)])
        check_equal(done.returncode, 0, done.stderr)
        text = done.stdout.decode()
        check(text.count("! watching from outside: it is stopped") == 2 and "RSS  " in text, text)
        check(b"to record it: heaptop -- " + target("asked").encode() in done.stderr, done.stderr)
        done = run([HEAPTOP, "-b", "-n", "1", "--format", "json", "-a", str(pid)])
        rep = json.loads(done.stdout)
        check_equal((rep["attach"]["state"], rep["process"]["state"]), ("outside", "running"), "state")
        check(rep["proc"]["rss"] > 0 and rep["memory"]["rss"] > 0, rep)
        check({s["function"] for s in rep["sites"]} == {"in use"}, rep["sites"])
        check_equal(total(rep["sites"], "live_bytes"), rep["totals"]["live_bytes"], "its heap")
        file = os.path.join(scratch, "saved")
        for option in ("--report", "--leak-check", "--sample=1M", "--sizes=1", "--save=" + file):
            done = run([HEAPTOP, option, *(["-b"] if "sample" in option else []), "-a", str(pid)])
            check_equal(done.returncode, 125, "status with " + option)
            check(b"to record it: heaptop -- " in done.stderr, done.stderr)
        check(not os.path.exists(file), "a file of nothing was saved")
        status, out, err = play(":until RSS\nD\n:save-display -\nF8\n:until brk heap\nq\n", "-a", pid)
        check_equal(status, 0, err)
        check("not recorded" in out and "nothing to detach from" in out, out)
        check_equal(segment_files(), [], "segments left")
    finally:
        os.kill(pid, signal.SIGCONT)
        process.stdin.close()
        check_equal(process.wait(60), 0, "the end")


@case("a program that carries the library from its start is detached from, and attached to again")
def launched():
    asked = Asked(None, LD_PRELOAD=LIBRARY)
    asked.ask("keep 20")
    check_equal(total(sites_named(frame(asked), "asked_keep"), "live_blocks"), 20, "kept from the start")
    check("detached from process %d: " % asked.pid in detach(asked.pid), "what --detach says")
    check_left(asked)
    attach(asked)
    asked.ask("keep 5")
    check_equal(total(sites_named(frame(asked), "asked_keep"), "live_blocks"), 5, "kept since")
    status, out, err = play(":until LIVE\nD\nD\n:until  detached \n:save-display -\nq\n", "-a", asked.pid, programs=[asked])
    check_equal((status, err), (0, ""), "D on the screen of a later viewer")
    check("● LIVE" not in out and "detached" in out, out)
    check_left(asked)
    asked.end()


def double_free(asked):
    """The row of one, which is the first thing that happens after the attach."""
    asked.ask("twice 1")
    rows = [f for f in frame(asked)["wrong_frees"] if f["kind"] == "double"]
    check_equal([f["count"] for f in rows], [1], "double frees")
    return rows[0]


@case("--free-stacks, of a process that is attached to again without it too")
def free_stacks():
    asked = Asked.take()
    for options in (["--free-stacks"], []):
        attach(asked, *options)
        row = double_free(asked)
        check("asked_twice" in [f["function"] for f in row["stack"]], row)
        check_equal(row["first_freed_by"], "free" if options else None, "what freed it first")
        check_equal("asked_twice" in [f["function"] for f in row["first_stack"]], bool(options), "where")
        detach(asked.pid)
        check_left(asked)
    asked.end()


@case("the last frame in a format that programs read waits for names, whatever the time between frames")
def names_awaited():
    """Something delays the reading of the program's file by more than that."""
    asked = Asked.take()
    asked.ask("keep 1")
    attach(asked)
    asked.ask("keep 1")
    done = run([need("strace"), "-f", "-qq", "-o", "/dev/null", "-P", target("asked"), "-e", "inject=openat:delay_enter=2000000",
                HEAPTOP, "-b", "-n", "1", "-d", "0.1", "--format", "json", "-a", str(asked.pid)])
    check_equal((done.returncode, done.stderr), (0, b""), "a later viewer")
    check(sites_named(json.loads(done.stdout), "asked_keep"), "no site of asked_keep")
    detach(asked.pid)
    asked.end()


@case("--readonly changes nothing in a program")
def readonly():
    asked = Asked.take()
    status, out, err = play(":until RSS\n:save-display -\nq\n", "--readonly", "-a", asked.pid, programs=[asked])
    check_equal(status, 0, err)
    check("watching from outside: --readonly changes nothing" in out, out)
    check(not asked.maps("libheaptop.so"), "the library is loaded")
    asked.end()


@case("a program that another heaptop watches from outside is attached to all the same")
def watched_from_outside():
    asked = Asked.take()
    script = os.path.join(scratch, "outside")
    with open(script, "w", encoding="utf-8") as f:
        f.write(":until watching from outside\n:save-display -\n:until never\n")
    first = viewer("--script", script, "--readonly", "-a", str(asked.pid))
    check(first.stdout.read(1), "it is not watched")
    done = run([HEAPTOP, "-b", "-n", "1", "--format", "json", "-a", str(asked.pid)])
    check_equal((done.returncode, json.loads(done.stdout)["attach"]["state"]), (0, "attached"), done.stderr)
    first.kill()
    first.wait()
    check_equal(run([HEAPTOP, "--clean"]).returncode, 0, "cleaning what it left")
    asked.end()


@case("--detach of one that cannot be traced, or is not recorded, says so")
def no_detach():
    asked = Asked.take()
    done = run([HEAPTOP, "--detach", str(asked.pid)])
    check_equal((done.returncode, done.stdout), (0, b"process %d is not recorded: there is nothing to detach from\n"
                                                 % asked.pid), "of one that is not recorded")
    os.kill(asked.pid, signal.SIGSTOP)
    wait_for(lambda: "T (stopped)" in status_of(asked.pid), "it stops")
    done = run([HEAPTOP, "--detach", str(asked.pid)])
    os.kill(asked.pid, signal.SIGCONT)
    check_equal(done.returncode, 125, done.stderr)
    check_equal(done.stderr, b"heaptop: process %d cannot be detached from: it is stopped; continue it first (kill -CONT %d, or fg)\n"
                % (asked.pid, asked.pid), "of one that is stopped")
    asked.end()


@case("one that may not have started yet, in uninterruptible sleep, is waited for no longer than --attach-timeout")
def time_of_start():
    trace, most = os.path.join(scratch, "sleeps"), 0.3
    with subprocess.Popen([target("vforks")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as process:
        check_equal(process.stdout.readline(), b"waits\n", "the program")
        wait_for(lambda: stat("/proc/%d/stat" % process.pid)[0] == "D", "its sleep")
        done = run([need("strace"), "-f", "--seccomp-bpf", "-qq", "-o", trace, "-e", "trace=clock_nanosleep", HEAPTOP, "-b", "-n", "1",
                    "--attach-timeout", str(most), "-a", str(process.pid)])
        check_equal(done.returncode, 0, done.stderr)
        check(b"could be used in time" in done.stderr + done.stdout, done.stderr)
        with open(trace, encoding="utf-8", errors="replace") as f:
            looks = f.read().count("{tv_sec=0, tv_nsec=20000000}")
        check(looks <= most / 0.02 + 1, "it slept %d times between two looks" % looks)
        process.stdin.close()
        check_equal(process.wait(60), 7, "its status")


@case("a program without a safe point is left as it was, in time or at once")
def no_safe_point():
    process = subprocess.Popen([target("in_callback")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env=environment())
    check_equal(process.stdout.readline(), b"waits\n", "the program")
    pid = str(process.pid)
    done = run([HEAPTOP, "-b", "-n", "1", "--attach-timeout", "0.2", "-a", pid])
    check_equal(done.returncode, 0, done.stderr)
    check(b"! watching from outside: " in done.stdout, done.stdout)
    started = viewer("-b", "-n", "1", "--attach-timeout", "1h", "-a", pid)
    line = started.stderr.readline()
    check(line.startswith(b"heaptop: attaching to process %s: " % pid.encode()), line)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    check_equal(out, b"", "frames")
    check_equal(started.returncode, 125, "status")
    check(b"gave up attaching to process %s: it is unchanged" % pid.encode() in err, err)
    check_equal(segment_files(), [], "segments left")
    process.stdin.write(b"\n")
    process.stdin.close()
    check_equal(process.wait(60), 7, "its status")


run_cases()
