#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""An allocator that a real program brings along: redis-server as upstream builds it, with jemalloc linked in under
je_ names. What heaptop counts is what jemalloc itself counts, with its caches off: blocks to one, bytes within its
size classes. Argument: the redis-server (make MALLOC=jemalloc); without one, it is built (sources.py). make soak passes
UPSTREAM_REDIS."""

import json
import os
import re
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

from proving import (HEAPTOP, LIBRARY, case, check, check_equal, environment, heap_sites, kill_hard, need, run, run_cases,
                     scratch, wait_for)
from sources import unpacked

SERVER = os.path.realpath(sys.argv.pop(1)) if sys.argv[1:] else None
SOCKET = os.path.join(scratch, "redis")
OTHERS = 32  # blocks of the answer with the statistics, of jemalloc itself, and of before recording began
REPLY = 65536  # bytes of these


def built():
    """As upstream builds it by default: with the jemalloc in its sources."""
    folder = unpacked("redis")
    done = run([need("make"), "-C", folder, "MALLOC=jemalloc", "BUILD_TLS=no", "redis-server"], timeout=1800, env=dict(os.environ))
    check_equal(done.returncode, 0, "status of make (%s)" % done.stderr.decode()[-500:])
    return os.path.join(folder, "src", "redis-server")


class Client:
    """One connection, which stays: what the server keeps of it is the same at each reading."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(SOCKET)
        self.file = self.socket.makefile("rb")

    def ask(self, *words):
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words))
        line = self.file.readline()
        check(line[:1] in b"$+:", "%s: %s" % (words[0], line))
        return self.file.read(int(line[1:]) + 2).decode() if line[:1] == b"$" else line.decode()


def jemalloc(client):
    """(blocks, bytes) that it has given out; its figures are by its size classes."""
    stats = client.ask("MEMORY", "MALLOC-STATS")
    total = re.search(r"^total: +(\d+) +(\d+) +\d+ +(\d+) ", stats, re.M)  # allocated, nmalloc (#/sec), ndalloc
    check(total and re.search(r"^  opt.tcache: false$", stats, re.M), stats[:3000])
    return int(total.group(2)) - int(total.group(3)), int(total.group(1))


def recorded(pid):
    """The same, as heaptop has it; sizes as requested."""
    done = run([HEAPTOP, "-b", "-n", "1", "--format", "json", "-a", str(pid)])
    own = [s for s in heap_sites(json.loads(done.stdout)) if s["function"].startswith("je_")]
    return sum(s["live_blocks"] for s in own), sum(s["live_bytes"] for s in own)


def compared(pid, client, what):
    """Blocks that jemalloc has more."""
    wait_for(lambda: "connected_clients:1\r" in client.ask("INFO", "clients"), "the others' end")
    (blocks, size), ours = jemalloc(client), recorded(pid)
    print("# %s: %d blocks, jemalloc's %d; %d bytes, jemalloc's %d" % (what, ours[0], blocks, ours[1], size))
    check(size * 3 // 4 - REPLY <= ours[1] <= size + REPLY, "bytes %d, in jemalloc's classes %d" % (ours[1], size))
    return blocks - ours[0]


@case("redis-server with jemalloc inside: blocks and bytes are jemalloc's own")
def redis():
    env = environment(LD_PRELOAD=LIBRARY, JE_MALLOC_CONF="tcache:false")
    with subprocess.Popen([SERVER or built(), "--port", "0", "--unixsocket", SOCKET, "--save", ""], env=env,
                          stdout=subprocess.DEVNULL) as server:
        try:
            wait_for(lambda: os.path.exists(SOCKET), "its socket")
            client = Client()
            client.ask("CONFIG", "SET", "hz", "1")
            for what, keys in (("at first", 0), ("20,000 keys", 20000), ("50,000 more", 50000)):
                for i in range(keys):
                    client.ask("SET", "key:%d:%d" % (keys, i), "x" * (i % 700))
                others = compared(server.pid, client, what)
                check(-OTHERS <= others <= OTHERS, "jemalloc's own: %d blocks" % others)
            run([need("redis-benchmark"), "-s", SOCKET, "-n", "50000", "-r", "5000", "-q", "-t", "set,lpush,sadd,hset"])
            for what in ("200,000 commands", "emptied"):
                others = compared(server.pid, client, what)
                check(-OTHERS <= others <= OTHERS, "jemalloc's own: %d blocks" % others)
                client.ask("FLUSHALL", "SYNC")
        finally:
            kill_hard(server)


run_cases()
