#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was live at the peak: of a program that knows it, also when it was killed, forked or replaced
itself; of real programs, whose sites add up to the peak; and by several threads, nearly."""

import json
import os
import subprocess

from proving import (HEAPTOP, LIBRARY, case, check, check_equal, environment, frames_of, kill_hard, need,
                     report, report_of_segment, run, run_cases, scratch, segment_files, target, total)

PROGRAM = target("peaked")
PROGRAMS_OF_8 = 100 if "SOAK" in os.environ else 3
PROGRAMS_OF_1 = 100 if "SOAK" in os.environ else 1
WANT = {"base": (100_000, 100), "spike": (500_000, 50), "later": (0, 0)}


def check_composition(rep, want):
    """These sites, and no other but what the C library allocates, make the peak."""
    t = rep["totals"]
    got = {name: (0, 0) for name in want}
    rest = 0
    for site in rep["sites"]:
        size, blocks = site["at_peak_bytes"], site["at_peak_blocks"]
        names = [n for n in frames_of(site) if n in want]
        if names:
            got[names[0]] = got[names[0]][0] + size, got[names[0]][1] + blocks
        else:
            rest += size
    check_equal(got, want, "at the peak")
    check(rest < 5000, "%d bytes of other sites" % rest)
    check_sums(rep)
    check_equal(t["at_peak_bytes"], t["peak_live_bytes"], "its total")


def check_sums(rep):
    for field in ("at_peak_bytes", "at_peak_blocks"):
        check_equal(total(rep["sites"], field), rep["totals"][field], "sum of the sites' " + field)


@case("a program that ends")
def ended():
    check_composition(report([PROGRAM])[1], WANT)


@case("one that is killed, from the segment that it leaves")
def killed():
    env = environment(LD_PRELOAD=os.path.abspath(LIBRARY))
    program = subprocess.Popen([PROGRAM, "wait"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    check_equal(program.stdout.readline(), b"ready\n", "its word")
    kill_hard(program)
    path = segment_files()[0]
    try:
        check_composition(report_of_segment(path), WANT)
        text = run([HEAPTOP, "--report", "-r", path, "-s", "atpeak"]).stdout.decode()
        check("\nat the peak, " in text, text)
        check(text.index("spike (") < text.index("base (") < text.index("sites, by atpeak"), text)
        frame = run([HEAPTOP, "-b", "-n", "1", "-d", "60", "-r", path, "-s", "atpeak"]).stdout.decode()
        check(" AT-PEAK " in frame and " 488.3k spike" in frame, frame)
        text = run([HEAPTOP, "--format", "json", "-r", path, "-F", "atpeak>200k"]).stdout.decode()
        check('"spike"' in text and '"base"' not in text, text)
    finally:
        os.unlink(path)


@case("what else is known of that time is from there: in a recording, and in one of all events")
def then():
    for option, name in (("--record", "peaked.rec"), ("--record-events", "peaked.ev")):
        path = os.path.join(scratch, name)
        run([HEAPTOP, "--headless", option, path, "--", PROGRAM])
        end, peak = (json.loads(run([HEAPTOP, "--format", "json", "-r", path, *at]).stdout)
                     for at in ([], ["--at", "peak"]))
        t = peak["totals"]
        check_equal(peak["time"]["moment"], "peak", "moment in " + name)
        check_equal(peak["process"]["state"], "running", "state in " + name)
        check_equal(t["live_bytes"], end["totals"]["at_peak_bytes"], "live in " + name)
        text = run([HEAPTOP, "--report", "-r", path, "--at", "peak"]).stdout.decode()
        check("\nlive  " in text and ", running after " in text, text)
        os.unlink(path)
        if option == "--record-events":  # a recording may have no refresh before the peak
            check_equal((t["allocs"], t["frees"]), (end["totals"]["allocs"] - 100, end["totals"]["frees"] - 50),
                        "allocs and frees up to the peak")
            check("(until the end)" not in text, text)


def process_of(rep, site):
    found = [p for p in [rep, *rep["children"]] if any(site in frames_of(s) for s in p["sites"])]
    check_equal(len(found), 1, "processes with " + site)
    return found[0]


@case("a forked child, and an image that another replaced, have peaks of their own")
def processes():
    for how in ("fork", "exec"):
        rep = report([PROGRAM, how])[1]
        check_composition(process_of(rep, "base"), WANT)
        child = process_of(rep, "inherited")
        # The child's later blocks are more than what it had before.
        check_composition(child, {"inherited": (0, 0), "later": (300_000, 100)})


@case("when the peak was: as of 31 events before it at most")
def when():
    for events in (1, 20, 40):
        # A child: no viewer tells it the time. Its peak comes 300 ms after its busy time.
        done, rep = report(["sh", "-c", '"$0" "$1"; exit 0', target("peak_pause"), str(events)], ["-d", "60"])
        before, after = map(int, done.stdout.split())
        child = process_of(rep, "climb")["totals"]
        check_equal(child["peak_live_bytes"], events * 10000, "the peak after %d events" % events)
        check(child["peak_ns"] >= (after if events > 31 else before),
              "%d events after %d ns: peak at %d, at least %d" % (events, after, child["peak_ns"], before))


PROGRAMS = {
    "python3": ["-S", "-c", "import re, json; d = [{str(i): [i] * (i % 7)} for i in range(4000)]; "
                            "e = json.loads(json.dumps(d)); re.sub('1', 'x', str(e))"],
    "perl": ["-e", "my %h; $h{$_} = 'x' x ($_ % 90) for 1..9000; delete $h{$_} for 1..5000; "
                   "$h{$_} = 'y' x ($_ % 50) for 1..7000;"],
    "sqlite3": [":memory:", "with recursive n(i) as (select 1 union all select i + 1 from n where i < 9000) "
                            "select count(*), group_concat(i) from n group by i % 40 order by random();"],
    "awk": ["BEGIN { for (i = 0; i < 20000; i++) { a[i % 900] = a[i % 700] i; if (i % 3000 == 0) delete a } }"],
    "sort": ["-R", os.path.abspath(__file__)],
    "ls": ["-lR", os.path.dirname(os.path.abspath(__file__))],
}


def check_program(name, arguments):
    rep = report([need(name), *arguments], env=environment(PYTHONMALLOC="malloc"))[1]
    for process in [rep, *rep["children"]]:
        t = process["totals"]
        check_sums(process)
        check(t["allocs"] > 0, "nothing was recorded")
        if len(process["threads"]) == 1:
            check_equal(t["at_peak_bytes"], t["peak_live_bytes"], "its total")
        for site in process["sites"]:
            check(site["at_peak_bytes"] <= site["peak_live_bytes"], "a site had more than ever: %s" % site["id"])


for program, words in PROGRAMS.items():
    case("the sites of %s add up to its peak" % program)(
        lambda program=program, words=words: check_program(program, words))


@case("of several threads the composition is nearly the peak")
def by_threads():
    rep = report([PROGRAM, "threads"])[1]
    t = rep["totals"]
    check_sums(rep)
    check(t["at_peak_bytes"] <= t["peak_live_bytes"], "more than the peak: %s" % t)
    # Five threads, and the shared slot. Four parts by which the composition may be below the peak
    # (shm/counter_peak.h), and one by which the figure of the peak may be above it.
    off = 5 * max(6 * 4096, t["peak_live_bytes"] / 64) + t["peak_live_bytes"] / 65536
    check(t["peak_live_bytes"] - t["at_peak_bytes"] <= off, "%s, may be off by %d" % (t, off))


def off_by(peak, threads):
    """By how much the composition may be below the peak: shm/counter_peak.h. Besides the threads there are the first
    one and the shared slot."""
    return 4 * max((threads + 2) * 4096, peak / 64) + peak / 65536


@case("of %d random programs of 8 threads the composition is within its bound" % PROGRAMS_OF_8)
def random_programs():
    lowest = 1
    for seed in range(1, PROGRAMS_OF_8 + 1):
        done, rep = report([target("peak_random"), "8", str(seed)])
        most, largest = map(int, done.stdout.split())
        t, moving = rep["totals"], 8 * largest  # the program itself counts a block later, or earlier
        check_sums(rep)
        check(abs(t["peak_live_bytes"] - most) <= off_by(most, 8) / 4 + moving + 20000,
              "program %d: the peak is %d, not %d" % (seed, t["peak_live_bytes"], most))
        check(t["at_peak_bytes"] >= most - off_by(most, 8) - moving, "program %d: composition of %d, peak %d" % (
            seed, t["at_peak_bytes"], most))
        check(t["at_peak_bytes"] <= t["peak_live_bytes"], "program %d: more than the peak" % seed)
        lowest = min(lowest, t["at_peak_bytes"] / t["peak_live_bytes"])
    print("# the lowest composition is %.2f %% of the peak" % (100 * lowest))


def composition(rep, size, blocks):
    """By site, of what has some: bytes, blocks and the functions of its stack."""
    return {s["id"]: (s[size], s[blocks], frames_of(s)) for s in rep["sites"] if s[blocks]}


@case("of %d random programs of one thread it is what a recording of all events has at the peak" % PROGRAMS_OF_1)
def random_alone():
    file = os.path.join(scratch, "events")
    for seed in range(1, PROGRAMS_OF_1 + 1):
        done, rep = report([target("peak_random"), "0", str(seed)], ["--record-events", file, "--lossless"])
        again = run([HEAPTOP, "-r", file, "--format", "json", "--top", "0", "--at", "peak"])
        check_equal(again.returncode, 0, "status of --at peak: " + again.stderr.decode())
        events = json.loads(again.stdout)
        check_equal(rep["totals"]["lost_events"], 0, "program %d: events lost" % seed)
        check_equal(composition(rep, "at_peak_bytes", "at_peak_blocks"), composition(events, "live_bytes", "live_blocks"),
                    "program %d: the peak's composition" % seed)
        taken = sum(s["at_peak_bytes"] for s in rep["sites"] if "run" in frames_of(s))
        check_equal(taken, int(done.stdout.split()[0]), "program %d: the peak by its own account" % seed)
        check_equal(rep["totals"]["at_peak_bytes"], rep["totals"]["peak_live_bytes"], "program %d: its total" % seed)


@case("estimates at the peak, while sampling")
def while_sampling():
    rep = report([PROGRAM], ["--sample", "4K"])[1]
    t = rep["totals"]
    check_sums(rep)
    check_equal(t["at_peak_bytes"], t["peak_live_bytes"], "its total")
    spike = [s for s in rep["sites"] if "spike" in frames_of(s)]
    check(sum(s["at_peak_bytes"] for s in spike) > 250_000, "of the spike: %s" % spike)


run_cases()
