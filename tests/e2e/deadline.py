# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a test waits for what it has started. A limit is of the time that the processes have had: while
they wait for a processor, only what they get of it counts. So a machine that is busy with other things
breaks no limit, and on one that is not it is a time by the clock. Not a test itself."""

import contextlib
import os
import signal
import subprocess
import threading
import time

LOOK_S = 1  # between two looks
SLOWNESS = float(os.environ.get("HEAPTOP_TEST_SLOWNESS", "1"))  # of an emulated processor
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def children(pid):
    found = []
    with contextlib.suppress(OSError):
        for thread in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, thread), encoding="ascii") as f:
                found += [int(word) for word in f.read().split()]
    return found


def family(pid):
    """The process and all its descendants, parents first."""
    found = [pid]
    for member in found:
        found += children(member)
    return found


def stat(path):
    """The fields after the name: the first is the state."""
    with open(path, encoding="ascii", errors="replace") as f:
        return f.read().rpartition(")")[2].split()


def old_enough(pid):
    """Whether a process began more than a second ago: one that is younger is waited for in any case."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) > 1.1 + int(stat("/proc/%d/stat" % pid)[19]) / TICKS_PER_S


def wants_processor(pid):
    with contextlib.suppress(OSError):
        return any(stat("/proc/%d/task/%s/stat" % (pid, thread))[0] == "R"
                   for thread in os.listdir("/proc/%d/task" % pid))
    return False


def processor_s(pid):
    """What it has used, with its children that have ended."""
    with contextlib.suppress(OSError):
        return sum(map(int, stat("/proc/%d/stat" % pid)[11:15])) / TICKS_PER_S
    return 0


class Limit:
    """So many seconds for a process and all that it starts."""

    def __init__(self, pid, seconds):
        self.pid, self.left = pid, seconds * SLOWNESS
        self.looked, self.used = time.monotonic(), 0

    def passed(self):
        """To be asked about once a second."""
        members = family(self.pid)
        now, used = time.monotonic(), sum(map(processor_s, members))
        had, worked = now - self.looked, max(0, used - self.used)
        self.left -= min(had, worked) if any(map(wants_processor, members)) else had
        self.looked, self.used = now, used
        return self.left <= 0


def kill_family(pid):
    """Parents first: they start no more."""
    for member in family(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)


@contextlib.contextmanager
def ended_after(process, seconds):
    """Kills a process, and all its own, that the block has waited for so long: TimeoutExpired."""
    limit, done, late = Limit(process.pid, seconds), threading.Event(), threading.Event()

    def watch():
        while not done.wait(LOOK_S):
            if limit.passed():
                late.set()
                kill_family(process.pid)
                return
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        if late.is_set():
            raise subprocess.TimeoutExpired(process.args, seconds)


def finish(process, seconds, text=None):
    """What a process writes to its end: (output, errors). It and all its own are killed if that takes longer,
    which is a TimeoutExpired, and if the test itself is to end."""
    try:
        with ended_after(process, seconds):
            return process.communicate(text)
    except BaseException:
        kill_family(process.pid)
        process.wait()
        raise
