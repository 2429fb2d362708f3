#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Resident memory of real programs, by name: of what a process has for itself, at least 95 % is blocks, mappings with
their call site, stacks, modules or heaptop's own. What remains is printed with its size. Arguments: the cases."""

import collections
import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

from postgres import database, program
from proving import (HEAPTOP, LIBRARY, Failure, case, check, check_equal, environment, kill_hard, need, run, run_cases,
                     scratch, wait_for)

NAMED = 0.95
LEAST = 1e6  # bytes of its own: in less, a few pages are much
PARTS = ("live_bytes", "mapped_bytes", "slack_bytes", "free_bytes", "program_mapped_bytes", "stacks_bytes", "files_bytes")


def private_bytes(pid):
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as f:
        return 1024 * sum(int(n) for n in re.findall(r"^Private_(?:Clean|Dirty): +(\d+)", f.read(), re.M))


def frame(pid, **env):
    done = run([HEAPTOP, "-b", "-n", "1", "--format", "json", "-a", str(pid)], env=environment(**env), timeout=200)
    check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode()[-300:])
    return json.loads(done.stdout)


def named(what, pid, **env):
    """The program is at rest, or stopped, so that its figures are of one time."""
    rep = frame(pid, **env)
    m, is_forked = rep["memory"], rep["process"]["forked"]
    check(m["failed"] is None, "%s: %s" % (what, m["failed"]))
    own = private_bytes(pid) - m["heaptop_bytes"]
    share = 1 - m["other_bytes"] / own
    parts = ", ".join("%s %.1f" % (part[:-6], (m[part] or 0) / 1e6) for part in PARTS)
    print("# %s%s: %.1f %% of %.1f MB (%s; other %.1f; heaptop %.1f)" % (
        what, " (forked)" if is_forked else "", 100 * share, own / 1e6, parts, m["other_bytes"] / 1e6, m["heaptop_bytes"] / 1e6), flush=True)
    check(share >= NAMED or own < LEAST, "%s: %.1f %% has a name" % (what, 100 * share))


@contextlib.contextmanager
def running(command, ready="", options=None, **env):
    """With the library from its start, in a group of its own, which is killed. Ready: when it says so."""
    env = environment(LD_PRELOAD=LIBRARY, **env)
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, start_new_session=True, **(options or {})) as process:
        try:
            if ready:
                check_equal(process.stdout.readline(), ready + "\n", "first line of " + command[0])
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            kill_hard(process)


PYTHON = ("import json, re, decimal, mmap\na = [{str(i): [i] * 9} for i in range(200000)]\n"
          "b = [bytearray(5000) for _ in range(2000)]; m = mmap.mmap(-1, 1 << 24); m.write(b'x' * (1 << 23))\n"
          "print('ready', flush=True); input()")
NODE = ("let a = []; for (let i = 0; i < 3e5; i++) a.push({i, s: 'x' + i}); let b = []; "
        "for (let i = 0; i < 40; i++) b.push(Buffer.alloc(1 << 20, 'x')); console.log('ready'); process.stdin.resume(); "
        "process.on('SIGUSR2', () => console.log(a.length, b.length));")
JAVA = ("import java.util.*;\nclass Held {\n\tpublic static void main(String[] x) throws Exception {\n\t\tMap<Integer, String> m = "
        "new TreeMap<>();\n\t\tfor (int i = 0; i < 400000; i++)\n\t\t\tm.put(i * 7919, \"v\" + i);\n\t\t"
        "System.out.println(\"ready\");\n\t\tSystem.in.read();\n\t\tSystem.out.println(m.size());\n\t}\n}\n")


@case("python3")
def python():
    with running([need("python3"), "-c", PYTHON], "ready") as process:
        named("python3", process.pid)


@case("node")
def node():
    with running([need("node"), "-e", NODE], "ready") as process:
        named("node", process.pid)


@case("java")
def java():
    with open(os.path.join(scratch, "Held.java"), "w", encoding="ascii") as f:
        f.write(JAVA)
    check_equal(run([need("javac"), "-d", scratch, f.name]).returncode, 0, "status of javac")
    with running([need("java"), "-cp", scratch, "Held"], "ready") as process:
        named("java", process.pid)


@case("cc1plus")
def compiler():
    done = run([need("g++"), "-print-prog-name=cc1plus"])
    source = os.path.join(scratch, "large.cc")
    with open(source, "w", encoding="ascii") as f:
        f.write("#include <bits/stdc++.h>\n" + "".join(
            "struct T%d { int x; };\nstd::map<std::string, std::vector<T%d>> m%d;\nvoid f%d() { m%d[\"x\"].push_back({%d}); "
            "std::sort(m%d[\"x\"].begin(), m%d[\"x\"].end(), [](auto &a, auto &b) { return a.x < b.x; }); }\n"
            % ((i,) * 8) for i in range(400)))
    with running([done.stdout.decode().strip(), "-quiet", "-O2", source, "-o", "/dev/null"]) as process:
        wait_for(lambda: private_bytes(process.pid) > 250e6, "it has come some way", 200)
        process.send_signal(signal.SIGSTOP)
        named("cc1plus", process.pid)


@case("redis")
def redis():
    socket = os.path.join(scratch, "redis")
    with running([need("redis-server"), "--port", "0", "--unixsocket", socket, "--save", ""]) as process:
        wait_for(lambda: os.path.exists(socket), "its socket")
        run([need("redis-benchmark"), "-s", socket, "-n", "100000", "-r", "50000", "-d", "200", "-q", "-t", "set,lpush,hset"])
        named("redis", process.pid)


SQL = ("create table t as select i, repeat('x', i % 100) s from generate_series(1, 200000) i; create index on t (i);\n"
       "select count(*) from t a join t b using (i) where a.s > 'x';\nset work_mem = '64MB';\n"
       "select count(*) from (select s, i from t order by s desc, i offset 10) x;\n\\echo ready\n")


@case("postgres: the server and one that serves")
def postgres():
    folder, owner = database()
    command = [*owner, program("postgres"), "-D", "data", "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"]
    with running(command, options={"cwd": folder}, HEAPTOP_DIR=folder) as process:
        wait_for(lambda: run([program("pg_isready"), "-h", folder]).returncode == 0, "it takes connections")
        with subprocess.Popen([program("psql"), "-h", folder, "-U", "postgres", "-qAt"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as client:
            wait_for(lambda: "ready" in asked(client, SQL), "it answers")
            served = [(pid, line) for pid, line in commands(process.pid).items()
                      if pid == process.pid or "[local]" in line]
            check_equal(len(served), 2, "processes")
            for pid, line in served:
                named(line, pid, HEAPTOP_DIR=folder)
            client.stdin.close()
        process.send_signal(signal.SIGINT)  # it leaves no shared memory then
        process.wait(60)


def asked(client, text):
    client.stdin.write(text)
    client.stdin.flush()
    lines = []
    while not lines or (lines[-1] and lines[-1] != "ready\n"):
        lines.append(client.stdout.readline())
    return "".join(lines)


def commands(root):
    """pid: command line, of a process and all below it."""
    parents, lines = collections.defaultdict(list), {}
    for path in glob.glob("/proc/[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            with open(path + "/stat", encoding="utf-8") as f:
                parents[int(f.read().rsplit(")", 1)[1].split()[1])].append(int(path[6:]))
            with open(path + "/cmdline", encoding="utf-8", errors="replace") as f:
                lines[int(path[6:])] = f.read().replace("\0", " ").strip()
    found, left = {}, [root]
    while left:
        pid = left.pop()
        found[pid] = lines.get(pid, "")
        left += parents[pid]
    return found


PAGE = ("<body><script>let a = []; for (let i = 0; i < 3e5; i++) a.push({i, s: 'x' + i});\n"
        "for (let i = 0; i < 20000; i++) { let d = document.createElement('p'); d.textContent = 'text ' + i; "
        "document.body.append(d); }\nlet c = document.createElement('canvas'); c.width = c.height = 1500; "
        "c.getContext('2d').fillRect(5, 5, 900, 900); document.body.append(c); document.title = 'done ' + a.length;</script>")


@case("chromium: the browser, its renderer and what else it starts")
def chromium():
    page = os.path.join(scratch, "page.html")
    with open(page, "w", encoding="ascii") as f:
        f.write(PAGE)
    command = [need("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
               "--remote-debugging-port=0", "--user-data-dir=" + scratch + "/profile", "--no-first-run", "file://" + page]
    with running(command) as process:
        wait_for(lambda: titled(scratch + "/profile"), "the page is there", 120)
        kinds = {}
        for pid, line in commands(process.pid).items():
            kind = re.search(r"--type=([\w-]+)", line)
            kinds.setdefault(kind.group(1) if kind else "browser", []).append(pid)
        check({"browser", "renderer"} <= set(kinds), "processes: %s" % kinds)
        wrong = []
        for kind, pids in sorted(kinds.items()):
            for pid in pids:
                try:
                    named("chromium's " + kind, pid)
                except Failure as why:
                    wrong.append(str(why))
        check(not wrong, wrong)


def titled(profile):
    """Whether the page has run, as the browser says on its port."""
    try:
        with open(os.path.join(profile, "DevToolsActivePort"), encoding="ascii") as f:
            port = int(f.readline())
        with urllib.request.urlopen("http://127.0.0.1:%d/json/list" % port, timeout=9) as answer:
            return any(page["title"].startswith("done") for page in json.load(answer))
    except (OSError, ValueError):
        return False


run_cases()
