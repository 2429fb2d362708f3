#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of all events: equal to the program's own counters, and to the account of an independent
logger, at any moment; what remains after a death; and the formats of other tools, read by these."""

import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import time

import deadline
from proving import (HEAPTOP, LIBRARY, behind, case, check, check_equal, environment, kill_hard, need, run, run_cases, scratch,
                     target)

FIGURES = ("function", "live_bytes", "live_blocks", "allocs", "frees", "alloc_bytes", "peak_live_bytes", "temporary")
TOTALS = ("allocs", "frees", "alloc_bytes", "free_bytes", "live_bytes", "live_blocks", "peak_live_bytes", "temporary")
PYTHON = os.path.realpath(sys.executable)
LOOP = "import json\nx = [json.loads('[1, 2, {\"a\": \"%d\"}]' % i) for i in range(300)]"


def path(name):
    at = os.path.join(scratch, name)
    if os.path.exists(at):
        os.unlink(at)
    return at


def record(command, *options, **how):
    """Runs COMMAND, recording all events: its report, and the file."""
    out, file = path("report.json"), path("events")
    done = run([HEAPTOP, "--record-events", file, "--format", "json", "-o", out, *options, "--", *command], **how)
    check(os.path.exists(out), "no report: " + done.stderr.decode())
    with open(out, encoding="utf-8") as f:
        return done, json.load(f), file


def replay(file, *options):
    out = path("replay.json")
    done = run([HEAPTOP, "-r", file, "--format", "json", "-o", out, *options])
    check_equal((done.returncode, done.stderr), (0, b""), "status and errors of -r")
    with open(out, encoding="utf-8") as f:
        return json.load(f)


def check_same(live, again):
    """A report of the counters, and one of the events."""
    for figure in TOTALS:
        check_equal(again["totals"][figure], live["totals"][figure], figure)
    sites = {s["id"]: s for s in again["sites"]}
    check_equal(sorted(sites), sorted(s["id"] for s in live["sites"]), "sites")
    for site in live["sites"]:
        other = sites[site["id"]]
        for figure in FIGURES:
            check_equal(other[figure], site[figure], "%s of site %d" % (figure, site["id"]))
        check_equal([(f["pc"], f["function"], f["line"]) for f in other["stack"]],
                    [(f["pc"], f["function"], f["line"]) for f in site["stack"]], "stack of site %d" % site["id"])


@case("each site's figures are those of its counters")
def as_counted():
    for command in ([target("crash"), "exit"], [target("truth_apis")]):
        done, live, file = record(command, "--lossless")
        check(b"lost" not in done.stderr, done.stderr.decode())
        check_same(live, replay(file))


@case("the same with threads that free each other's blocks")
def as_counted_threads():
    _, live, file = record([target("event_threads"), "20", "3000"], "--lossless")
    again = replay(file)
    for site in live["sites"] + again["sites"]:
        site["peak_live_bytes"] = site["temporary"] = 0  # depend on the order within 65 us
    for rep in (live, again):
        rep["totals"]["peak_live_bytes"] = rep["totals"]["temporary"] = 0
    check_same(live, again)


@case("the same for a program killed by a signal: its last event is there")
def killed():
    done, live, file = record([target("crash"), "kill"], "--lossless")
    again = replay(file)
    check_equal(again["process"]["signal"], live["process"]["signal"], "signal")
    check_same(live, again)
    for line in re.findall(r"/dev/shm/\S+|\S*heaptop-\d\S*", done.stderr.decode()):
        if os.path.exists(line):
            os.unlink(line)


@case("a range has what was allocated and freed between its ends")
def ranges():
    _, _, file = record([target("event_threads"), "20", "2000"], "--lossless")
    first, last, both = (replay(file, "--at", at) for at in ("30%", "70%", "30%..70%"))
    check_equal([r["time"]["moment"] for r in (first, last, both)], ["past", "past", "range"], "moments")
    check_equal([both["time"]["from_ns"], both["time"]["uptime_ns"]],
                [first["time"]["uptime_ns"], last["time"]["uptime_ns"]], "times")
    check_equal(both["totals"], last["totals"], "totals: those of the end")
    before = {s["id"]: s for s in first["sites"]}
    now = {s["id"]: s for s in last["sites"]}
    check_equal({s["id"] for s in both["sites"]}, set(now), "sites")
    for site in both["sites"]:
        for key, name in (("bytes", "live_bytes"), ("blocks", "live_blocks"), ("allocs", "allocs"),
                          ("alloc_bytes", "alloc_bytes")):
            check_equal(site["since"][key], now[site["id"]][name] - before.get(site["id"], {name: 0})[name],
                        "%s of site %d" % (key, site["id"]))
    allocated = sum(s["since"]["alloc_bytes"] for s in both["sites"])
    check(allocated > 1000000, "only %d bytes" % allocated)
    text = run([HEAPTOP, "-r", file, "--report", "--at", "30%..70%"]).stdout.decode()
    check(re.search(r"^range +%s bytes allocated in " % format(allocated, ","), text, re.M), text)
    check("call sites, by since" in text, text)
    check(re.search("^moment +the past, from .* to .* of ", text, re.M), text)
    wrong = run([HEAPTOP, "-r", file, "--report", "--at", "70%..30%"])
    check(wrong.returncode != 0 and b"ends before it begins" in wrong.stderr, wrong.stderr.decode())


@case("images and children are in the same file")
def family():
    script = "%s exit; exec %s exit" % (target("crash"), target("crash"))
    done, live, file = record(["/bin/sh", "-c", script], "--lossless")
    check_equal(done.returncode, 5, "status")
    again = replay(file)
    check_same(live, again)
    count = [c for c in again["children"] if c["process"]["command"] and c["process"]["command"][0].endswith("crash")]
    check_equal(len(count), 1, "children that ran crash")
    check_equal(count[0]["totals"]["live_bytes"], again["totals"]["live_bytes"], "live bytes of the child")


@case("children have the names of their frames, with a report, frames or neither")
def names():
    script = "%s exit; exec %s exit" % (target("crash"), target("crash"))
    for options in (["--headless"], ["-b", "-o", path("frames")], ["--report", "-o", path("report")]):
        for command, own in ((["/bin/sh", "-c", script], "crash"), ([target("forking"), "1", "50"], "forking")):
            file = path("events")
            run([HEAPTOP, "--record-events", file, *options, "--", *command])
            functions = [{f["function"] for s in c["sites"] for f in s["stack"]} for c in replay(file)["children"]
                         if c["process"]["command"] and c["process"]["command"][0].endswith(own)]
            check_equal(len(functions), 1, "children that ran " + own)
            check("main" in functions[0], "names with %s: %s" % (options, functions))


# ---- an independent logger ----

def logger():
    return behind(scratch, "logger.so", EVENT_LOG=os.path.join(scratch, "log"), PYTHONMALLOC="malloc")


def logged():
    """The logger's account: (+1 or -1, size, caller) in order."""
    names = [n for n in os.listdir(scratch) if n.startswith("log.")]
    check_equal(len(names), 1, "logs")
    live, out = {}, []
    with open(os.path.join(scratch, names[0]), "rb") as f:
        while True:
            piece = f.read(32 << 12)
            for at in range(0, len(piece), 32):
                addr, size, caller, kind = struct.unpack_from("4Q", piece, at)
                if kind == 0:
                    os.unlink(os.path.join(scratch, names[0]))
                    return out
                if kind == 1:
                    live[addr] = (size, caller)
                    out.append((1, size, caller))
                elif addr in live:
                    out.append((-1, *live.pop(addr)))


def replayed(file):
    """The same from a recording, by way of the mtrace format."""
    trace, live, out = path("trace"), {}, []
    done = run([HEAPTOP, "-r", file, "--format", "mtrace", "-o", trace])
    check_equal((done.returncode, done.stderr), (0, b""), "status and errors of -r")
    with open(trace, encoding="utf-8") as f:
        for line in f:
            word = line.split()
            if word[0] == "@" and word[2] == "+":
                live[word[3]] = (int(word[4], 16), int(word[1].rsplit("[", 1)[1][:-1], 16))
                out.append((1, *live[word[3]]))
            elif word[0] == "@":
                out.append((-1, *live.pop(word[3])))
    return out


def states(events, instants):
    """Live bytes and blocks by caller after so many events."""
    live, at = {}, []
    wanted = set(instants)
    for i, (sign, size, caller) in enumerate(events):
        if i in wanted:
            at.append({c: v for c, v in live.items() if v != (0, 0)})
        size_of, count = live.get(caller, (0, 0))
        live[caller] = (size_of + sign * size, count + sign)
    return at


def agree(command):
    _, _, file = record([logger(), *command], "--lossless")
    log, events = logged(), replayed(file)
    check(len(log) > 1000, "only %d events" % len(log))
    check_equal(len(events), len(log), "number of events")
    instants = random.Random(1).sample(range(len(log)), min(1000, len(log)))
    for i, (one, other) in enumerate(zip(states(log, instants), states(events, instants))):
        check_equal(other, one, "live by caller after %d events" % sorted(instants)[i])


@case("a logger agrees at 1,000 random instants: python3")
def agree_python():
    agree([PYTHON, "-I", "-S", "-c", LOOP])


@case("a logger agrees at 1,000 random instants: sqlite3")
def agree_sqlite():
    agree([need("sqlite3"), ":memory:",
           "create table t(a,b); with recursive c(x) as (select 1 union all select x+1 from c where x<3000) "
           "insert into t select x, hex(x*x) from c; select count(distinct b), sum(a) from t;"])


@case("a logger agrees at 1,000 random instants: perl")
def agree_perl():
    agree([need("perl"), "-e", "for (1..5000) { $h{$_ % 700} = 'x' x ($_ % 90); } print scalar(keys %h), \"\\n\";"])


@case("a logger agrees at 1,000 random instants: gawk")
def agree_gawk():
    agree([need("gawk"), "BEGIN { for (i = 0; i < 3000; i++) a[i % 500] = a[i % 300] i; print length(a) }"])


@case("a logger agrees at 1,000 random instants: bc")
def agree_bc():
    program = path("program.bc")
    with open(program, "w", encoding="ascii") as f:
        f.write("scale=20\nfor (i = 0; i < 200; i++) a[i * 7 % 50] = sqrt(i + 2)\nquit\n")
    agree([need("bc"), "-q", program])


@case("a logger agrees whenever 4 threads that pass blocks to and fro are quiet")
def agree_threads():
    _, _, file = record([logger(), target("event_threads"), "20", "2000"], "--lossless")

    def quiet(events):
        return states(events, [i for i, e in enumerate(events) if e[0] == 1 and 1000000 <= e[1] < 1000020])

    one, other = quiet(logged()), quiet(replayed(file))
    check_equal((len(one), len(other)), (20, 20), "moments")
    for i in range(20):
        check_equal(other[i], one[i], "live by caller at moment %d" % i)


@case("--at: a moment's sums are those of the events before it")
def at_time():
    _, _, file = record([PYTHON, "-I", "-S", "-c", LOOP], "--lossless")
    whole = replay(file)
    last = 0
    for part in (10, 35, 60, 85):
        rep = replay(file, "--at", "%d%%" % part)
        totals = rep["totals"]
        check_equal(sum(s["live_bytes"] for s in rep["sites"]), totals["live_bytes"], "live bytes")
        check_equal(totals["allocs"] - totals["frees"], totals["live_blocks"], "live blocks")
        check(last <= totals["allocs"] <= whole["totals"]["allocs"], "allocations at %d%%" % part)
        last = totals["allocs"]
    peak = replay(file, "--at", "peak")
    check_equal(peak["totals"]["live_bytes"], whole["totals"]["peak_live_bytes"], "live bytes at the peak")
    check_equal(sum(s["live_bytes"] for s in peak["sites"]), whole["totals"]["peak_live_bytes"], "its sites")


def block_sizes(file):
    """The sizes of the contents of a file's blocks, whose heads are four words."""
    with open(file, "rb") as f:
        data = f.read()
    at, sizes = 16, []
    while at < len(data):
        _, packed, size, _ = struct.unpack_from("<4I", data, at)
        sizes.append(size)
        at += 16 + packed
    return sizes


@case("-a: blocks of the file stay small, however many call sites there are at once")
def blocks_small():
    file = path("events")
    with subprocess.Popen([target("many_sites"), "20000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=environment(LD_PRELOAD=LIBRARY)) as program:
        try:
            check_equal(program.stdout.readline(), b"ready\n", "the program's first line")
            with subprocess.Popen([HEAPTOP, "-a", str(program.pid), "--record-events", file, "--headless"],
                                  env=environment(), stderr=subprocess.PIPE) as recorder:
                wait_until(lambda: os.path.exists(file) and allocs_in(file) >= 20000, "the blocks in the file")
                program.stdin.close()
                check_equal(recorder.wait(), 0, "status: " + recorder.stderr.read().decode())
        finally:
            kill_hard(program)
    sizes = block_sizes(file)
    check(sum(sizes) > 600000, "contents of %d bytes" % sum(sizes))
    check(max(sizes) < 300000, "a block of %d bytes" % max(sizes))


# ---- deaths ----

def wait_until(condition, what):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    check(False, "never: " + what)


def allocs_in(file):
    """Allocations in what is written of a recording so far."""
    done = run([HEAPTOP, "-r", file, "--format", "json"])
    return json.loads(done.stdout)["totals"]["allocs"] if done.returncode == 0 else 0


@case("heaptop is killed: the program goes on to its end, and the file can be read")
def reader_killed():
    for lossless in ([], ["--lossless"]):
        file = path("events")
        with subprocess.Popen([HEAPTOP, "--record-events", file, *lossless, "--report", "--",
                               target("event_threads"), "300", "2000"], env=environment(), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as process:
            wait_until(lambda: allocs_in(file) > 1000, "events in the file")
            kill_hard(process)
            out = process.stdout.read()
        check_equal(out, b"done\n", "the program's output")
        done = run([HEAPTOP, "-r", file, "--format", "json"])
        check_equal(done.returncode, 0, "status of -r: " + done.stderr.decode())
        check(json.loads(done.stdout)["totals"]["allocs"] > 1000, "no events")


@case("heaptop is stopped: the program waits for it at most half a second, then loses events")
def reader_stopped():
    file = path("events")
    with subprocess.Popen([HEAPTOP, "--record-events", file, "--lossless", "--report", "-o", path("report"), "--",
                           target("event_threads"), "300", "2000", "wait"], env=environment(), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        check_equal(process.stdout.readline(), b"half\n", "half of its output")
        wait_until(lambda: os.path.exists(file) and os.path.getsize(file) > 20000, "events in the file")
        process.send_signal(signal.SIGSTOP)
        process.stdin.write(b"x")
        process.stdin.flush()
        out = process.stdout.readline()  # the program has ended, though nobody reads its rings
        process.send_signal(signal.SIGCONT)
        _, errors = process.communicate()
    check_equal(out, b"done\n", "the program's output")
    lost = re.search(rb"(\d+) of \d+ events were lost", errors)
    check(lost, "no word on lost events: " + errors.decode())
    rep = replay(file)
    check_equal(rep["totals"]["lost_events"], int(lost.group(1)), "lost events in the report")


def stood_still(file):
    """Heaptop and a program that waits for it are stopped for longer than it may wait, and go on. Whether it waited
    when it was stopped, and what heaptop said."""
    with subprocess.Popen([HEAPTOP, "--record-events", file, "--lossless", "--report", "-o", path("report"), "--",
                           target("malloc_loop"), "0.5"], env=environment(), stderr=subprocess.PIPE) as process:
        wait_until(lambda: allocs_in(file) > 1000, "events in the file")
        with open("/proc/%d/task/%d/children" % (process.pid, process.pid), encoding="ascii") as f:
            program = int(f.read().split()[0])
        begin = time.monotonic()
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: deadline.stat("/proc/%d/stat" % program)[0] == "S", "the program waits")
        os.kill(program, signal.SIGSTOP)
        waited = time.monotonic() - begin < 0.4
        time.sleep(0.7)  # longer than a viewer's grant, and shorter than the time after it
        os.kill(program, signal.SIGCONT)
        process.send_signal(signal.SIGCONT)
        return waited, process.communicate()[1]


@case("a machine that stands still for longer than a program waits loses no events")
def all_stopped():
    for _ in range(10):
        file = path("events")
        waited, errors = stood_still(file)
        if waited:
            break
    check(waited and b"lost" not in errors, errors.decode())
    check_equal(replay(file)["totals"]["lost_events"], 0, "lost events in the report")


@case("--trace: a line for each allocation at a site")
def trace():
    with subprocess.Popen([target("event_threads"), "100000", "300"], stdout=subprocess.DEVNULL,
                          env=environment(LD_PRELOAD=LIBRARY)) as program:
        try:
            command = [HEAPTOP, "-a", str(program.pid), "-b", "-n", "1", "--format", "json"]
            wait_until(lambda: run(command).stdout.count(b"large_block") > 0, "a site in the report")
            site = [s["id"] for s in json.loads(run(command).stdout)["sites"] if s["function"] == "calloc" and
                    any(f["function"] == "large_block" for f in s["stack"])][0]
            with subprocess.Popen([HEAPTOP, "-a", str(program.pid), "--trace", str(site)], env=environment(),
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as tracer:
                lines = [tracer.stdout.readline().decode().split() for _ in range(50)]
                tracer.send_signal(signal.SIGINT)
                tracer.stdout.read()
                check_equal(tracer.wait(60), 0, "exit status after SIGINT")
            for line in lines:
                check(200 <= int(line[3]) < 3200 and line[2].startswith("0x"), "line: %s" % line)
            check(any("freed" in line for line in lines), "no block was freed")
        finally:
            kill_hard(program)


# ---- formats ----

@case("mtrace reads --format mtrace: its leaks are what is live")
def format_mtrace():
    mtrace = need("mtrace")
    _, live, file = record([target("crash"), "exit"], "--lossless")
    trace = path("trace")
    run([HEAPTOP, "-r", file, "--format", "mtrace", "-o", trace])
    leaks = re.findall(r"^0x[0-9a-f]{16}\s+0x([0-9a-f]+)\s", run([mtrace, trace]).stdout.decode(), re.M)
    check_equal((len(leaks), sum(int(n, 16) for n in leaks)),
                (live["totals"]["live_blocks"], live["totals"]["live_bytes"]), "blocks and bytes of mtrace")


@case("heaptrack_print reads --format heaptrack: its totals are ours")
def format_heaptrack():
    heaptrack_print = need("heaptrack_print")
    _, live, file = record([target("crash"), "exit"], "--lossless")
    for suffix in ("zst", "gz"):
        out = path("trace." + suffix)
        done = run([HEAPTOP, "-r", file, "--format", "heaptrack", "-o", out])
        check_equal((done.returncode, done.stderr), (0, b""), "status and errors")
        said = run([heaptrack_print, out]).stdout.decode()
        check_equal(int(re.search(r"calls to allocation functions: (\d+)", said).group(1)), live["totals"]["allocs"],
                    "allocations, " + suffix)
        check("site_crash" in said, "no site_crash in " + said[:300])
        folded = path("folded")
        run([heaptrack_print, "-F", folded, "--flamegraph-cost-type", "leaked", out])
        with open(folded, encoding="utf-8") as f:
            check_equal(sum(int(line.rsplit(" ", 1)[1]) for line in f), live["totals"]["live_bytes"],
                        "leaked, " + suffix)


@case("the screen and --diff take such a file")
def shown():
    _, _, file = record([target("crash"), "exit"], "--lossless")
    script = path("script")
    with open(script, "w", encoding="ascii") as f:
        f.write(":size 100x30\n:until site_crash\n:save-display -\n")
    for options in ([], ["--at", "peak"]):
        done = run([HEAPTOP, "--script", script, "-r", file, *options])
        check_equal((done.returncode, done.stderr), (0, b""), "status and errors")
        check(b"crash.c" in done.stdout and (b"PEAK" in done.stdout) == bool(options), "the screen")
    done = run([HEAPTOP, "--diff", file, file])
    check_equal((done.returncode, done.stderr), (0, b""), "status and errors of --diff")


@case("without a terminal, a report or frames there is only the file")
def only_recorded():
    for options in ([], ["--headless"]):
        file = path("events")
        done = run([HEAPTOP, "--record-events", file, *options, "--", target("crash"), "exit"])
        check_equal((done.returncode, done.stdout, done.stderr), (5, b"", b""), "status, output and errors")
        check_same(record([target("crash"), "exit"])[1], replay(file))


@case("what cannot be is said")
def refused():
    _, _, file = record([target("crash"), "exit"])
    for options, status, word in ((["-r", file, "--format", "mtrace", "--at", "1s"], 2, b"mtrace"),
                                  (["--lossless", "--", "true"], 2, b"--record-events"),
                                  (["--record-events", "/nonexistent/x", "--report", "--", "true"], 125, b"nonexistent"),
                                  (["--record-events", file, "--sample", "1M", "--", "true"], 2, b"sample")):
        done = run([HEAPTOP, *options])
        check_equal(done.returncode, status, "status of %s" % options)
        check(word in done.stderr and done.stderr.count(b"\n") == 1, "%s: %s" % (options, done.stderr.decode()))


run_cases()
