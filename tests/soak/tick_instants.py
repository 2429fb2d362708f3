#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings against an independent logger, a second library preloaded behind ours: of ticks, at each tick of a real
program at which that was quiet, and of all events, at random instants, the live bytes and blocks of each caller are
those of the logger. The programs read commands from a pipe, and are quiet when they have answered. Arguments: ticks, and
instants, of each program (default 1,000), then parts of the names of cases."""

import bisect
import json
import os
import random
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

from proving import HEAPTOP, add_case, behind, check, check_equal, environment, heap_sites, need, run, run_cases, scratch

TICKS = int(sys.argv.pop(1)) if sys.argv[1:] else 1000
DELAY_S = 0.1
PAUSE_S = 0.15  # a tick or two
COMMANDS = 400  # of a recording of all events
RECORD_BYTES = 32

# A program, and its command number N, which it answers with a line.
PROGRAMS = {
    "python3": ([os.path.realpath(sys.executable), "-I", "-S", "-u", "-c",
                 "import sys, random\nr = random.Random(1)\nd = {}\n"
                 "for n in sys.stdin:\n"
                 " for i in range(r.randrange(300)): d[r.randrange(500)] = 'x' * r.randrange(900)\n"
                 " print(len(d))"], "%d\n"),
    "perl": (["perl", "-e", "$| = 1; srand(1); while (<STDIN>) { for (1 .. rand 300) { $h{int rand 500} = 'x' x rand 900 } "
              "print scalar(keys %h), \"\\n\" }"], "%d\n"),
    "gawk": (["gawk", "BEGIN { srand(1) } { for (i = int(rand() * 300); i > 0; i--) { k = int(rand() * 500); "
              "delete a[k]; a[k] = sprintf(\"%*d\", int(rand() * 900), i) } print length(a); fflush() }"], "%d\n"),
    "sqlite3": (["sqlite3", ":memory:"], "create table if not exists t(a,b); with recursive c(x) as (select 1 union all "
                "select x+1 from c where x<100) insert into t select x, randomblob(abs(random() %% 300)) from c; "
                "delete from t where a %% 7 = %d %% 7; select count(*) from t;\n"),
    "bc": (["bc", "-q"], "for(i=0;i<60;i++) a[(i*%d)%%300]=2^(i*7)\n1\n"),
}


def log_of(log):
    names = [n for n in os.listdir(scratch) if n.startswith(os.path.basename(log) + ".")]
    check_equal(len(names), 1, "logs")
    return os.path.join(scratch, names[0])


def records(path):
    """The number of records so far."""
    with open(path, "rb") as f:
        class Kinds:
            def __len__(self):
                return os.fstat(f.fileno()).st_size // RECORD_BYTES

            def __getitem__(self, i):
                f.seek(i * RECORD_BYTES + 24)
                return struct.unpack("Q", f.read(8))[0] == 0
        return bisect.bisect_left(Kinds(), True)


def driven(file, log, command, line):
    """Runs the program under a recorder for the ticks. When it was quiet, by records of the log."""
    quiet = set()
    logger = behind(scratch, "logger.so", EVENT_LOG=log, PYTHONMALLOC="malloc")
    with subprocess.Popen([HEAPTOP, "--record", file, "-d", str(DELAY_S), "--headless", "--", logger, *command],
                          env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
        end, n = time.monotonic() + TICKS * DELAY_S, 0
        while time.monotonic() < end:
            n += 1
            p.stdin.write((line % n).encode())
            p.stdin.flush()
            check(p.stdout.readline(), "the program ended")
            quiet.add(records(log_of(log)))
            time.sleep(PAUSE_S)  # ticks come meanwhile; those that do not are not compared
            quiet.add(records(log_of(log)))  # it may have freed something after its answer
        p.stdin.close()
        p.stdout.read()
        check_equal(p.wait(60), 0, "status")
    return quiet


def states(path, quiet=(), wanted=()):
    """By (allocations, frees): live (bytes, blocks) of each caller, when it was quiet, or when those are wanted."""
    live, sums, counts, out = {}, {}, [0, 0], {}

    def add(sign, size, caller):
        counts[sign < 0] += 1
        size_of, blocks = sums.get(caller, (0, 0))
        sums[caller] = (size_of + sign * size, blocks + sign)

    with open(path, "rb") as f:
        for n, (addr, size, caller, kind) in enumerate(struct.iter_unpack("4Q", f.read())):
            if n in quiet or tuple(counts) in wanted:
                out[tuple(counts)] = {c: v for c, v in sums.items() if v != (0, 0)}
            if kind == 1:
                live[addr] = (size, caller)
                add(1, size, caller)
            elif addr in live:
                add(-1, *live.pop(addr))
            elif kind == 0:
                break  # the rest of the file is not written
    return out


def callers(rep):
    """Live (bytes, blocks) by the return address of the innermost call."""
    sums = {}
    for site in heap_sites(rep):
        caller = next(int(f["pc"], 16) for f in site["stack"] if int(f["pc"], 16))
        size, blocks = sums.get(caller, (0, 0))
        sums[caller] = (size + site["live_bytes"], blocks + site["live_blocks"])
    return {c: v for c, v in sums.items() if v != (0, 0)}


def known_at(rep, known):
    """What the logger has for that tick. None: the program was not quiet, or went on before all sites were read."""
    counts = tuple(rep["totals"][field] for field in ("allocs", "frees"))
    sums = tuple(sum(s[field] for s in heap_sites(rep)) for field in ("allocs", "frees"))
    return known.get(counts) if counts == sums else None


def agree(name):
    command, line = PROGRAMS[name]
    file, log, same = os.path.join(scratch, name + ".rec"), os.path.join(scratch, "log-" + name), 0
    quiet = driven(file, log, [need(command[0]), *command[1:]], line)
    known = states(log_of(log), quiet)
    for tick in range(TICKS):
        done = run([HEAPTOP, "-r", file, "--format", "json", "--top", "0", "--at", "%.2fs" % (tick * DELAY_S)])
        if done.returncode:
            continue  # before the first tick, or after the last
        rep = json.loads(done.stdout)
        want = known_at(rep, known)
        if want is not None:
            check_equal(callers(rep), want, "live by caller at %.2fs" % (tick * DELAY_S))
            same += 1
    check(same >= TICKS // 10, "only %d of %d ticks were quiet" % (same, TICKS))
    print("# %s: %d ticks agree" % (name, same))


def evented(file, log, command, line):
    """Runs the program for some commands, and records all of its events. Its time, in seconds."""
    logger = behind(scratch, "logger.so", EVENT_LOG=log, PYTHONMALLOC="malloc")
    done = run([HEAPTOP, "--record-events", file, "--lossless", "--report", "-o", "/dev/null", "--", logger, *command],
               stdin="".join(line % n for n in range(COMMANDS)).encode())
    check_equal((done.returncode, b"lost" in done.stderr), (0, False), "status, and loss: " + done.stderr.decode())
    return moment(file, "end")["time"]["uptime_ns"] / 1e9


def moment(file, at):
    done = run([HEAPTOP, "-r", file, "--format", "json", "--top", "0", *(["--at", at] if at != "end" else [])])
    if done.returncode and b"before the first" in done.stderr:
        return None
    check_equal(done.returncode, 0, "status of --at %s: %s" % (at, done.stderr.decode()))
    return json.loads(done.stdout)


def instant(points, dice):
    """A time between two known ones, more likely where more happened: programs sleep most of the time."""
    gaps = list(zip(points, points[1:]))
    (begin, _), (end, _) = dice.choices(gaps, [1 + b[1] - a[1] for a, b in gaps])[0]
    return begin + dice.random() * (end - begin)


def agree_events(name):
    command, line = PROGRAMS[name]
    file, log, dice, moments = os.path.join(scratch, name + ".events"), os.path.join(scratch, "all-" + name), random.Random(1), []
    seconds = evented(file, log, [need(command[0]), *command[1:]], line)
    points = [(0.0, 0), (seconds, sum(moment(file, "end")["totals"][field] for field in ("allocs", "frees")))]
    for _ in range(TICKS):
        at = instant(points, dice)
        rep = moment(file, "%.9fs" % at)
        if rep:
            moments.append((at, (rep["totals"]["allocs"], rep["totals"]["frees"]), callers(rep)))
            bisect.insort(points, (at, sum(moments[-1][1])))
    known = states(log_of(log), wanted={counts for _, counts, _ in moments})
    for at, counts, got in moments:
        check(counts in known, "at %.9fs there are %d allocations and %d frees, which the logger never had" % (at, *counts))
        check_equal(got, known[counts], "live by caller at %.9fs" % at)
    check(len(moments) > TICKS // 2, "only %d instants" % len(moments))
    print("# %s: %d instants agree, %d of them different" % (name, len(moments), len(known)))


for _name in PROGRAMS:
    add_case("a logger agrees at the ticks of " + _name, lambda name=_name: agree(name))
    add_case("a logger agrees at instants of all events of " + _name, lambda name=_name: agree_events(name))

run_cases()
