# SPDX-License-Identifier: GPL-3.0-or-later
"""Attaching to programs that were not started under heaptop, and detaching: how rows do it, and what of a process
must be the same before and after. ATTACH: a command that is called with begin or end and a pid instead of heaptop.
Not a test itself."""

import contextlib
import itertools
import json
import os
import re
import struct
import subprocess
import tempfile
import zlib

from rows import deadline, fault_target, rounds
from proving import B, HEAPTOP, check, check_equal, environment, run, scratch, wait_for
from sides import seen_at_rest

TOOL = os.environ.get("ATTACH", "").split()
OURS = re.compile(r"heaptop")
ENDS_S = 120
TARGETS = os.path.join(B, "tests", "faults", "targets")

# ---- the page (targets/attach_page.h) -------------------------------------------------------------

WORDS = ("progress", "wrong", "stop", "phase", "arrived", "allocs", "frees", "alloc_bytes", "live_blocks",
         "live_bytes", "old_freed", "old_freed_bytes", "held_blocks", "held_bytes", "children")
PHASE_WORDS = ("arrived", "allocs", "frees", "alloc_bytes", "live_blocks", "live_bytes", "old_freed", "old_freed_bytes")
PAGE_BYTES = 4096


class Page:
    """The words that a program and its row share."""

    def __init__(self):
        with tempfile.NamedTemporaryFile(dir=scratch, prefix="page-", delete=False) as f:
            f.truncate(PAGE_BYTES)
            self.path = f.name
        os.chmod(self.path, 0o666)

    def read(self):
        with open(self.path, "rb") as f:
            return dict(zip(WORDS, struct.unpack("<%dQ" % len(WORDS), f.read(8 * len(WORDS)))))

    def what(self):
        with open(self.path, "rb") as f:
            return f.read(8 * len(WORDS) + 128)[8 * len(WORDS):].split(b"\0")[0].decode(errors="replace")

    def write(self, **words):
        with open(self.path, "r+b") as f:
            for name, value in words.items():
                f.seek(8 * WORDS.index(name))
                f.write(struct.pack("<Q", value))


# ---- programs -------------------------------------------------------------------------------------

class Running:
    """A program of targets/attach_*.c that is ready, and goes on until it is ended."""

    def __init__(self, process, page, says=b"0 wrong \n"):
        self.process, self.page, self.pid, self.says = process, page, process.pid, says

    def alive(self):
        check(self.process.poll() is None, "the program ended with status %s" % self.process.returncode)
        words = self.page.read()
        check(not words["wrong"], "the program found %d wrong: %s" % (words["wrong"], self.page.what()))
        return words

    def goes_on(self, steps=1):
        """Waits until it has made some progress."""
        begin = self.alive()["progress"]
        wait_for(lambda: self.alive()["progress"] >= begin + steps, "the program goes on")

    def phase(self, number, threads):
        """Lets it go on, from a fresh account; what that is when all threads have arrived again."""
        self.page.write(**dict.fromkeys(PHASE_WORDS, 0))
        self.page.write(phase=number)
        return self.arrived(threads)

    def arrived(self, threads):
        wait_for(lambda: self.alive()["arrived"] >= threads, "all threads arrive")
        return self.alive()

    def end(self):
        """Ends it; it must have found nothing wrong, and everything else be usual."""
        self.page.write(stop=1)
        out, _ = deadline.finish(self.process, ENDS_S)
        check_equal((self.process.returncode, out), (0, self.says), "how it ended")


@contextlib.contextmanager
def running(name, *args, prefix=(), instead=None, is_forked=False, says=b"0 wrong \n", **variables):
    """Starts targets/NAME, or a copy of it, with its page; ends it well at the end of the block. is_forked: `prefix`
    starts it as a child. says: its output at the end."""
    page = Page()
    with subprocess.Popen([*prefix, instead or fault_target(name), page.path, *map(str, args)], env=environment(**variables),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            check_equal(process.stdout.readline(), b"ready\n", "what %s says first" % name)
            program = Running(process, page, says)
            program.pid = deadline.family(process.pid)[-1] if is_forked else process.pid
            yield program
            program.end()
        finally:
            deadline.kill_family(process.pid)
            os.unlink(page.path)


# ---- attach and detach ----------------------------------------------------------------------------

def last_object(text):
    """Of JSON objects one after the other."""
    found, at = None, 0
    while at < len(text):
        found, at = json.JSONDecoder().raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip())
    return found


def viewer(pid, *options, prefix=(), frames=1, **variables):
    """Some frames of a viewer, which leaves the program recorded: what ran, and the last report."""
    command = [*prefix, HEAPTOP, "-b", "-n", str(frames), "-d", "0.1", "--keep", "--format", "json", "--top", "0", *options,
               "-a", str(pid)]
    done = run(command, timeout=ENDS_S, env=environment(**variables))
    return done, last_object(done.stdout.decode())


def begin(pid, *options, **how):
    """Attaches; the report, if it was heaptop that did."""
    if TOOL:
        done = run([*TOOL, "begin", str(pid)], timeout=ENDS_S)
        check_equal(done.returncode, 0, "status of attaching (%s)" % done.stderr.decode(errors="replace"))
        return None
    done, report = viewer(pid, *options, **how)
    check_equal(done.returncode, 0, "status of attaching (%s)" % done.stderr.decode(errors="replace"))
    check(report, "no report of %d" % pid)
    check((report["attach"] or {}).get("state") != "outside", done.stderr.decode(errors="replace"))
    return report


def has_names(report):
    """All functions of the program but _start."""
    return all(f["function"] for s in report["sites"] for f in s["stack"][:-1] if TARGETS in (f["module"] or TARGETS))


def watched(pid):
    """What a viewer says of a program that is recorded, when it has looked up the names of all the program's functions."""
    frames = itertools.count(2, 4)
    return wait_for(lambda: next(filter(has_names, [begin(pid, frames=next(frames))]), None), "all functions have names")


def end(pid, prefix=(), **variables):
    command = [*TOOL, "end", str(pid)] if TOOL else [*prefix, HEAPTOP, "--detach", str(pid)]
    done = run(command, timeout=ENDS_S, env=environment(**variables))
    check_equal(done.returncode, 0, "status of detaching (%s)" % done.stderr.decode(errors="replace"))
    return done


def refused(pid, *options, says="", prefix=()):
    """An attempt that must fail, with one line, so that the program is watched from outside. The line."""
    if TOOL:
        done = run([*prefix, *TOOL, "begin", str(pid)], timeout=ENDS_S)
        check(done.returncode, "it was attached to")
        return done.stderr.decode(errors="replace")
    done, report = viewer(pid, *options, prefix=prefix)
    text = done.stderr.decode(errors="replace")
    if done.returncode == 0:
        check_equal((report["attach"] or {}).get("state"), "outside", "how it is watched (%s)" % text)
    check(says in text, "%r is not in: %s" % (says, text))
    return text


# ---- what must be the same ------------------------------------------------------------------------

MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ (\d+) *(.*)")


def mappings(pid):
    """(start, end, permissions, offset, inode, name) of each."""
    with open("/proc/%d/maps" % pid, encoding="utf-8", errors="replace") as f:
        for line in f:
            begins, ends, permissions, offset, inode, name = MAPPING.match(line.rstrip("\n")).groups()
            yield int(begins, 16), int(ends, 16), permissions, int(offset, 16), int(inode), name


def is_ours(name):
    return bool(OURS.search(os.path.basename(name)) or "heaptop-e2e" in name and "page-" not in name)


def image(pid, of=lambda name: True):
    """Permissions of all mappings of files, and a checksum of each that nobody writes to: code, and the tables of
    addresses of what is bound at the start. Ours are left out. of: which files."""
    found = {}
    with open("/proc/%d/mem" % pid, "rb", 0) as memory:
        for begins, ends, permissions, offset, inode, name in mappings(pid):
            if not inode or is_ours(name) or not of(name) or name.startswith("/dev/"):
                continue
            digest = None
            if permissions in ("r-xp", "r--p"):
                memory.seek(begins)
                digest = zlib.crc32(memory.read(ends - begins))
            found["%s %x at %x of %x bytes" % (name, offset, begins, ends - begins)] = (permissions, digest)
    return found


def differences(before, after):
    return ["%s: %s, then %s" % (name, before.get(name), after.get(name)) for name in sorted({*before, *after})
            if before.get(name) != after.get(name)]


def check_image(before, pid, of=lambda name: True):
    changed = differences(before, image(pid, of))
    check(not changed, "%d mappings differ: %s" % (len(changed), "; ".join(changed[:3])))


def check_nothing_left(pid):
    """After a detach nothing of ours can be written but the library's data, and nothing is shared."""
    for begins, ends, permissions, _, _, name in mappings(pid):
        if is_ours(name):
            check("s" not in permissions, "a segment is still there: %s" % name)
            check("w" not in permissions or "libheaptop" in name or "memfd" in name and ends - begins < 1 << 20,
                  "what can be written to is left: %s %s" % (permissions, name))
            check("wx" not in permissions, "code that can be written to: %s %s" % (permissions, name))
    with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as f:
        check("TracerPid:\t0" in f.read(), "it is still traced")


class Same:
    """How a process stood before; check() raises when it stands otherwise. steady: its threads, descriptors and
    signals do not change by themselves. of: the files that it does not load and unload."""

    def __init__(self, pid, steady=True, of=lambda name: True):
        self.pid, self.steady, self.of = pid, steady, of
        self.image, self.seen = image(pid, of), seen_at_rest(pid) if steady else None

    def check(self):
        check_image(self.image, self.pid, self.of)
        check_nothing_left(self.pid)
        if self.steady:
            check_equal(seen_at_rest(self.pid, self.seen), self.seen, "how the program stands")


def cycles(program, often, **how):
    """Attaches and detaches; the program goes on each time, and stands as before at the end. how: as Same."""
    program.goes_on()
    same = Same(program.pid, **how)
    for _ in rounds(often):
        begin(program.pid)
        program.goes_on()
        end(program.pid)
        program.goes_on()
        same.check()
