#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sampling on programs that know what they did: estimates stay inside their error bars, a running program
is switched from exact to sampled and back without a break in its account, and whatever is switched when,
nothing crashes and the sums agree."""

import json
import os
import subprocess

from proving import (ADDITIVE, HEAPTOP, LIBRARY, case, check, check_equal, check_truth, environment, report,
                     report_of_segment, run, run_cases, scratch, segment_files, sites_named, target, total,
                     truth_read, wait_for)

ACCOUNT = os.path.join(scratch, "account.json")
PROGRAM = target("truth_sampled")
RATE = 65536
RUNS = 100
# What is estimated, and the key of its error.
FIGURES = (("live_bytes", "error_bytes"), ("live_blocks", "error_blocks"),
           ("alloc_bytes", "error_alloc_bytes"), ("allocs", "error_allocs"))


def sampled(command, options, status=0, stdin=None, **env):
    """Runs a truth program under heaptop; its report and its account."""
    done, rep = report(command, options, stdin=stdin, env=environment(TRUTH=ACCOUNT, **env))
    check_equal(done.returncode, status, "exit status (%s)" % done.stderr.decode(errors="replace"))
    return rep, truth_read(ACCOUNT)


def is_inside(got, want, field, error):
    return abs(got[field] - want) <= got[error]


def check_sums(rep):
    """What holds of estimates as it does of counts."""
    t = rep["totals"]
    for field in ADDITIVE:
        check_equal(total(rep["sites"], field), t[field], "sum of the sites' " + field)
    check_equal(t["allocs"] - t["frees"], t["live_blocks"], "allocs - frees")
    check_equal(t["alloc_bytes"] - t["free_bytes"], t["live_bytes"], "alloc_bytes - free_bytes")
    for field in ("unknown_frees", "untracked_blocks", "untracked_bytes"):
        check_equal(t[field], 0, field)


@case("of 100 runs at least 95 have the truth inside the error bars")
def bars():
    inside = {field: 0 for field, _ in FIGURES}
    site_figures = site_inside = 0
    for seed in range(1, RUNS + 1):
        rep, truth = sampled([PROGRAM], ["--sample", "64K"], stdin=b"smr", HEAPTOP_SEED=seed)
        check_sums(rep)
        check_equal(rep["sampling"]["bytes"], RATE, "the rate")
        for field, error in FIGURES:
            want = sum(s[field] for s in truth["sites"])
            inside[field] += is_inside(rep["totals"], want, field, error)
        for site in truth["sites"]:
            for got in sites_named(rep, site["name"]):
                site_figures += 2
                site_inside += is_inside(got, site["live_bytes"], "live_bytes", "error_bytes")
                site_inside += is_inside(got, site["alloc_bytes"], "alloc_bytes", "error_alloc_bytes")
    for field, count in inside.items():
        check(count >= 95, "%s: inside in %d of %d runs" % (field, count, RUNS))
    check(site_inside >= 0.95 * site_figures, "sites: inside in %d of %d" % (site_inside, site_figures))


@case("what is freed is gone: live estimates return to nothing, and are no better than their bars say")
def all_freed():
    rep, truth = sampled([PROGRAM], ["--sample", "16K"], stdin=b"smlrtf")
    check_equal(rep["totals"]["live_bytes"], 0, "live_bytes")
    check_equal(rep["totals"]["live_blocks"], 0, "live_blocks")
    check(rep["totals"]["error_bytes"] > 0, "the error of nothing is nothing")
    check(rep["totals"]["allocs"] > 0, "nothing was sampled")
    check(sum(s["allocs"] for s in truth["sites"]) != rep["totals"]["allocs"], "this was no estimate")


@case("blocks much larger than the rate are all there, to the byte")
def large():
    rep, truth = sampled([PROGRAM], ["--sample", "1K"], stdin=b"l")
    want = next(s for s in truth["sites"] if s["name"] == "site_large")
    for field in ADDITIVE:
        check_equal(total(sites_named(rep, "site_large"), field), want[field], field)


@case("reallocs and brief blocks are estimated too")
def traffic():
    rep, truth = sampled([PROGRAM], ["--sample", "4K"], stdin=b"rrrrtttt", HEAPTOP_SEED=3)
    brief = next(s for s in truth["sites"] if s["name"] == "site_brief")["allocs"]
    got = rep["totals"]["reallocs"]
    check(abs(got - truth["reallocs"]) < 0.5 * truth["reallocs"],
          "%d reallocs, not about %d" % (got, truth["reallocs"]))
    got = total(sites_named(rep, "site_brief"), "temporary")
    check(abs(got - brief) < 0.2 * brief, "%d temporary, not about %d" % (got, brief))


@case("programs of all kinds under sampling: same end, sums agree, most figures inside their bars")
def all_kinds():
    figures = inside = 0
    for command in (["truth_apis"], ["truth_threads", "8", "20000"], ["truth_queue", "50000"], ["truth_exit"],
                    ["truth_cxx"], ["truth_handler"], ["truth_fork"], ["truth_jumps"], ["truth_teardown", "500"]):
        for rate in ("1K", "64K"):
            rep, truth = sampled([target(command[0]), *command[1:]], ["--sample", rate])
            t = rep["totals"]
            check_equal(t["allocs"] - t["frees"], t["live_blocks"], "allocs - frees of " + command[0])
            check_equal(total(rep["sites"], "live_bytes"), t["live_bytes"], "live bytes of " + command[0])
            check_equal(t["unknown_frees"], 0, "unknown frees of " + command[0])
            for site in truth["sites"]:
                found = sites_named(rep, site["name"])
                if found and site["bytes_known"]:
                    figures += 1
                    inside += (abs(total(found, "alloc_bytes") - site["alloc_bytes"]) <=
                               total(found, "error_alloc_bytes"))
    check(figures > 20, "only %d figures" % figures)
    check(inside >= 0.9 * figures, "inside: %d of %d" % (inside, figures))


@case("an unsampled program's figures have no errors")
def exact():
    rep, truth = sampled([PROGRAM], [], stdin=b"sx")
    check_truth(rep, truth)
    check_equal(rep["sampling"]["bytes"], 0, "the rate")
    check_equal(rep["sampling"]["marks"], [], "marks")
    check_equal({rep["totals"][e] for _, e in FIGURES}, {None}, "errors of the totals")
    check_equal({s[e] for s in rep["sites"] for _, e in FIGURES}, {None}, "errors of the sites")


class Phased:
    """The truth program with the library, doing its phases on command."""

    def __init__(self, **env):
        self.process = subprocess.Popen([PROGRAM], env=environment(TRUTH=ACCOUNT, LD_PRELOAD=LIBRARY, **env),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def do(self, letters):
        for letter in letters:
            self.process.stdin.write(letter.encode())
            self.process.stdin.flush()
            check_equal(self.process.stdout.read(1), b".", "the program's answer")

    def look(self, *options):
        done = run([HEAPTOP, "-b", "-n", "1", "-d", "20", "--format", "json", *options,
                    "-a", str(self.process.pid)])
        check_equal(done.returncode, 0, "status of heaptop -a (%s)" % done.stderr.decode())
        return json.loads(done.stdout)

    def end(self):
        self.process.stdin.close()
        return self.process.wait(timeout=30)


@case("a running program goes from exact to sampled and back, and its account with it")
def there_and_back():
    with Phased(HEAPTOP_SEED=7) as p:
        p.do("sml")
        rep = p.look()
        check_equal(rep["sampling"]["marks"], [], "marks before")
        before = rep["totals"]["allocs"]
        p.look("--sample", "64K")
        p.do("smr")  # frees none of what is alive, adds to it
        rep = p.look()
        check_equal([m["bytes"] for m in rep["sampling"]["marks"]], [RATE], "marks")
        check(rep["sampling"]["marks"][0]["ns"] > 0, "the moment is missing")
        check_equal(rep["sampling"]["bytes"], RATE, "the rate")
        check(rep["totals"]["error_bytes"] > 0, "no error while sampled")
        check(rep["totals"]["allocs"] > before, "nothing was sampled")
        check_sums(rep)
        p.look("--sample", "exact")
        p.do("x")
        rep = p.look()
        check_equal([m["bytes"] for m in rep["sampling"]["marks"]], [RATE, 0], "marks")
        check_equal(rep["sampling"]["bytes"], 0, "the rate")
        own = sites_named(rep, "site_own")
        check_equal((total(own, "allocs"), total(own, "live_bytes")), (1000, 100000), "what came after, exactly")
        check_sums(rep)
        p.look("--sample", "64K")
        p.do("f")  # exact and sampled ones, freed while sampled
        rep = p.look()
        check_equal(rep["totals"]["live_bytes"], 0, "live bytes when all is freed")
        check_equal(rep["totals"]["live_blocks"], 0, "live blocks when all is freed")
        check_sums(rep)
        check_equal(p.end(), 0, "exit status")


@case("blocks that were sampled and end while all is recorded are known")
def sampled_freed_exactly():
    with Phased(HEAPTOP_SAMPLE="4K", HEAPTOP_SEED=5) as p:
        p.do("smr")
        check(p.look("--sample", "exact")["totals"]["live_blocks"] > 0, "nothing was sampled")
        p.do("fxf")  # it is acted on by the next allocation
        rep = p.look()
        check_equal(rep["totals"]["live_bytes"], 0, "live bytes when all is freed")
        check_equal([m["bytes"] for m in rep["sampling"]["marks"]], [4096, 0], "marks")
        check_sums(rep)
        check_equal(p.end(), 0, "exit status")


@case("leaving does not switch back")
def leaving():
    with Phased() as p:
        p.look("--sample", "1M")
        p.do("s")
        check_equal(p.look()["sampling"]["bytes"], 1 << 20, "the rate after the viewer left")
        check_equal(p.end(), 0, "exit status")


@case("an image by exec, and a child, begin as the program was recorded")
def inherited():
    script = "'%s' </dev/null; exec '%s'" % (PROGRAM, PROGRAM)
    rep, _ = sampled(["sh", "-c", script], ["--sample", "16K"], stdin=b"s")
    check_equal(rep["sampling"]["bytes"], 16384, "the rate of the last image")
    check(len(rep["children"]) >= 2, "only %d other images" % len(rep["children"]))
    for child in rep["children"]:
        check_equal(child["sampling"]["bytes"], 16384, "the rate of %s" % child["process"]["command"])


@case("forked children and their threads go on")
def forked():
    done, rep = report([target("sampled_fork")], ["--sample", "512K"])
    check_equal((done.returncode, done.stdout), (0, b"ok\n"), "end of the program")
    check_equal(rep["sampling"]["bytes"], 512 << 10, "the rate")


def busy(*options, seconds):
    """A program that does little but allocate, for so long."""
    code = "import time\nend = time.process_time() + %g\nwhile time.process_time() < end:\n" \
           "    x = [str(i) * 3 for i in range(500)]\n" % seconds
    done, rep = report(["python3", "-S", "-c", code], options, env=environment(PYTHONMALLOC="malloc"))
    check_equal(done.returncode, 0, "exit status (%s)" % done.stderr.decode(errors="replace"))
    return rep


@case("a limit switches a program that allocates much, and the report says what recording costs")
def steered():
    sampling = busy("--max-overhead", "2%", "-d", "0.3", seconds=2.5)["sampling"]
    check(sampling["marks"], "never switched: %s" % sampling)
    check(sampling["bytes"] > 0, "ended exactly: %s" % sampling)
    check(sampling["measured_overhead"] is not None, "no cost: %s" % sampling)


@case("a limit that no rate can keep is said to be one, and the rate stays where something is seen")
def beyond():
    # A busy machine makes the few recorded blocks look dear: one run of three is enough, since a rate that does not
    # stay goes to 16 MB in each.
    for _ in range(3):
        done, rep = report([target("malloc_loop"), "4"], ["--max-overhead", "0.5%", "-d", "0.5"])
        check_equal(done.returncode, 0, "exit status")
        sampling = rep["sampling"]
        if 0 < sampling["bytes"] <= 8 << 20:
            break
    check(sampling["measured_pass_through"] > 0.005, "pass-through: %s" % sampling)
    check(sampling["measured_pass_through"] <= sampling["measured_overhead"] <= 16, "cost: %s" % sampling)
    check_equal(rep["notice"], "the 0.5%% limit cannot be met: unrecorded calls alone cost %.1f%%" %
                (sampling["measured_pass_through"] * 100), "the notice")
    check(0 < sampling["bytes"] <= 8 << 20, "the rate: %s" % sampling)


@case("a limit leaves a program alone that allocates little")
def left_alone():
    done, rep = report([target("spins")], ["--sample", "auto", "-d", "0.2"])
    check_equal(done.returncode, 0, "exit status")
    check_equal(rep["sampling"]["marks"], [], "marks")
    check(rep["sampling"]["measured_overhead"] is not None, "no cost")


@case("8 threads that free each other's blocks, switched every 10 ms: no end of a block is missed")
def storm():
    out = os.path.join(scratch, "storm.json")
    viewer = subprocess.Popen(
        [HEAPTOP, "--report", "--format", "json", "-o", out, "--", target("swap_blocks"), "8", "600000"],
        env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    segment = wait_for(segment_files, "a segment")[0]
    switcher = subprocess.Popen([target("switcher"), segment, "10"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)
    status = viewer.wait(timeout=200)
    times = int(switcher.communicate()[0])
    check_equal(status, 0, "exit status")
    check(times >= 10, "switched only %d times" % times)
    with open(out, encoding="utf-8") as f:
        rep = json.load(f)
    check(rep["sampling"]["marks"], "the program never noticed")
    check_sums(rep)
    for name in ("site_swapped", "site_moved"):
        found = sites_named(rep, name)
        check(total(found, "allocs") > 0, "nothing was recorded of " + name)
        check_equal((total(found, "live_blocks"), total(found, "live_bytes")), (0, 0), "what is left of " + name)


@case("what a killed program was sampled for can be read afterwards")
def post_mortem():
    with Phased(HEAPTOP_SAMPLE="16K") as p:
        p.do("sm")
        p.process.kill()
        p.process.wait()
        path = [f for f in segment_files() if str(p.process.pid) in f][0]
        rep = report_of_segment(path)
        check_equal(rep["sampling"]["bytes"], 16384, "the rate")
        check_sums(rep)
        os.unlink(path)


run_cases()
