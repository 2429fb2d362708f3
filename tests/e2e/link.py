# SPDX-License-Identifier: GPL-3.0-or-later
"""A bad connection: runs a command and carries its input and output, slowly, late, cut off, or until it is dead.

    python3 link.py [--rate BYTES/S] [--delay MS] [--cut BYTES] [--dead BYTES] [--cut-file PATH] [--dead-file PATH] COMMAND...

--cut ends the connection after so many bytes of the command's output, --dead stops carrying anything then, as a network
does that is gone, until its input ends. --cut-file and --dead-file do so as soon as that file is there, the latter until
its shell has ended."""

import argparse
import collections
import os
import selectors
import subprocess
import sys
import time

PIECE = 65536


class Way:
    """One direction: bytes become due after the delay, at no more than the rate."""

    def __init__(self, source, sink, rate, delay):
        self.source, self.sink, self.rate, self.delay = source, sink, rate, delay
        self.queue = collections.deque()  # (due, bytes)
        self.free_at = 0.0
        self.carried = 0
        self.ended = False

    def take(self):
        data = os.read(self.source, 256 if self.rate else PIECE)
        now = time.monotonic()
        if not data:
            self.ended = True
            return
        self.free_at = max(self.free_at, now) + (len(data) / self.rate if self.rate else 0)
        self.queue.append((self.free_at + self.delay, data))

    def give(self, most):
        """Passes on what is due; most: of all bytes, or None."""
        while self.queue and self.queue[0][0] <= time.monotonic():
            data = self.queue.popleft()[1]
            if most is not None:
                data = data[:max(0, most - self.carried)]
            while data:
                n = os.write(self.sink, data)
                data = data[n:]
                self.carried += n

    def wait(self):
        return max(0.0, self.queue[0][0] - time.monotonic()) if self.queue else None


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--rate", type=int, default=0)
    p.add_argument("--delay", type=float, default=0)
    p.add_argument("--cut", type=int)
    p.add_argument("--dead", type=int)
    p.add_argument("--dead-file")
    p.add_argument("--cut-file")
    p.add_argument("command", nargs=argparse.REMAINDER)
    return p.parse_args()


def is_dead(o, down):
    return (o.dead is not None and down.carried >= o.dead) or (o.dead_file and os.path.exists(o.dead_file))


def carry(o, child):
    parent = os.getppid()  # the shell of --via, which the desk ends
    up = Way(0, child.stdin.fileno(), o.rate, o.delay / 1000)
    down = Way(child.stdout.fileno(), 1, o.rate, o.delay / 1000)
    ways = selectors.DefaultSelector()
    ways.register(up.source, selectors.EVENT_READ, up)
    ways.register(down.source, selectors.EVENT_READ, down)
    open_ways = {up, down}
    while open_ways or down.queue:
        waits = [w.wait() for w in (up, down) if w.queue]
        for key, _ in ways.select(min(waits + [0.05])):
            way = key.data
            if way.rate and len(way.queue) > 16:  # a full buffer
                time.sleep(0.001)
                continue
            way.take()
            if way.ended:
                ways.unregister(way.source)
                open_ways.discard(way)
        if is_dead(o, down):
            while os.getppid() == parent if o.dead_file else os.read(0, PIECE):
                time.sleep(0.05)
            return
        up.give(None)
        down.give(o.cut if o.cut is not None else o.dead)
        if (o.cut is not None and down.carried >= o.cut) or (o.cut_file and os.path.exists(o.cut_file)):
            return
        if up.ended and not up.queue and not child.stdin.closed:
            child.stdin.close()


def main():
    o = options()
    child = subprocess.Popen(o.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        carry(o, child)
    except (BrokenPipeError, ConnectionResetError):
        pass
    if not child.stdin.closed:
        try:
            child.stdin.close()
        except BrokenPipeError:
            pass
    child.stdout.close()
    sys.exit(child.wait())


main()
