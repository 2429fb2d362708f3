#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the fuzz programs that are built, from the seeds in tests/fuzz/corpus, and prints a line for each:
how many inputs, in how much processor time. Without arguments a fixed number of inputs and fixed dice, for make check.

    fuzz.py [--seconds N | --events N] [--ledger FILE] [TARGET]...

--seconds: for so long each, with other dice each time; what is new is kept in $B/fuzz/found. --events: only
so many random keys, clicks and sizes for the screen, without libFuzzer and with other dice. --ledger: the
lines go there, too, with the time, and the sum of all that it holds is printed. An input that fails is left
in $B/fuzz."""

import argparse
import glob
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
B = os.path.join(os.path.dirname(os.path.dirname(HERE)), os.environ.get("B", "build"))
# In make check: what takes a second or two each.
RUNS = {"far": 1500, "read": 600, "show": 150, "proc": 50000, "sym": 800, "demangle": 20000, "text": 4000, "json": 4000, "record": 1500, "events": 400, "core": 2000,
        "keys": 50}
ALONE_EVENTS = 20000  # in make check
MOST_BYTES = {"far": 8192, "read": 769, "show": 769, "sym": 640, "demangle": 512, "text": 4096, "json": 4096, "record": 8192, "events": 8192, "proc": 4096, "core": 4096, "keys": 16384}
ALONE = "keys_alone"
STACK = 64 << 20  # deep names need what the worker thread has (DEMANGLE_STACK_BYTES)


def built():
    return [t for t in (*RUNS, ALONE) if os.access(os.path.join(B, "fuzz", t), os.X_OK)]


def command(target, seconds, new):
    limit = ["-max_total_time=%d" % seconds] if seconds else ["-runs=%d" % RUNS[target], "-seed=1"]
    return [os.path.join(B, "fuzz", target), *limit, "-max_len=%d" % MOST_BYTES[target], "-timeout=20",
            "-print_final_stats=1", "-artifact_prefix=%s-" % os.path.join(B, "fuzz", target), new,
            os.path.join(HERE, "corpus", target)]


def large_stack():
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (STACK if hard < 0 or hard > STACK else hard, hard))


def processor_time():
    """The processor time of the fuzz programs that ended; on a busy machine less than the elapsed time."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ledger_sum(path):
    """By target, what all runs in the ledger come to."""
    sums, events, failed = {}, [0, 0, 0], 0
    with open(path, encoding="utf-8") as f:
        for line in f:
            m = re.search(r"(not )?ok - fuzz (\w+): (\d+) inputs in ([\d.]+) s of processor", line)
            if m:
                inputs, seconds = sums.get(m[2], (0, 0.0))
                sums[m[2]] = inputs + int(m[3]), seconds + float(m[4])
                failed += bool(m[1])
            m = re.search(r"(\d+) keys, (\d+) clicks, (\d+) sizes", line)
            events = [sum(pair) for pair in zip(events, map(int, m.groups()))] if m else events
    for target, (inputs, seconds) in sorted(sums.items()):
        print("# ledger: %-9s %13d inputs %7.1f min" % (target, inputs, seconds / 60))
    print("# ledger: events of the screen: %d: %d keys, %d clicks, %d sizes" % (sum(events), *events))
    print("# ledger: %.2f hours of processor, %d failed" % (sum(s for _, s in sums.values()) / 3600, failed))


def events_of(text):
    """What the screen's targets say of their events, or nothing."""
    told = re.search(r"^events: (\d+ keys, \d+ clicks, \d+ sizes)", text, re.M)
    return ", " + told[1] if told else ""


def run(target, seconds):
    """(inputs, seconds of processor, what was reached, what was wrong)"""
    with tempfile.TemporaryDirectory(prefix="heaptop-fuzz-") as scratch:
        new = scratch
        if seconds:
            new = os.path.join(B, "fuzz", "found", target)
            os.makedirs(new, exist_ok=True)
        begin = processor_time()
        done = subprocess.run(command(target, seconds, new), stdin=subprocess.DEVNULL, capture_output=True,
                              preexec_fn=large_stack, check=False)
        took = processor_time() - begin
    text = done.stderr.decode(errors="replace")
    count = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
    reached = re.findall(r"cov: (\d+)", text)
    wrong = ""
    if done.returncode != 0:
        found = re.search(r"(ERROR: .*|SUMMARY: .*|.*runtime error.*)", text)
        kept = re.search(r"written to (\S+)", text)
        wrong = "status %d: %s; input: %s" % (done.returncode, found.group(1) if found else text[-300:],
                                              kept.group(1) if kept else "?")
    parts = "%d parts reached%s" % (int(reached[-1]) if reached else 0, events_of(text))
    return int(count.group(1)) if count else 0, took, parts, wrong


def run_alone(events):
    """As run: random events for the screen, from dice of its own; in make check always the same."""
    seed = int(time.time()) if events else 1
    begin = processor_time()
    done = subprocess.run([os.path.join(B, "fuzz", ALONE), str(events or ALONE_EVENTS), str(seed)],
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    text = done.stderr.decode(errors="replace")
    last = re.search(r"^last seed: (\d+)", text, re.M)
    wrong = ""
    if done.returncode != 0:
        found = re.search(r"(ERROR: .*|SUMMARY: .*|.*runtime error.*)", text)
        wrong = "status %d: %s; %s 1 %s" % (done.returncode, found[1] if found else text[-300:], ALONE,
                                            last[1] if last else "?")
    return int(last[1]) - seed + 1 if last else 0, processor_time() - begin, "seeds from %d%s" % (
        seed, events_of(text)), wrong


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seconds", type=int, default=0)
    p.add_argument("--events", type=int, default=0)
    p.add_argument("--ledger")
    p.add_argument("targets", nargs="*")
    o = p.parse_args()
    failed, inputs, seconds = 0, 0, 0.0
    targets = [ALONE] if o.events else o.targets or [t for t in built() if t != ALONE or not o.seconds]
    if not targets:
        print("skip - fuzz: no fuzz program is built (they need clang with libFuzzer)")
    for target in targets:
        count, took, reached, wrong = run_alone(o.events) if target == ALONE else run(target, o.seconds)
        failed += bool(wrong)
        inputs += count
        seconds += took
        line = "%s - fuzz %s: %d inputs in %.1f s of processor, %s%s" % (
            "not ok" if wrong else "ok", target, count, took, reached, ": " + " ".join(wrong.split()) if wrong else "")
        print(line, flush=True)
        if o.ledger:
            with open(o.ledger, "a", encoding="utf-8") as f:
                f.write(time.strftime("%Y-%m-%d %H:%M:%S ") + line + "\n")
    print("# fuzz: %d inputs in %.1f s of processor" % (inputs, seconds))
    if o.ledger:
        ledger_sum(o.ledger)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
