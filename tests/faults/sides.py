# SPDX-License-Identifier: GPL-3.0-or-later
"""Both sides of a row: a program run plain, and run with heaptop. What the program can observe about itself
must be the same: output, exit status, and, where tests/faults/targets/witness.h prints them into its
output, the signals that it catches, its threads and its descriptors. Not a test itself."""

import contextlib
import json
import os
import subprocess
import time

from rows import deadline, fault_tool
from proving import (HEAPTOP, LIBRARY, ROOT, Failure, check, check_equal, environment, report, run,
                     segments, wait_for, watch_options)

WAYS = ("preloaded", "launched")


def plain(command, env=None, **how):
    """Runs COMMAND without heaptop. env: variables beside the usual ones; `how`: as proving.run."""
    return run(command, env=environment(**(env or {})), **how)


def preloads(env):
    """LD_PRELOAD with the library before what `env` has there."""
    return ":".join(filter(None, (LIBRARY, (env or {}).get("LD_PRELOAD"))))


def preloaded(command, env=None, **how):
    """Runs COMMAND with the library alone."""
    return run(command, env=environment(**{**(env or {}), "LD_PRELOAD": preloads(env)}), **how)


def launched(command, env=None, options=(), **how):
    """Runs COMMAND under heaptop. What was run, and the report."""
    return report(command, options, env=environment(**(env or {})), **how)


def status_of(done):
    """As a shell tells it: 128 + N after signal N."""
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def first_difference(one, other):
    lines = one.splitlines(), other.splitlines()
    for i in range(max(map(len, lines))):
        pair = [side[i].decode(errors="replace") if i < len(side) else None for side in lines]
        if pair[0] != pair[1]:
            return "line %d: plain %r, watched %r" % (i + 1, *pair)
    return "ends of line"


def check_same(alone, watched, way, stderr=True):
    """Two runs of one command ended the same way and wrote the same."""
    if status_of(watched) != status_of(alone):
        raise Failure("%s: status %d, plain %d; %s" % (
            way, status_of(watched), status_of(alone), watched.stderr[-300:].decode(errors="replace")))
    for stream in ("stdout", "stderr") if stderr else ("stdout",):
        one, other = getattr(alone, stream), getattr(watched, stream)
        if one != other:
            raise Failure("%s: other %s: %s" % (way, stream, first_difference(one, other)))


def check_sides(command, env=None, status=0, options=(), stderr=True, **how):
    """Runs COMMAND plain (it must end with `status`, None: any), preloaded and launched, and compares.
    Returns the report. stderr=False: what it writes there is not compared."""
    alone = plain(command, env, **how)
    if status is not None:
        check_equal(status_of(alone), status, "status without heaptop (%s)" % alone.stderr[-300:].decode(
            errors="replace"))
    check_same(alone, preloaded(command, env, **how), "preloaded", stderr)
    done, rep = launched(command, env, options, **how)
    check_same(alone, done, "launched", stderr)
    return rep


# ---- seen from outside, for programs that are not ours ------------------------------------------

SIGNALS = ("SigBlk", "SigIgn", "SigCgt", "Threads")


def seen(pid):
    """What /proc says about a running process: its signals, how many threads it has, what kind of file
    each descriptor is."""
    with open("/proc/%d/status" % pid, encoding="utf-8", errors="replace") as f:
        fields = dict(line.split(":", 1) for line in f if ":" in line)
    state = {name: fields[name].strip() for name in SIGNALS}
    for fd in os.listdir("/proc/%d/fd" % pid):
        with contextlib.suppress(OSError):
            state["fd " + fd] = os.readlink("/proc/%d/fd/%s" % (pid, fd)).split(":[")[0]
    return state


def seen_at_rest(pid, want=None):
    """The same of one that changes it for a moment, between two waits: seen twice; and as `want`, if that comes."""
    for _ in range(50):
        now = seen(pid)
        time.sleep(0.05)
        if seen(pid) == now and want in (None, now):
            break
    return now


class Held:
    """A program that has said that it is ready, and waits for the end of its input."""

    def __init__(self, pid, new_segments):
        self.pid = pid
        self._new_segments = new_segments

    def segment(self):
        """The path of its segment; the last one, of several."""
        files = self._new_segments()
        check(files, "there is no segment")
        return os.path.join(segments, files[-1])

    def report(self):
        return segment_report(self.segment())

    def inside(self):
        """What its segment holds that no report tells."""
        return segment_inside(self.segment())


def segment_report(path):
    done = run([HEAPTOP, "--report", "--format", "json", "-r", path])
    check_equal(done.returncode, 0, "status of heaptop -r (%s)" % done.stderr.decode())
    return json.loads(done.stdout or done.stderr)


def segment_inside(path):
    return json.loads(run([fault_tool("inside"), path]).stdout)


@contextlib.contextmanager
def held(command, way, env=None, says=b"\n", then=None, timeout=60):
    """Runs COMMAND until it says `says` and waits: a Held. way: "plain", or one of WAYS. then: it gets a line
    and goes on until it says that. A program that says nothing for so long is ended, so that the row fails."""
    place = environment(**(env or {}))
    if way == "preloaded":
        place["LD_PRELOAD"] = preloads(env)
    before = set(os.listdir(segments))
    prefix = [HEAPTOP, *watch_options(), "--report", "-o", "/dev/null", "--"] if way == "launched" else []
    with subprocess.Popen([*prefix, *command], env=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:
        said = b""
        with deadline.ended_after(process, timeout):
            while not said.endswith(then or says):
                if then and said == says:
                    process.stdin.write(b"\n")
                    process.stdin.flush()
                byte = process.stdout.read(1)
                check(byte, "%s ended and did not say %r (%s)" % (command[0], says, way))
                said += byte
        yield Held(child_of(process.pid) if way == "launched" else process.pid,
                   lambda: sorted(set(os.listdir(segments)) - before))
        deadline.finish(process, timeout)


def children_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="utf-8") as f:
        return [int(child) for child in f.read().split()]


def child_of(pid):
    """The only child of a process."""
    return wait_for(lambda: children_of(pid), "a child of heaptop")[0]


# ---- rows that another test of the project proves -------------------------------------------------

def proved_by(script, *cases):
    """Runs cases of tests/e2e/SCRIPT, each named by the beginning of its line."""
    for name in cases:
        done = run([os.path.join(ROOT, "tests/e2e", script), name], timeout=120)
        said = done.stdout.decode()
        check("ok - " + name in said and done.returncode == 0, "%s: %s" % (script, said or "no such case"))
