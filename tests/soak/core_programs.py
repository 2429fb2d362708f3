#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cores of real programs, each stopped once: what gcore, heaptop --save and the kernel (HEAPTOP_CORE=1, without the
segment) have of that moment is what the program itself had: report, leak classes, paths and holders. The segment's
file is as large as before. Says how large the cores are, and how many mappings the account takes. Arguments: parts of
the names of cases."""

import os
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

from dumping import (NO_VECTORS, blocks_of, check_same, cut_everywhere, gcore_of, kernel_cores, report_of, saved, segment_of,
                     stopped)
from proving import (LIBRARY, Skip, add_case, check, check_equal, environment, need, run, run_cases, scratch, segments,
                     target, wait_for)

READY = "ready"
FATAL = (signal.SIGSEGV, signal.SIGQUIT, signal.SIGSYS, signal.SIGTRAP, signal.SIGXCPU)  # each writes a core
PYTHON = ("import ctypes, json, threading; e = threading.Event()\n"
          "for i in range(4): threading.Thread(target=e.wait, daemon=True).start()\n"
          "keep = [{'n': str(i), 'l': [i] * 9} for i in range(30000)]; print('ready', flush=True); input()")
NODE = ("global.keep = [...Array(20000).keys()].map(i => ({ n: 'x' + i, b: Buffer.alloc(i % 5000) }));"
        "console.log('ready'); process.stdin.resume();")
PERL = ("$| = 1; my %h = map { $_ => { n => 'x' x ($_ % 200), l => [1 .. 9] } } 1 .. 20000; print qq(ready\\n); <STDIN>;")
BASH = ("declare -A h; for ((i = 0; i < 5000; i++)); do h[k$i]=value$i; a+=(\"x$i\"); done; f() { local i=1; }; "
        "echo ready; read x")
SQLITE = ("create table t(a integer primary key, b text, c blob); with recursive n(i) as (select 1 union all select i + 1 "
          "from n where i < 20000) insert into t select i, 'text ' || i, randomblob(50) from n; create index x on t(b); "
          "select 'ready';\n")
NGINX = ("user root; daemon off; master_process off; pid nginx.pid; error_log stderr error; events { worker_connections 512; } http { "
         "access_log off; server { listen unix:socket; root .; } }")
CXX = "#include <algorithm>\n#include <functional>\n#include <iostream>\n#include <map>\n#include <regex>\nstd::regex r(\"a*\");\n"


class Program:
    """A command that is recorded, and writes cores; `until`: it may be stopped."""

    def __init__(self, folder, command, until=None, feed=None, **variables):
        env = environment(LD_PRELOAD=LIBRARY, HEAPTOP_CORE="1", **variables)
        self.process = subprocess.Popen(["sh", "-c", "ulimit -c unlimited; exec \"$@\"", "sh", *command], env=env,
                                        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.pid = self.process.pid
        if feed:
            self.process.stdin.write(feed.encode())
            self.process.stdin.flush()
        if until:
            wait_for(lambda: self.process.poll() is not None or until(), "%s is ready" % command[0])
        else:
            self.said()
        check(self.process.poll() is None, "%s has ended" % command[0])

    def said(self):
        for line in self.process.stdout:
            if line.split()[:1] == [READY.encode()]:
                return
        raise Skip("it did not say that it is ready")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


# ---- programs ------------------------------------------------------------------------------------

def python(folder):
    return Program(folder, [need("python3"), "-S", "-c", PYTHON])


def python_malloc(folder):
    return Program(folder, [need("python3"), "-S", "-c", PYTHON], PYTHONMALLOC="malloc")


def node(folder):
    return Program(folder, [need("node"), "-e", NODE])


def perl(folder):
    return Program(folder, [need("perl"), "-e", PERL])


def bash(folder):
    return Program(folder, [need("bash"), "-c", BASH])


def sqlite(folder):
    return Program(folder, [need("sqlite3"), "-batch", ":memory:"], feed=SQLITE)


def asked(path, *lines):
    """The answer of a server to these lines; empty: not there yet."""
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(60)
            s.connect(path)
            s.sendall("".join(line + "\r\n" for line in lines).encode())
            return s.recv(100)
    except OSError:
        return b""


def redis(folder):
    path = os.path.join(folder, "socket")
    program = Program(folder, [need("redis-server"), "--port", "0", "--unixsocket", path, "--save", ""],
                      until=lambda: asked(path, "PING") == b"+PONG\r\n")
    fill = "for i = 1, 20000 do redis.call('hset', 'h' .. i % 300, 'k' .. i, string.rep('x', i % 200)) end"
    check_equal(asked(path, 'EVAL "%s" 0' % fill), b"$-1\r\n", "an answer of redis")
    return program


def nginx(folder):
    path, settings = os.path.join(folder, "socket"), os.path.join(folder, "nginx.conf")
    with open(settings, "w", encoding="ascii") as f:
        f.write(NGINX)
    return Program(folder, [need("nginx"), "-p", folder, "-c", settings],
                   until=lambda: asked(path, "GET / HTTP/1.0", "").startswith(b"HTTP"))


def tmux(folder):
    path = os.path.join(folder, "socket")
    program = Program(folder, [need("tmux"), "-D", "-f", "/dev/null", "-S", path], until=lambda: os.path.exists(path))
    for _ in range(5):
        done = run([need("tmux"), "-S", path, "new-session", "-d", "seq 5000; exec cat"])
        check_equal(done.returncode, 0, "status of tmux: %s" % done.stderr.decode())
    return program


def git(folder):
    repository = os.path.join(folder, "repository")
    run([need("git"), "init", "-q", repository])
    for i in range(300):
        with open(os.path.join(repository, "file%d" % i), "w", encoding="ascii") as f:
            f.write("line\n" * i)
    run(["git", "-C", repository, "add", "."])
    return Program(folder, ["git", "--git-dir", os.path.join(repository, ".git"), "cat-file", "--batch-command"], feed="".join("info :file%d\n" % i for i in range(300)) + "info ready\n")


def cc1plus(folder):
    """In the middle of its work."""
    compiler = run([need("gcc"), "-print-prog-name=cc1plus"]).stdout.decode().strip()
    if not os.path.exists(compiler):
        raise Skip("cc1plus is not installed")
    with open(os.path.join(folder, "x.cc"), "w", encoding="ascii") as f:
        f.write(CXX)
    return Program(folder, [compiler, "-quiet", "-O2", "x.cc", "-o", "/dev/null"],
                   until=lambda: any(blocks_of(os.path.join(segments, s)) > 4 << 11 for s in os.listdir(segments)))


def mappings_62000(folder):
    return Program(folder, [target("many_parts"), "31000", "0"])


def threads_1000(folder):
    return Program(folder, [target("many_parts"), "0", "1000"])


# ---- cases ---------------------------------------------------------------------------------------

def fatal(pid):
    """A signal that ends it and writes a core: it is neither caught, ignored nor blocked."""
    with open("/proc/%d/status" % pid, encoding="ascii") as f:
        masks = dict(line.split(":\t") for line in f if line.startswith("Sig"))
    taken = int(masks["SigBlk"], 16) | int(masks["SigIgn"], 16) | int(masks["SigCgt"], 16)
    return next(s for s in FATAL if not taken >> (s - 1) & 1)


def account_mappings(pid, segment):
    with open("/proc/%d/maps" % pid, encoding="ascii") as f:
        return sum(1 for line in f if segment in line and line.split()[1].endswith("p"))


def kernel_core(program, folder):
    before = set(os.listdir(folder))
    os.kill(program.pid, fatal(program.pid))
    os.kill(program.pid, signal.SIGCONT)
    program.process.wait(600)
    made = [f for f in os.listdir(folder) if f not in before and f.startswith("core")]
    if not made:
        raise Skip("the kernel wrote no core")
    return os.path.join(folder, made[0])


def measured(what, path):
    print("# %s: %.1f MB on disk" % (what, blocks_of(path) / 2048))


def compare(what, options, path, live):
    began = time.monotonic()
    check_same(report_of(*options, "-r", path), live)
    measured("%s, read in %.1f s" % (what, time.monotonic() - began), path)


def try_program(start):
    with kernel_cores() as folder, start(folder) as program:
        stopped(program)
        segment = segment_of(program.pid)
        before = blocks_of(segment)
        live, live_plain = report_of("-a", str(program.pid)), report_of(*NO_VECTORS, "-a", str(program.pid))
        print("# %d blocks, %d call sites; the segment: %.1f MB, in %d mappings of the view" % (
            live["totals"]["live_blocks"], len(live["sites"]), before / 2048, account_mappings(program.pid, segment)))
        path = gcore_of(program.pid)
        compare("gcore", NO_VECTORS, path, live_plain)
        os.unlink(path)
        path, _ = saved(program)
        compare("--save", (), path, live)
        os.unlink(path)
        check_equal(blocks_of(segment), before, "blocks of the segment's file after gcore and --save")
        path = kernel_core(program, folder)
        check_equal(blocks_of(segment), before, "blocks of the segment's file after the kernel's dump")
        os.unlink(segment)
        compare("kernel", (), path, live)


def cut(make):
    """Every 4 KB, with its segment and without."""
    with kernel_cores() as folder, Program(folder, [target("leaks"), "wait"]) as program:
        stopped(program)
        segment = segment_of(program.pid)
        path, copy = make(program, folder), os.path.join(folder, "copy")
        check_equal(run(["cp", "--sparse=always", path, copy]).returncode, 0, "status of cp")
        for what in ("with its segment", "without"):
            print("# %s: %s" % (what, cut_everywhere(copy, 4096, 600)))
            if os.path.exists(segment):
                os.rename(segment, segment + ".away")
            copy = path
        os.unlink(path)


for start_of in (python, python_malloc, redis, sqlite, cc1plus, node, perl, bash, git, tmux, nginx, mappings_62000,
                 threads_1000):
    add_case("%s: gcore, --save and the kernel's core have what the program had" % start_of.__name__,
             lambda start=start_of: try_program(start))

add_case("--save: cut at every 4 KB it opens, or says why not", lambda: cut(lambda p, _: saved(p)[0]))
add_case("kernel: cut at every 4 KB it opens, or says why not", lambda: cut(kernel_core))

if __name__ == "__main__":
    run_cases()
