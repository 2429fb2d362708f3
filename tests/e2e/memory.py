#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What resident memory is, of real programs whose truth is known: the parts add up to what the
kernel calls RSS, the site that keeps nearly empty pages is named, and what is said of malloc_trim
is about what it then does."""

import glob
import json
import os
import re
import signal
import subprocess

from proving import (HEAPTOP, LIBRARY, case, check, check_equal, environment, frames_of, kill_hard,
                     need, report, run, run_cases, scratch, target, wait_for)

PARTS = ("live_bytes", "mapped_bytes", "slack_bytes", "free_bytes", "program_mapped_bytes",
         "other_bytes", "stacks_bytes", "files_bytes", "shared_bytes", "heaptop_bytes")
JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
# Fills, forgets nine of ten at random, and waits.
PYTHON = """
import random, sys
random.seed(1)
held = [bytearray(600) for _ in range(60000)]
random.shuffle(held)
del held[6000:]
print("ready", flush=True)
sys.stdin.read()
"""


def frame_of(pid):
    """One frame, which waits for names as long as for the next one."""
    done = run([HEAPTOP, "-b", "-n", "1", "-d", "60", "--format", "json", "-a", str(pid)], timeout=120)
    check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode())
    return json.loads(done.stdout)


class Program:
    """One that says "ready" and then waits for its stdin, with the library from its start on."""

    def __init__(self, command, preload=LIBRARY, **env):
        self.process = subprocess.Popen(command, env=environment(LD_PRELOAD=preload, **env),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.said = self.process.stdout.readline().split()
        check_equal(self.said[:1], ["ready"], "first line of " + command[0])
        self.pid = int(self.said[1]) if len(self.said) > 1 else self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            kill_hard(self.process)

    def order(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().split()

    def rss(self):
        with open("/proc/%d/status" % self.pid, encoding="utf-8") as f:
            return int(re.search(r"VmRSS:\s+(\d+) kB", f.read()).group(1)) * 1024

    def frame(self):
        return frame_of(self.pid)


def near(got, want, part, what):
    check(abs(got - want) <= want * part, "%s is %d, not about %d" % (what, got, want))


def check_sum(frame, rss):
    """Among one another to the byte, with the kernel's own figure within 2 %."""
    m = frame["memory"]
    check(m["failed"] is None, "failed: %s" % m["failed"])
    check_equal(sum(m[p] or 0 for p in PARTS), m["rss"], "sum of the parts")
    near(m["rss"], rss, 0.02, "rss")


def first_pin(frame):
    pin = frame["memory"]["pins"][0]
    return pin, next(s for s in frame["sites"] if s["id"] == pin["site"])


@case("memory_of_known_fragmentation")
def _():
    with Program([target("fragmented")]) as program:
        frame, rss = program.frame(), program.rss()
        m = frame["memory"]
        check_sum(frame, rss)
        check(m["glibc"] and not m["sampled"], "glibc, sampled: %s" % m)
        # 12,500 tokens on as many pages, but for those beside each other; 2,000 blocks of a thread.
        pin, site = first_pin(frame)
        check("keep_token" in frames_of(site), "the first pin is %s" % frames_of(site))
        near(pin["pages"], 12500, 0.05, "pages with tokens")
        near(pin["cost_bytes"], 12500 * 4000, 0.05, "what they cost")
        near(pin["pages_alone"], pin["pages"], 0.01, "alone")
        second = frame["memory"]["pins"][1]
        check("other_thread" in frames_of(next(s for s in frame["sites"] if s["id"] == second["site"])),
              "the second pin")
        near(m["mapped_bytes"], 12 << 20, 0.01, "large blocks")
        near(m["live_bytes"], 12500 * 48 + 2000 * 200, 0.02, "small blocks")
        near(m["slack_bytes"], 12500 * 16 + 2000 * 8, 0.2, "slack")
        near(m["free_bytes"], 100 << 20, 0.05, "free")
        near(m["program_mapped_bytes"], 6 << 20, 0.01, "what the program mapped")
        check_equal(m["all_live_bytes"], frame["totals"]["live_bytes"], "live in all")
        # A page of the stack of a thread that has ended may have stayed.
        check(0 < m["stacks_bytes"] < 1 << 20, "stacks %d" % m["stacks_bytes"])
        check(m["heaptop_bytes"] > 1 << 20, "heaptop's own %d" % m["heaptop_bytes"])
        # The kernel shows the library's .bss in parts, of which this is half a megabyte.
        check(m["other_bytes"] < 200 << 10, "other %d" % m["other_bytes"])
        _, before, after = program.order("trim")
        near(m["trim_bytes"], (int(before) - int(after)) * 1024, 0.05, "malloc_trim's estimate")
        again = program.frame()
        check_sum(again, program.rss())
        check(again["memory"]["trim_bytes"] < 1 << 20, "after trim %d" % again["memory"]["trim_bytes"])


@case("memory_that_the_program_mapped_names_who_did")
def _():
    with Program([target("maps_partly")]) as program:
        frame = program.frame()
        check_sum(frame, program.rss())
        top = frame["memory"]["mapped_sites"][0]
        site = next(s for s in frame["sites"] if s["id"] == top["site"])
        check("map_forty" in frames_of(site), "the first is %s" % frames_of(site))
        check_equal(top["size_bytes"], 40 << 20, "its size")
        check_equal(top["rss_bytes"], 10 << 20, "its resident bytes")
        check(not top["shared"], "it is private")
        near(frame["memory"]["program_mapped_bytes"], 10 << 20, 0.02, "the part")
        shared = next(s for s in frame["memory"]["mapped_sites"] if s["shared"])
        site = next(s for s in frame["sites"] if s["id"] == shared["site"])
        check("map_shared" in frames_of(site), "the shared one is %s" % frames_of(site))
        check_equal((shared["size_bytes"], shared["rss_bytes"]), (4 << 20, 1 << 20), "shared memory")
        shown = screen(program.process.pid, "F8\n:until mmap map_forty\n:save-display -\n")
        check(re.search(r"^.mmap map_forty +40\.0M +10\.0M", shown, re.M), shown)
        check(re.search(r" \+ mapped 10\.", shown), shown)
        # The row's call site in detail.
        shown = screen(program.pid, "F8\n:until mmap map_forty\n%sEnter\n:save-display -\n" % ("]\n" * map_row(shown, "map_forty")))
        check("Site detail" in shown and "map_forty" in shown, shown)


def map_row(shown, function):
    """The number of its row among those of the Map."""
    rows = [line for line in shown.splitlines() if re.match(r"^[ >](brk heap|arena|allocator pools|mmap|parent's)", line)]
    return next(i for i, line in enumerate(rows) if function in line)


def mapped_by(frame):
    """Function: (whether inherited, resident bytes), of the call sites that mapped memory of that process."""
    found = {}
    for row in frame["memory"]["mapped_sites"]:
        site = row if row["inherited"] else next(s for s in frame["sites"] if s["id"] == row["site"])
        check_equal(site["function"], "mmap", "what mapped")
        found[next((f for f in frames_of(site) if (f or "").startswith("map_")), None)] = (row["inherited"], row["rss_bytes"])
    return found


@case("memory_mapped_before_a_fork_names_who_did")
def _():
    with Program([target("maps_forked")]) as program:
        frame = program.frame()
        check_sum(frame, program.rss())
        check(frame["process"]["forked"] and program.pid != program.process.pid, "it is a grandchild")
        # Neither what is unmapped, of which something else has taken the place, nor what the parents mapped since.
        check_equal(mapped_by(frame), {"map_kept": (True, 8 << 20), "map_between": (True, 3 << 20), "map_over": (False, 4 << 20)},
                    "sites")
        near(frame["memory"]["program_mapped_bytes"], 15 << 20, 0.01, "the part")
        check(frame["memory"]["other_bytes"] > 5 << 20, "what no call was seen to map is in other")
        shown = screen(program.pid, "F8\n:until parent's map_kept\n:save-display -\n")
        check(re.search(r"^.parent's map_kept +8\.0M +8\.0M", shown, re.M), shown)
        shown = screen(program.pid, "F8\n:until parent's map_kept\n%sEnter\n:save-display -\n" % ("]\n" * map_row(shown, "map_kept")))
        check("the call site is in the parent's table" in shown, shown)


@case("memory_mapped_by_a_parent_that_ended_names_who_did")
def _():
    frames = os.path.join(scratch, "frames")
    with subprocess.Popen([HEAPTOP, "-b", "-d", "0.1", "-o", frames, "--", target("maps_forked"), "ends"], env=environment(),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as heaptop:
        pid = int(heaptop.stdout.readline().split()[1])

        def shown():
            with open(frames, encoding="utf-8") as f:
                return f.read().count("heaptop")
        # The one between has ended. The launch's viewer looks again, and again.
        seen = shown()
        wait_for(lambda: shown() > seen + 3, "more frames", 60)
        frame = frame_of(pid)
        check_equal(mapped_by(frame), {"map_kept": (True, 8 << 20), "map_between": (True, 3 << 20), "map_over": (False, 4 << 20)},
                    "sites")
        heaptop.stdin.close()
        check_equal(heaptop.wait(60), 0, "status")
    check_equal(glob.glob(os.path.join(scratch, "heaptop-*")), [], "segments at the end")


@case("memory_that_was_only_read_is_none")
def _():
    with Program([target("unwritten")]) as program:
        frame = program.frame()
        check_sum(frame, program.rss())
        read = int(program.said[2]) << 20  # in memory nevertheless: this kernel has no page of zeros
        near(frame["memory"]["mapped_bytes"], (12 << 20) + read, 0.01, "what is in memory of large blocks")


@case("memory_of_python_names_who_pins")
def _():
    with Program([need("python3"), "-c", PYTHON], PYTHONHASHSEED=1) as program:
        frame = program.frame()
        check_sum(frame, program.rss())
        pin, site = first_pin(frame)
        check(any((f or "").startswith("PyByteArray") for f in frames_of(site)), "the first pin is %s" % frames_of(site))
        # 36 MB are free in some 9,000 pages, of which one in three has none left.
        check(pin["cost_bytes"] > 10 << 20 and pin["pages"] > 3000, "pin %s" % pin)
        check(pin["cost_bytes"] > frame["memory"]["pinned_bytes"] * 0.9, "its part %s" % pin)


@case("memory_with_another_allocator")
def _():
    if not os.path.exists(JEMALLOC):
        need("libjemalloc.so.2")
    with Program([target("fragmented")], preload=LIBRARY + " " + JEMALLOC) as program:
        frame = program.frame()
        m = frame["memory"]
        check_sum(frame, program.rss())
        check(not m["glibc"] and "not glibc" in m["note"], "note %s" % m["note"])
        check_equal(m["trim_bytes"], 0, "what malloc_trim could do")
        near(m["live_bytes"] + m["mapped_bytes"], 12500 * 48 + 2000 * 200 + (12 << 20), 0.1, "live")


@case("memory_of_a_busy_program")
def _():
    """Blocks that are gone by the time their headers are read do not identify the allocator."""
    with Program([target("churning")]) as program:
        for _ in range(5):
            m = program.frame()["memory"]
            check(m["glibc"] and m["note"] is None, "glibc's: %s" % m)
            check(m["slack_bytes"] > 0, "slack %s" % m)
    if os.path.exists(JEMALLOC):
        with Program([target("churning")], preload=LIBRARY + " " + JEMALLOC) as program:
            m = program.frame()["memory"]
            check(not m["glibc"] and "not glibc" in m["note"], "jemalloc's: %s" % m)


@case("memory_when_sampled")
def _():
    with Program([target("fragmented")], HEAPTOP_SAMPLE="64K") as program:
        frame = program.frame()
        m = frame["memory"]
        check_sum(frame, program.rss())
        check(m["sampled"] and m["free_bytes"] is None and not m["pins"], "sampled: %s" % m)


@case("memory_in_the_report_of_a_leak_check_is_of_its_end")
def _():
    _, rep = report([target("fragmented")], ["--leak-check"])
    pin, site = first_pin(rep)
    check("keep_token" in frames_of(site), "the first pin is %s" % frames_of(site))
    check_equal(rep["memory"]["all_live_bytes"], rep["totals"]["live_bytes"], "live at the end")


@case("memory_in_a_report_is_the_last_that_was_seen")
def _():
    for lives_s in ("0.8", "5", "20"):  # until it was seen
        done = run([HEAPTOP, "--report", "--", "sh", "-c", "sleep " + lives_s], env=environment())
        text = done.stderr.decode()
        if "\nrss " in text:
            break
    check(re.search(r"^rss       [\d.]+[kM]$", text, re.M), "no paragraph: " + text[:400])
    check(re.search(r"^ +[\d.]+[kM] +[\d.]+%  files", text, re.M), "no part: " + text[:400])
    # One that came and went before anybody looked has none.
    _, rep = report(["/bin/true"])
    check(rep["memory"] is None or rep["memory"]["failed"] is None, "memory %s" % rep["memory"])
    # The shell was seen, the image after exec probably not: one's figures are not reported for the other.
    _, rep = report(["bash", "-c", "x=$(printf '%4000000s'); sleep 0.4; exec /bin/true"])
    check(rep["memory"] is None or rep["memory"]["all_live_bytes"] < 1000000, "memory of another image: %s" % rep["memory"])


@case("memory_in_a_report_of_what_was_told_to_end_is_of_then")
def _():
    out = os.path.join(scratch, "ended.json")
    with subprocess.Popen([HEAPTOP, "--report", "--format", "json", "-o", out, "--", target("fragmented")],
                          env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as heaptop:
        check_equal(heaptop.stdout.readline(), "ready\n", "first line")
        heaptop.terminate()
        check_equal(heaptop.wait(60), 128 + signal.SIGTERM, "status")
    with open(out, encoding="utf-8") as f:
        rep = json.load(f)
    check_equal(rep["memory"]["all_live_bytes"], rep["totals"]["live_bytes"], "live at the end")


def screen(pid, text, size="100x30"):
    """The Map of a process as keys in a file make it; each display that is saved, by its name."""
    script = os.path.join(scratch, "keys")
    with open(script, "w", encoding="utf-8") as f:
        f.write(":size %s\n%s" % (size, text))
    done = run([HEAPTOP, "-d", "0.2", "--script", script, "-a", str(pid)])
    check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode())
    return done.stdout.decode()


@case("the_map_on_the_screen")
def _():
    with Program([target("fragmented")]) as program:
        shown = screen(program.process.pid, "F8\n:until PINNED PAGES\n:until keep_token\n:save-display -\n")
        check(re.search(r"^ 1 +4[789]\.\d+M +12,\d+ +12,\d+ .* keep_token +fragmented\.c:", shown, re.M), shown)
        check(re.search(r"^ RSS \d+\.\dM = heap \d+\.\dM \(live \d+\.\dk \+ mmap'ed 12\.0M \+ slack", shown, re.M), shown)
        check(re.search(r"^>brk heap +96\.\dM +96\.\dM", shown, re.M), shown)
        # The first block's page, and its site in depth.
        shown = screen(program.process.pid, "F8\n:until keep_token\n1\n:save-display -\n", "80x24")
        check("Map > Site detail" in shown and "keep_token" in shown, shown)


@case("the_map_has_the_largest_arena_first")
def _():
    with Program([target("arenas")]) as program:
        shown = screen(program.process.pid, "F8\n:until arena 1\n:save-display -\n")
        rows = re.findall(r"^[ >](arena \d|brk heap) +\S+ +(\S+)", shown, re.M)
        check_equal([size[-1] for _, size in rows][:3], ["M", "k", "k"], "units of sizes: " + shown)


# Waits for a file, and becomes the program of its arguments.
BECOMES = """
import os, sys, time
held = [bytearray(600) for _ in range(9000)]
print("ready", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.02)
os.execv(sys.argv[2], sys.argv[2:])
"""


@case("the_map_of_another_image")
def _():
    seen = os.path.join(scratch, "seen")
    with Program([need("python3"), "-c", BECOMES, seen, target("fragmented")]) as program:
        shown = screen(program.process.pid, "F8\n:until MAPPING 1 of\n:save-display %s\n:until keep_token\n:until arena 1\n"
                       ":save-display -\n" % seen)
        check("arena 1" in shown, shown)
        with open(seen, encoding="utf-8") as f:
            first = f.read()
        check("brk heap" in first and "keep_token" not in first, first)


@case("the_map_stays_when_the_program_has_ended")
def _():
    seen, script = os.path.join(scratch, "seen-last"), os.path.join(scratch, "keys-last")
    with open(script, "w", encoding="utf-8") as f:
        f.write("F8\n:until keep_token\n:save-display %s\n:until before the program ended\n:wait 3\n"
                ":save-display -\n" % seen)
    with Program([target("fragmented")]) as program:
        viewer = subprocess.Popen([HEAPTOP, "-d", "0.2", "--script", script, "-a", str(program.process.pid)],
                                  env=environment(), stdout=subprocess.PIPE, text=True)
        wait_for(lambda: os.path.exists(seen), "a first map", 60)
    shown = viewer.communicate(timeout=90)[0]
    check_equal(viewer.returncode, 0, "status")
    check("keep_token" in shown and "RSS 1" in shown, shown)


run_cases()
