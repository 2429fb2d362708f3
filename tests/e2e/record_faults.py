#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of both kinds where things go wrong: files that cannot be written, disks that are full, recorders and
programs that are killed at random moments, storms of children. The program never notices; what is in the file is
whole. SOAK=1: 1,000 kills, and full disks of 100 sizes."""

import json
import os
import random
import re
import signal
import subprocess
import time

from proving import (HEAPTOP, LIBRARY, Skip, case, check, check_equal, environment, heap_sites, kill_hard, need, run,
                      run_cases, scratch, segment_files, segments, target, wait_for)

IN_FLIGHT = 64  # events of threads that have counted for the program, and not yet for a site
KINDS = ("--record", "--record-events")
FILE = os.path.join(scratch, "file")
ROUNDS = 1000 if "SOAK" in os.environ else 10
THREADS = 4  # that event_threads makes
DISKS = 50 if "SOAK" in os.environ else 0  # of each kind
CHILDREN = 200
CROWD = 100
SEEDED = 60000  # blocks: takes some milliseconds to read
STOPPED_S = 6  # a program writes events for 5 s after they were asked to


def fresh():
    if os.path.lexists(FILE):
        os.unlink(FILE)


def recorded(kind, *options, file=FILE, command=("crash", "exit"), **how):
    return run([HEAPTOP, kind, file, "-d", "0.1", *options, "--report", "-o", "/dev/null", "--",
                target(command[0]), *command[1:]], **how)


def read(file=FILE):
    done = run([HEAPTOP, "-r", file, "--format", "json"])
    check_equal(done.returncode, 0, "status of -r (%s)" % done.stderr.decode())
    return json.loads(done.stdout)


def refused(done, why):
    check_equal((done.returncode, done.stdout), (125, b""), "what cannot be recorded")
    check(why in done.stderr and done.stderr.count(b"\n") == 1, done.stderr.decode())


class Asked:
    """A program with the library and without a viewer."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([target("asked"), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=environment(LD_PRELOAD=LIBRARY))
        self.process.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        kill_hard(self.process)
        self.process.wait(60)
        self.process.stdout.close()
        run([HEAPTOP, "--clean"])

    def ask(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        check_equal(self.process.stdout.readline(), b"done\n", line)
        return True

    def end(self):
        self.process.stdin.close()
        check_equal(self.process.wait(60), 0, "the program's end")


def recorder(kind, pid, **how):
    return subprocess.Popen([HEAPTOP, kind, FILE, "-d", "0.1", "--headless", "-a", str(pid)], env=environment(),
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)


def consistent(rep, running=False):
    """What is in a file that was cut off: sums are sums. `running`: a tick while threads allocate has the totals of
    a moment, and the sites of a later one."""
    totals = rep["totals"]
    if totals["lost_events"]:
        return
    if running:
        for field in ("allocs", "frees"):
            check(sum(s[field] for s in heap_sites(rep)) + IN_FLIGHT >= totals[field], field)
        for s in heap_sites(rep):
            check_equal(s["allocs"] - s["frees"], s["live_blocks"], "live blocks of a site")
        return
    for field in ("live_bytes", "live_blocks", "allocs", "frees", "alloc_bytes"):
        check_equal(sum(s[field] for s in heap_sites(rep)), totals[field], field)
    check_equal(totals["allocs"] - totals["frees"], totals["live_blocks"], "live blocks")


# ---- files ----

@case("what is no regular file, or cannot be made, is refused in one line, before the program runs")
def destinations():
    fifo = os.path.join(scratch, "fifo")
    os.mkfifo(fifo)
    for kind in KINDS:
        for path, why in ((fifo, b"not a regular file"), ("/dev/full", b"not a regular file"),
                          ("/dev/null", b"not a regular file"), (scratch, b"directory"),
                          ("/nonexistent/file", b"No such file"), ("/proc/file", b"/proc/file")):
            refused(recorded(kind, file=path), why)
    check_equal(segment_files(), [], "what is left")


@case("through a symbolic link, and over an older file")
def links():
    link, behind = os.path.join(scratch, "link"), os.path.join(scratch, "behind")
    os.symlink(behind, link)
    for kind in KINDS:
        with open(behind, "w", encoding="ascii") as f:
            f.write("older " * 100000)
        check_equal(recorded(kind, file=link).returncode, 5, "status")
        check(os.path.islink(link), "the link is replaced")
        check(read(behind)["totals"]["allocs"] > 0, "nothing is recorded")


@case("two recorders never write to one file, nor one to a program's segment")
def one_writer():
    fresh()
    refused(run([HEAPTOP, "--record", FILE, "--record-events", FILE, "--report", "--", target("crash"), "exit"]),
            b"another heaptop records to it")
    with Asked() as program:
        for kind in KINDS:
            refused(recorded(kind, file=segment_files()[0]), b"segment")
        program.ask("keep 10")
        program.end()


def full_checked(kind, said, why, size=4096):
    """The file is small, says what came before, and the recorder said why there is no more. The blocks that it has."""
    check(why in said, "said: " + said.decode())
    check(0 < os.path.getsize(FILE) <= size, "size")
    done = run([HEAPTOP, "-r", FILE, "--format", "json"])
    check(done.returncode == 0 or re.search(rb"before the first event|no complete tick", done.stderr), done.stderr.decode())
    if done.returncode != 0:
        return 0
    rep = json.loads(done.stdout)
    consistent(rep, running=kind == "--record")
    return rep["totals"]["allocs"]


def on_small_disk(kind, size, *command):
    """Records on a disk of that size, in bytes, which is not enough. The allocations that the file has."""
    disk = os.path.join(scratch, "disk")
    os.makedirs(disk, exist_ok=True)
    if run([need("unshare"), "-m", "true"]).returncode != 0:
        raise Skip("unshare -m is not permitted here")
    fresh()
    done = run(["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=%d none "$1"; shift; "$@"; '
                'echo $?; cp %s/file %s' % (size, disk, FILE), "sh", disk, HEAPTOP, kind, os.path.join(disk, "file"),
                "-d", "0.1", "--report", "-o", "/dev/null", "--", target("event_threads"), *command])
    check_equal(done.stdout, b"done\n0\n", "the program's output and status")
    return full_checked(kind, done.stderr, b"No space left on device", size)


@case("a full disk ends the recording, not the program")
def full_disk():
    filler = os.urandom(600).hex()  # of the command line: the file is full soon
    for kind in KINDS:
        on_small_disk(kind, 4096, "100", "300", filler)


def on_full_disk(program, *options, **how):
    """Records the events of a program that makes more of them until the recorder ends: it, and what it said. The disk
    has room for the program's command line, and little else."""
    disk = os.path.join(scratch, "disk")
    os.makedirs(disk, exist_ok=True)
    if run([need("unshare"), "-m", "true"]).returncode != 0:
        raise Skip("unshare -m is not permitted here")
    process = subprocess.Popen(
        ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=4096 none "$1" && shift && exec "$@"', "sh", disk, HEAPTOP,
         "--record-events", os.path.join(disk, "file"), "-d", "0.1", *options, "-a", str(program.process.pid)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    while process.poll() is None:
        program.ask("turn 20000")
    out, said = process.communicate()
    check(b"No space left on device" in said, said.decode())
    return process.returncode, out


FILLER = 1200  # bytes of a command line


@case("a recording of events that cannot go on ends the recorder that does nothing else, not the program")
def full_headless():
    with Asked(os.urandom(FILLER).hex()) as program:
        check_equal(on_full_disk(program, "--headless")[0], 125, "status of the recorder")
        program.end()


@case("the screen says that a recording of events cannot go on")
def full_on_screen():
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="ascii") as f:
        f.write(":size 160x30\n:until is incomplete\n:save-display -\n")
    with Asked(os.urandom(FILLER).hex()) as program:
        status, out = on_full_disk(program, "--script", script)
        check(re.search(rb"recording of events \S+ is incomplete: No space left on device", out), out.decode())
        check_equal(status, 0, "status of the screen")
        program.end()


def full_at_random():
    """Disks of fewer pages than the files would have."""
    dice, said = random.Random(1), 0
    for _ in range(DISKS):
        for kind, pages, rounds in (("--record-events", 250, "300"), ("--record", 3, "300")):
            said += on_small_disk(kind, 4096 * dice.randrange(1, pages), rounds, "300") > 0
    print("# %d of %d files said something" % (said, 2 * DISKS))
    check(said > DISKS // 2, "only %d files said something" % said)


if DISKS:
    case("a disk that is full at %d moments" % (2 * DISKS))(full_at_random)


@case("a file that is removed meanwhile changes nothing for the program")
def removed():
    for kind in KINDS:
        fresh()
        with subprocess.Popen([HEAPTOP, kind, FILE, "-d", "0.1", "--report", "-o", "/dev/null", "--",
                               target("asked")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment()) as process:
            process.stdout.readline()
            os.unlink(FILE)
            process.stdin.write(b"keep 5000\n")
            process.stdin.flush()
            check_equal(process.stdout.readline(), b"done\n", "the program")
            process.stdin.close()
            check_equal(process.wait(60), 0, "status")
        check(not os.path.exists(FILE), "the file is back")


# ---- children ----

def said_lost(said):
    found = re.search(rb"(\d+) of \d+ events were lost", said)
    return int(found[1]) if found else 0


def left_out(said):
    found = re.search(rb"\((\d+) more left out\)", said)
    return int(found[1]) if found else 0


@case("a storm of children: each is in the file with all of its events, or said to be left out")
def storm():
    for kind, options in (("--record", ()), ("--record", ("-d", "60")), ("--record-events", ()), ("--record-events", ("--lossless",))):
        fresh()
        done = recorded(kind, *options, command=("forking", str(CHILDREN), "50"))
        check_equal((done.returncode, done.stdout), (3, b"done\n"), "the program")
        rep = read()
        check_equal(rep["totals"]["allocs"], 1, "allocations of the program itself")
        lost = 0
        for child in rep["children"]:
            totals = child["totals"]
            what = "a child's, %s %s, %d lost (%r)" % (kind, " ".join(options), totals["lost_events"], done.stderr)
            if totals["lost_events"]:  # of a recorder that had no processor for seconds
                check_equal(totals["allocs"] + totals["frees"] + totals["lost_events"], 150, what)
                lost += totals["lost_events"]
            else:
                check_equal((totals["allocs"], totals["frees"], totals["live_bytes"]), (100, 50, 5000), what)
        check_equal(said_lost(done.stderr), lost, "events said to be lost")
        check_equal(len(rep["children"]) + left_out(done.stderr), CHILDREN, "children")
        check(kind == "--record" or len(rep["children"]) == CHILDREN, "children in the file")
        check_equal(segment_files(), [], "what is left")


@case("children's events are recorded, however many segments of others are being made")
def crowd():
    fresh()
    script = 'for i in $(seq %d); do : >"$1-$i"; done; "$2" 20 5' % CROWD
    others = os.path.join(segments, "heaptop-other")
    done = run([HEAPTOP, "--record-events", FILE, "--report", "-o", "/dev/null", "--", "sh", "-c", script, "sh", others,
                target("forking")])
    made = segment_files()
    for path in made:
        os.unlink(path)
    check_equal((done.returncode, len(made)), (3, CROWD), "status, and segments of others")
    check_equal(sum(c["totals"]["allocs"] == 100 for c in read()["children"]), 20, "children")


# ---- deaths ----

def said_empty(done):
    return done.returncode == 125 and done.stderr.count(b"\n") == 1 and not done.stdout


def killed_once(kind, which, dice):
    """Kills recorder (0) or program (1) at a random moment. Returns whether the file says anything."""
    fresh()
    options = ["--lossless"] if kind == "--record-events" and dice.random() < 0.5 else []
    with subprocess.Popen([HEAPTOP, kind, FILE, "-d", "0.1", *options, "--report", "-o", "/dev/null", "--",
                           target("event_threads"), "10000", "200"], env=environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as viewer:
        program = wait_for(lambda: program_of(viewer.pid), "the program")
        time.sleep(dice.random() * 0.3)  # any moment is right
        victim = (viewer.pid, program)[which]
        os.kill(victim, signal.SIGKILL)
        if victim == viewer.pid:
            viewer.wait(60)
            size = os.path.getsize(FILE) if os.path.exists(FILE) else 0
            os.kill(program, signal.SIGKILL)
        else:
            check_equal(viewer.wait(60), 128 + signal.SIGKILL, "status of the recorder")
            size = -1
        viewer.stdout.read()
    if size == 0 or not os.path.exists(FILE):
        return False
    done = run([HEAPTOP, "-r", FILE, "--format", "json"])
    if size >= 0 and said_empty(done):
        return False  # killed before the first block
    check_equal(done.returncode, 0, "status of -r (%s)" % done.stderr.decode())
    consistent(json.loads(done.stdout), running=kind == "--record" and victim == viewer.pid)
    return True


def program_of(viewer):
    """The program that a viewer launched, once it has all its threads: it has been recorded for long then."""
    try:
        with open("/proc/%d/task/%d/children" % (viewer, viewer), encoding="ascii") as f:
            for pid in f.read().split():
                if os.path.basename(os.readlink("/proc/%s/exe" % pid)) == "event_threads" and \
                        len(os.listdir("/proc/%s/task" % pid)) == 1 + THREADS:
                    return int(pid)
    except OSError:
        pass
    return 0


@case("recorder or program killed at %d random moments: the file opens, and its sums are right" % ROUNDS)
def kills():
    dice, opened = random.Random(), 0
    for i in range(ROUNDS):
        opened += killed_once(KINDS[i % 2], i // 2 % 2, dice)
        run([HEAPTOP, "--clean"])
    check(opened >= ROUNDS // 3, "only %d of %d files say anything" % (opened, ROUNDS))
    print("# %d of %d files said something" % (opened, ROUNDS))


@case("a program that dies is recorded to its end by who attached to it")
def attached():
    for kind in KINDS:
        fresh()
        with Asked() as program:
            with recorder(kind, program.process.pid) as viewer:
                wait_for(lambda: os.path.exists(FILE) and os.path.getsize(FILE) > 100, "the file")
                program.ask("turn 100")  # a thread notices within 32 of its events that they are recorded
                program.ask("keep 50")
                kill_hard(program.process)
                check_equal(viewer.wait(60), 0, "status of the recorder")
                viewer.communicate()
        rep = read()
        consistent(rep)
        kept = [s["live_blocks"] for s in rep["sites"] if any(f["function"] == "asked_keep" for f in s["stack"])]
        check_equal(kept, [50], "blocks")


def kept_and_lost():
    """Of asked_keep's blocks: those in the file, and events that it says are lost."""
    rep = read()
    kept = [s["live_blocks"] for s in rep["sites"] if any(f["function"] == "asked_keep" for f in s["stack"])]
    return sum(kept), rep["totals"]["lost_events"]


def has_begun():
    """Who attached has read the blocks that were there, and the counters: what comes now is an event, or lost."""
    done = run([HEAPTOP, "-r", FILE, "--format", "json"])
    return done.returncode == 0 and json.loads(done.stdout)["totals"]["live_blocks"] > 0


@case("what a thread allocates before it notices that it is recorded counts as lost")
def unnoticed():
    for busy in (1000, 1010, 1020):
        fresh()
        with Asked() as program:
            program.ask("turn %d" % busy)  # then the thread looks only at each 32nd event
            with recorder("--record-events", program.process.pid) as viewer:
                wait_for(has_begun, "the blocks that were there")
                program.ask("keep 3")
                program.end()
                check_equal(viewer.wait(60), 0, "status of the recorder")
                said = viewer.communicate()[1].decode()
        kept, lost = kept_and_lost()
        check_equal(kept + lost, 3, "blocks kept, %d, and events lost" % kept)
        check_equal("events were lost" in said, lost > 0, "what is said: " + said)


@case("what a thread allocates while the blocks that were there are read is kept, or counts as lost")
def seeded():
    """The blocks go to the lowest addresses, which are read first; the thread looks only at each 32nd event."""
    for _ in range(3):
        fresh()
        with Asked() as program:
            program.ask("keep %d" % SEEDED)
            program.ask("drop 24")
            program.ask("turn 1000")
            with recorder("--record-events", program.process.pid) as viewer:
                while viewer.poll() is None and not (os.path.exists(FILE) and os.path.getsize(FILE) > 100):
                    pass  # that is when it begins to read them
                for _ in range(24):
                    program.ask("keep 1")
                program.end()
                check_equal(viewer.wait(60), 0, "status of the recorder")
                viewer.communicate()
        kept, lost = kept_and_lost()
        check(kept + lost >= SEEDED, "%d blocks of %d, and %d events lost" % (kept, SEEDED, lost))


@case("a recorder that is stopped for longer than the program waits for it says what it lost")
def stopped_long():
    for options in ((), ("--lossless",)) if "SOAK" in os.environ else (("--lossless",),):
        fresh()
        with subprocess.Popen([HEAPTOP, "--record-events", FILE, *options, "--report", "-o", "/dev/null", "--",
                               target("asked")], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as viewer:
            viewer.stdout.readline()

            def ask(line, viewer=viewer):
                viewer.stdin.write(line + b"\n")
                viewer.stdin.flush()
                check_equal(viewer.stdout.readline(), b"done\n", "the program's answer")

            ask(b"keep 10")
            wait_for(lambda: os.path.getsize(FILE) > 100, "the file")
            viewer.send_signal(signal.SIGSTOP)
            time.sleep(STOPPED_S)  # the program has given the recorder up, and writes no events
            for _ in range(5):
                ask(b"turn 300")
            ask(b"keep 70")
            viewer.send_signal(signal.SIGCONT)
            viewer.stdin.close()
            check_equal(viewer.wait(60), 0, "status")
        kept, lost = kept_and_lost()
        # It notices at its next look at the clock, which may be at each 32nd event.
        check(10 <= kept <= 10 + 31 and lost + kept - 10 >= 3000 + 70 - 31 and lost + kept - 10 <= 3000 + 70,
              "%d kept, %d lost" % (kept, lost))


run_cases()
