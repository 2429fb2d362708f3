#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group E of the fault matrix, hostile neighbours: broken segments, names that others have taken, and
names that are not fit for a terminal."""

import contextlib
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import time

from rows import deadline, fault_target, row, run_rows, times
from proving import (HEAPTOP, LIBRARY, check, check_equal, environment, run, scratch, segment_files,
                     segments, target, wait_for)
from tight import as_nobody

HEADER_WORDS = 900  # of 8 bytes: all but the long tables at its end


def clear_segments():
    for path in segment_files():
        os.unlink(path)


class Waiting:
    """The program that waits, preloaded alone; ends with 5."""

    def __init__(self, *command, **variables):
        self.process = subprocess.Popen(
            command or [target("crash"), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment(LD_PRELOAD=LIBRARY, **variables))
        check_equal(self.process.stdout.readline(), b"ready\n", "what the program says first")

    def __enter__(self):
        return self.process

    def __exit__(self, *_):
        self.process.communicate()
        if self.process.returncode is None:
            self.process.kill()


# ---- segments ----------------------------------------------------------------------------------

def one_line_or_frame(done, what):
    """It shows something, or says in one line that it cannot."""
    check(done.returncode in (0, 125), "%s: status %d, %r" % (what, done.returncode, done.stderr[-200:]))
    if done.returncode == 125:
        check(done.stderr.startswith(b"heaptop: ") and done.stderr.count(b"\n") == 1, "%s: says %r" % (
            what, done.stderr))


def spoil(path, dice):
    """Changes a word or a few: of the header, and anywhere that is in use."""
    with open(path, "r+b") as f:
        for _ in range(dice.choice((1, 1, 2, 8, 64))):
            at = 8 * dice.randrange(2, HEADER_WORDS) if dice.random() < 0.6 else \
                8 * dice.randrange(1 << 17)
            value = dice.choice((0, 1, 2 ** 31 - 1, 2 ** 32 - 1, 2 ** 64 - 1, dice.getrandbits(64),
                                 1 << dice.randrange(64)))
            f.seek(at)
            f.write(struct.pack("<Q", value))


@row("E11", "a broken segment: the viewer crashes, hangs, or believes it")
def broken_segments():
    clear_segments()
    done = run([target("crash"), "kill"], env=environment(LD_PRELOAD=LIBRARY))
    check_equal(done.returncode, -signal.SIGKILL, "exit status")
    whole, = segment_files()
    dice = random.Random(11)
    broken = os.path.join(segments, "broken")
    for i in range(times(60, 1000)):
        run(["cp", "--sparse=always", "-p", whole, broken])
        spoil(broken, dice)
        one_line_or_frame(run([HEAPTOP, "-b", "-n", "1", "-r", broken], timeout=20), "copy %d" % i)
    for size in (0, 1, 4096, 65535, 65536, 1 << 20, 1 << 24):
        with open(whole, "rb") as f, open(broken, "wb") as to:
            to.write(f.read(size))
        one_line_or_frame(run([HEAPTOP, "-b", "-n", "1", "-r", broken]), "%d bytes" % size)
    os.unlink(broken)
    clear_segments()


@row("E11a", "a segment is cut short, or filled with nonsense, while a viewer looks: SIGBUS")
def spoilt_under_a_viewer():
    dice = random.Random(12)
    for i in range(times(6, 100)):
        clear_segments()
        run([target("crash"), "kill"], env=environment(LD_PRELOAD=LIBRARY))
        path, = segment_files()
        with subprocess.Popen([HEAPTOP, "-b", "-d", "0.1", "-n", "4", "-r", path], env=environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as viewer:
            viewer.stdout.readline()
            if i % 2:
                os.truncate(path, dice.choice((0, 4096, 65536, 1 << 20)))
            else:
                spoil(path, dice)
            out, errors = deadline.finish(viewer, 30)
            check(viewer.returncode in (0, 125), "status %d: %r" % (viewer.returncode, errors))
            check(errors.count(b"\n") <= 1, "says %r" % errors)
    clear_segments()


# ---- names that others have taken --------------------------------------------------------------

SQUATTED = r"""
import os, sys
kind, folder, elsewhere = sys.argv[1:4]
with open("/proc/self/stat", "rb") as f:
    start = f.read().rsplit(b")", 1)[1].split()[19].decode()
names = ["%s/heaptop-%d-%s-%d" % (folder, os.getpid(), start, i) for i in range(3)]
for name in names:
    if kind == "symlink":
        os.symlink(elsewhere, name)
    elif kind == "dangling":
        os.symlink(elsewhere + ".not-there", name)
    elif kind == "fifo":
        os.mkfifo(name, 0o666)
    elif kind == "folder":
        os.mkdir(name)
    else:
        with open(name, "w") as f:
            f.write("another's")
        os.chmod(name, 0o666)
        if os.geteuid() == 0:
            os.chown(name, 65534, 65534)
os.environ["LD_PRELOAD"] = sys.argv[4]
os.execv(sys.argv[5], sys.argv[5:])
"""


def removed(path):
    shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)


@row("E12", "a segment's name is taken: a link, a FIFO, a folder, another user's file")
def names_taken():
    clear_segments()
    elsewhere = os.path.join(scratch, "elsewhere")
    for kind in ("symlink", "dangling", "fifo", "folder", "file"):
        with open(elsewhere, "w", encoding="ascii") as f:
            f.write("untouched")
        done = run(["python3", "-c", SQUATTED, kind, segments, elsewhere, LIBRARY, target("crash"), "kill"])
        check_equal(done.returncode, -signal.SIGKILL, "%s: exit status (%r)" % (kind, done.stderr))
        with open(elsewhere, encoding="ascii") as f:
            check_equal(f.read(), "untouched", "the file behind the link")
        check(not os.path.exists(elsewhere + ".not-there"), "a file was made behind the link")
        squats = [p for p in segment_files() if not p.endswith("-3")]
        made = [p for p in segment_files() if p.endswith("-3")]
        check_equal((len(squats), len(made)), (3, 1), "%s: squatted names and segments" % kind)
        # Readers take none of them for a segment, and do not wait for a FIFO's other end.
        for path in squats:
            done = run([HEAPTOP, "-b", "-n", "1", "-r", path], timeout=20)
            check_equal(done.returncode, 125, "%s: status of -r" % kind)
        done = run([HEAPTOP, "-l"], timeout=20)
        check_equal(done.returncode, 0, "%s: status of -l" % kind)
        check(b" dead " in done.stdout, "%s: the segment is not listed: %r" % (kind, done.stdout))
        check_equal(run([HEAPTOP, "--clean"], timeout=20).returncode, 0, "%s: status of --clean" % kind)
        check_equal(segment_files(), squats, "%s: left after --clean" % kind)
        for path in squats:
            removed(path)


@row("E12a", "another user's process or segment is shown, or listed")
def other_users():
    clear_segments()
    with Waiting() as process, as_nobody() as (prefix, _):
        path, = segment_files()
        os.chmod(segments, 0o755)
        os.chmod(path, 0o644)  # even where it could be read
        for options, says in ((["-b", "-n", "1", "-a", str(process.pid)], "it belongs to another user"),
                              (["-b", "-n", "1", "-r", path], "belongs to another user")):
            done = run([*prefix, HEAPTOP, *options])
            check_equal(done.returncode, 125, "status of %s (%r)" % (options[-2], done.stderr))
            check(says in done.stderr.decode(), "%s says %r" % (options[-2], done.stderr))
        done = run([*prefix, HEAPTOP, "-l"])
        check(str(process.pid) not in done.stdout.decode(), "-l lists it: %r" % done.stdout)
        run([*prefix, HEAPTOP, "--clean"])
        check_equal(segment_files(), [path], "segments after another's --clean")


# ---- names that are not fit for a terminal -----------------------------------------------------

EVIL = ("\x1b[31mred\x1b[0m", "\x1b]52;c;aGVhcHRvcA==\x07", "\x9b5n", "a\u202eb\u2066c\u200fd\u061ce",
        "\r\nover\b\b", "\x7f\x00end"[:1], "\u2028line\u2029", "\x1bP1$q\x1b\\", "zero\u200bwidth\ufeff")
BAD_BYTES = b"\xff\xfe\xc3\x28\xed\xa0\x80\xf4\x90\x80\x80\x80\x9b\xc2\x9b"
# Nothing that moves a cursor or turns text around: C0 but newline, DEL, C1, marks of direction and width.
UNFIT = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffd]")


def check_fit(data, what):
    text = data.decode("utf-8")  # or it is no UTF-8, and a failure
    found = UNFIT.search(text)
    check(not found, "%s: %r" % (what, text[max(0, found.start() - 30):found.end() + 30] if found else ""))


def evil_program():
    """A program with such names: its file, its arguments, its threads, its functions, its source."""
    folder = os.fsencode(scratch) + b"/dir" + EVIL[0].encode() + BAD_BYTES[:2]
    os.makedirs(folder, exist_ok=True)
    path = folder + b"/prog" + EVIL[3].encode() + b"\x1b[2J\n" + BAD_BYTES
    shutil.copy(fault_target("evil_names"), path)
    return [path, *(e.replace("\0", "").encode() + BAD_BYTES for e in EVIL)]


@row("E13", "escape sequences, bidi marks, bad UTF-8 in names reach the terminal or the JSON")
def names_are_cleaned():
    clear_segments()
    command = evil_program()
    out = os.path.join(scratch, "evil.json")
    for options in (["--format", "json"], [], ["-U"], ["-b"]):
        if options == ["-b"]:
            done = run([HEAPTOP, "-b", "-d", "0.1", "-o", out, "--", *command])
        else:
            done = run([HEAPTOP, "--report", *options, "--top", "0", "-o", out, "--", *command])
        check_equal((done.returncode, done.stdout), (5, b""), "the run (%r)" % done.stderr)
        with open(out, "rb") as f:
            data = f.read()
        check_fit(data.replace(b"\t", b" ") if "-b" not in options else data, "heaptop %s" % options)
        if "json" in options:
            rep = json.loads(data)
            names = [f["function"] for s in rep["sites"] for f in s["stack"] if f["function"]]
            check(any("evil" in n for n in names), "the program's functions are not there: %s" % names[:5])
    check_equal(run([HEAPTOP, "--report", "-o", out, "--", command[0] + b"\x1b[31m"]).returncode, 127, "no such command")
    done = run([HEAPTOP, "--report", "--", command[0] + b"\x1b[31m\xff"])
    check_fit(done.stderr, "the message")
    # One that is attached to, by the name that it gives itself; and one that is recorded, in the list.
    for variables in ({}, {"LD_PRELOAD": LIBRARY}):
        with subprocess.Popen(command, env=environment(EVIL_WAIT="1", **variables), stdin=subprocess.PIPE) as process:
            with open("/proc/%d/comm" % process.pid, "rb") as f:
                wait_for(lambda: f.seek(0) or b"\x1b" in f.read(), "its name")
            done = run([HEAPTOP, "-b", "-n", "1", "-a", str(process.pid)])
            check_equal(done.returncode, 0, "status of -a (%r)" % done.stderr)
            check_fit(done.stdout + done.stderr, "-a")
            check_fit(run([HEAPTOP, "-l"]).stdout, "-l")
            process.stdin.close()


def screen_of(command, word):
    """What the screen writes to its terminal while it shows a program, until that word is on it and to its end."""
    master, slave = pty.openpty()
    process = subprocess.Popen([HEAPTOP, "-d", "0.1", "--", *command], stdin=slave, stdout=slave, stderr=slave,
                               env=environment(TERM="xterm-256color", EVIL_WAIT="1"), start_new_session=True)
    os.close(slave)
    seen, asked, until = b"", False, time.monotonic() + 60
    with contextlib.suppress(OSError):  # all that had the terminal are gone
        while time.monotonic() < until:
            if select.select([master], [], [], deadline.LOOK_S)[0]:
                seen += os.read(master, 65536)
            if word in seen and not asked:
                asked = True
                os.write(master, b"qt")
    if not asked:
        process.kill()
    process.wait(timeout=60)
    os.close(master)
    return seen


# What is written to our terminal: its own sequences, with nothing of the program's in them.
SEQUENCES = re.compile(rb"\x1b(?:\]11;\?\x1b\\|\[[0-9;?>]*[A-Za-z]|\([B0]|[=>78M]|\]0;[^\x07\x1b]*\x07)|[\x08\r\n\x0e\x0f]")


@row("E13a", "such names on the screen, on a terminal")
def screen_is_clean():
    seen = screen_of(evil_program(), b"evil")
    check(b"evil" in seen, "the program is not on the screen: %r" % seen[-300:])
    check_fit(SEQUENCES.sub(b"", seen), "the screen")
    for part in (b"\x1b]52", b"\x1b[31mred", b"\x1bP", b"\x1b[2J\n"):
        check(part not in seen, "%r came through" % part)
    clear_segments()


run_rows()
