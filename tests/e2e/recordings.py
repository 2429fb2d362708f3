#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of real programs: --record in every kind of run, and what -r FILE says of any moment of
them; the recorder killed, the disk full, children, marks, and snapshots saved on the screen."""

import json
import os
import re
import resource
import signal
import subprocess
import time

from proving import (HEAPTOP, LIBRARY, case, check, check_consistent, check_equal, environment,
                     kill_hard, run, run_cases, scratch, segment_files, target, wait_for)

STATE = os.path.join(scratch, "state")
FILE = os.path.join(scratch, "file.rec")
LINE = re.compile(rb"^heaptop: recorded \S+(?: of \d+ process images)? in (\S+), \S+; "
                  rb"to see it: heaptop -r \S+$", re.M)


def env(**more):
    return environment(XDG_STATE_HOME=STATE, **more)


def fresh():
    if os.path.exists(FILE):
        os.unlink(FILE)


class Asked:
    """The program: under heaptop with these options, or with the library alone."""

    def __init__(self, *options, **more):
        command = [HEAPTOP, *options, "--"] if options else []
        self.process = subprocess.Popen(
            command + [target("asked")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=env(LD_PRELOAD=None if options else LIBRARY, **more))
        self.pid = self.process.stdout.readline().decode().strip()

    def ask(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        check_equal(self.process.stdout.readline(), b"done\n", line)

    def mark(self, name):
        done = run([HEAPTOP, "--mark", self.pid, name], env=env())
        check_equal((done.returncode, done.stderr), (0, b""), "--mark")

    def end(self):
        """What it, or heaptop, said on stderr."""
        self.process.stdin.close()
        check_equal(self.process.wait(60), 0, "the end")
        return self.process.stderr.read()


class Recorder:
    """A recorder without a screen, of a process that runs."""

    def __init__(self, pid, *options, preexec=None):
        self.process = subprocess.Popen(
            [HEAPTOP, "--record", FILE, "-d", "0.1", *options, "-a", pid], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env(), preexec_fn=preexec)

    def end(self, status=0):
        self.process.send_signal(signal.SIGTERM)
        check_equal(self.process.wait(60), status, "status of the recorder")
        return self.process.stderr.read()


def read_status(*options, file=FILE):
    return run([HEAPTOP, "-r", file, "--format", "json", *options], env=env())


def read(*options, file=FILE):
    done = read_status(*options, file=file)
    check_equal(done.returncode, 0, "status of -r (%s)" % done.stderr.decode())
    return json.loads(done.stdout)


def kept(rep):
    """The blocks that asked_keep holds."""
    return sum(s["live_blocks"] for s in rep["sites"]
               if any(f["function"] == "asked_keep" for f in s["stack"]))


def blocks_recorded():
    """Live blocks at the end of what the file has by now; names come later."""
    done = read_status()
    return json.loads(done.stdout)["totals"]["live_blocks"] if done.returncode == 0 else -1


def wait_blocks(condition, what):
    return wait_for(lambda: condition(blocks_recorded()), what)


def key(site):
    return [(f["module"], f["offset"], f["function"]) for f in site["stack"]]


def figures(rep):
    fields = ("live_bytes", "live_blocks", "allocs", "frees", "alloc_bytes", "peak_live_bytes",
              "temporary")
    return sorted((key(s), [s[f] for f in fields]) for s in rep["sites"])


def check_same(got, want):
    check_equal(got["totals"], want["totals"], "totals")
    check_equal(figures(got), figures(want), "sites")
    check_equal(got["process"], want["process"], "process")


@case("a recording ends as the report does, and shows every moment that it was watched at")
def moments():
    fresh()
    out = os.path.join(scratch, "report")
    program = Asked("-d", "0.1", "--record", FILE, "--report", "--format", "json", "-o", out)
    program.ask("keep 10")
    wait_blocks(lambda n: 10 <= n < 100, "the beginning")
    program.mark("few")
    program.ask("keep 90")
    wait_blocks(lambda n: n >= 100, "the top")
    program.mark("many")
    program.ask("drop 60")
    program.ask("turn 500")
    said = program.end()
    check(LINE.search(said), said)
    with open(out, encoding="utf-8") as f:
        want = json.load(f)
    last = read()
    check_same(last, want)
    check_consistent(last)
    check_equal(kept(read("--at", "mark:few")), 10, "blocks at the first mark")
    check_equal(kept(read("--at", "mark:many")), 100, "blocks at the second one")
    check_equal(kept(read("--at", "100%")), 40, "blocks at the end")
    check_consistent(read("--at", "mark:many"))
    peak = read("--at", "peak")
    check_equal(kept(peak), 100, "blocks at the peak")
    check(peak["totals"]["allocs"] <= last["totals"]["allocs"] - 500, "what came after the peak is counted there")
    grew = [s for s in read("--at", "mark:few..mark:many")["sites"] if s["function"] and key(s)[0][2] == "asked_keep"]
    check_equal([s["live_blocks"] for s in grew], [100], "blocks at the end of a range")
    curve = run([HEAPTOP, "-r", FILE, "--format", "massif", "--at", "mark:few..mark:many"], env=env()).stdout
    check(b"heap_tree=empty" in curve and b"call site" not in curve and b"\nn" not in curve, "a range has a tree: %s" % curve)
    at = {m["name"]: m for m in last["marks"]}
    check_equal(sorted(at), ["few", "many"], "marks")
    text = run([HEAPTOP, "-r", FILE, "--report", "--at", "mark:few"], env=env())
    check(b"asked_keep" in text.stdout, text.stdout.decode() + text.stderr.decode())
    frame = run([HEAPTOP, "-r", FILE, "-b"], env=env())
    check(b"asked_keep" in frame.stdout, frame.stdout.decode() + frame.stderr.decode())
    check_equal(segment_files(), [], "what is left")
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="utf-8") as f:
        f.write(":until asked_keep\n:until PAST\nx\n:type heaptop\nEnter\n:until saved\n")
    done = run([HEAPTOP, "-r", FILE, "--at", "mark:few", "--script", script], env=env(), cwd=scratch)
    check_equal((done.returncode, done.stderr), (0, b""), "the screen at a mark")
    name = os.path.join(scratch, "heaptop-snapshot-%s-1.heaptop" % program.pid)
    check_equal(kept(read(file=name)), 10, "blocks in a snapshot of the past")
    os.unlink(name)


@case("a mark is of one process: its number is another mark in others, which are shown at the same instant")
def marks_of_others():
    fresh()
    program = Asked("-d", "0.1", "--record", FILE, "--report", "--format", "json", "-o", os.devnull)
    program.ask("fork 1")
    with open("/proc/%s/task/%s/children" % (program.pid, program.pid), encoding="ascii") as f:
        child = f.read().split()[0]
    done = run([HEAPTOP, "--mark", child, "early"], env=env())
    check_equal((done.returncode, done.stderr), (0, b""), "--mark of the child")

    def is_recorded():
        done = read_status()
        others = json.loads(done.stdout)["children"] if done.returncode == 0 else []
        return any(c["marks"] and c["time"]["uptime_ns"] > c["marks"][0]["ns"] for c in others)
    wait_for(is_recorded, "the child, later than its mark, in the file")
    program.mark("late")
    program.end()
    rep = read("--at", "mark:late")
    check_equal([m["name"] for m in rep["marks"]], ["late"], "the program's marks")
    other = next(c for c in rep["children"] if str(c["process"]["pid"]) == child)
    check_equal([m["name"] for m in other["marks"]], ["early"], "the child's marks")
    check(other["time"]["uptime_ns"] > other["marks"][0]["ns"], "the child is shown at its own mark")
    check_equal(segment_files(), [], "what is left")


def mapped(rep):
    """What asked_map has mapped."""
    return [s["live_bytes"] for s in rep["sites"] if s["kind"] == "mmap" and key(s)[0][2] == "asked_map"]


@case("mapped memory is in a recording's past")
def mapped_moments():
    fresh()
    program = Asked("-d", "0.1", "--record", FILE, "--report", "--format", "json", "-o", os.devnull)
    for number, pages in enumerate((10, 300, 20)):
        program.ask("map %d" % pages)
        program.ask("keep 10")
        wait_blocks(lambda n, kept=10 * (number + 1): n >= kept, "%d pages in the file" % pages)
        program.mark("mapped%d" % pages)
    program.end()
    check_equal(mapped(read()), [20 * 4096], "at the end")
    for pages in (10, 300, 20):
        rep = read("--at", "mark:mapped%d" % pages)
        check_equal(mapped(rep), [pages * 4096], "at the mark of %d pages" % pages)
        check_equal(sum(s["live_bytes"] for s in rep["sites"] if s["kind"] == "mmap"), rep["totals"]["mapped_bytes"],
                    "the sum of the sites at the mark of %d pages" % pages)
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="utf-8") as f:
        f.write("M\n:until asked_map\n:save-display -\n")
    done = run([HEAPTOP, "-r", FILE, "--at", "mark:mapped300", "--script", script], env=env())
    check_equal((done.returncode, done.stderr), (0, b""), "the screen")
    check(b"1.2M" in done.stdout, done.stdout.decode())


@case("wrong frees are in a recording, with their stacks, and --fail-on reads them there")
def wrong_frees():
    fresh()
    out = os.path.join(scratch, "report")
    run([HEAPTOP, "--record", FILE, "--report", "--format", "json", "-o", out, "--", target("wrong_frees"), "fits"],
        env=env())
    with open(out, encoding="utf-8") as f:
        want = json.load(f)
    got = read()
    fields = ("kind", "count", "bytes", "address", "freed_by", "allocated_by", "site", "alloc_site")
    check(len(want["wrong_frees"]) > 10, "wrong frees")
    for mine, theirs in zip(got["wrong_frees"], want["wrong_frees"], strict=True):
        check_equal([mine[f] for f in fields], [theirs[f] for f in fields], "a wrong free")
        check_equal([key(mine), key({"stack": mine["alloc_stack"]})],
                    [key(theirs), key({"stack": theirs["alloc_stack"]})], "its stacks")
    for what, status in (("mismatched", 1), ("badfree", 0), ("peak>1", 1), ("peak>1G", 0)):
        done = read_status("--fail-on", what)
        check_equal(done.returncode, status, "--fail-on %s: status" % what)
        check_equal(json.loads(done.stdout)["verdict"].split(":")[0], "failed" if status else "passed", what)


@case("a moment that is not there is refused in one line")
def refused():
    for at, why in (("9h", b"too late"), ("mark:none", b"no mark has the name or number none")):
        done = read_status("--at", at)
        check_equal((done.returncode, done.stdout), (125, b""), at)
        check(why in done.stderr and done.stderr.count(b"\n") == 1, done.stderr.decode())


@case("a recorder without a terminal records until it is told to end; the program goes on")
def headless():
    fresh()
    program = Asked()
    recorder = Recorder(program.pid)
    wait_for(lambda: os.path.exists(FILE), "the file")
    program.ask("keep 50")
    wait_blocks(lambda n: n >= 50, "the blocks in the file")
    said = recorder.end()
    check(LINE.search(said), said)
    check_equal(os.stat(FILE).st_mode & 0o777, 0o600, "mode of the file")
    program.ask("keep 1")
    check_equal(program.end(), b"", "what the program says")
    rep = read()
    check_equal(kept(rep), 50, "blocks")
    check_equal(rep["process"]["state"], "copy", "state")


@case("a recorder that is killed leaves a file that opens")
def killed():
    fresh()
    program = Asked()
    recorder = Recorder(program.pid)
    program.ask("keep 50")
    wait_blocks(lambda n: n >= 50, "the blocks in the file")
    kill_hard(recorder.process)
    program.ask("keep 1")
    check_equal(program.end(), b"", "what the program says")
    check(read()["totals"]["live_blocks"] in (50, 51, 52), "blocks")


@case("a file that cannot grow ends the recording, not the program")
def full():
    fresh()
    program = Asked()
    size = 4000

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    recorder = Recorder(program.pid, preexec=limit)

    def ended():
        program.ask("keep 1")
        program.ask("turn 7")
        return recorder.process.poll() is not None

    wait_for(ended, "the end of the recorder")
    said = recorder.process.stderr.read()
    check_equal(recorder.process.returncode, 125, "status of the recorder (%s)" % said.decode())
    check(b"File too large" in said, said)
    program.ask("keep 1")
    check_equal(program.end(), b"", "what the program says")
    check(os.path.getsize(FILE) <= size, "size of the file")
    check(read()["totals"]["allocs"] > 0, "nothing is in it")


@case("children, and what they were before exec, are in the same file")
def children():
    fresh()
    asked = target("asked")
    done = run([HEAPTOP, "-d", "0.1", "--record", FILE, "--", "sh", "-c",
                "echo keep 30 | %s; echo keep 70 | %s; exec %s" % (asked, asked, asked)],
               env=env(), stdin=b"keep 5\n")
    check_equal(done.returncode, 0, "status")
    check(LINE.search(done.stderr), done.stderr)
    rep = read()
    check_equal(kept(rep), 5, "blocks of the program")
    found = sorted(kept(c) for c in rep["children"] if os.path.basename(c["process"]["exe"]) == "asked")
    check_equal(found, [30, 70], "blocks of its children")
    check_equal([c for c in rep["children"] if c["process"]["forked"] and c["process"]["state"] == "gone"], [],
                "what children were between fork and exec")
    check_equal(segment_files(), [], "what is left")


@case("each of many children that come and go is in the file, or said to be left out")
def storm():
    fresh()
    children = 300
    process = subprocess.Popen([HEAPTOP, "-d", "0.5", "--record", FILE, "--", "sh", "-c",
                                "while read line; do (:); done; :"], env=env(), stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for _ in range(children):  # some 60 a refresh: nearly as many as are kept at a time
        process.stdin.write(b"go\n")
        process.stdin.flush()
        time.sleep(0.007)
    said = process.communicate(timeout=60)[1]
    check_equal(process.returncode, 0, "status")
    found = re.search(rb" of (\d+) process images(?: \((\d+) more left out\))? in", said)
    check(found, said)
    check_equal(int(found[1]) + int(found[2] or 0), 1 + children, said)
    check_equal(segment_files(), [], "what is left")


@case("the time that was recorded goes on through exec")
def span():
    fresh()
    process = subprocess.Popen([HEAPTOP, "-d", "0.1", "--record", FILE, "--", "sh", "-c",
                                "read line; exec " + target("asked")], env=env(), stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_for(lambda: read_status().returncode == 0, "the shell in the file")
    begin = time.monotonic()
    wait_for(lambda: time.monotonic() > begin + 0.3, "a time that the second image alone does not take")
    said = process.communicate(b"go\n", timeout=60)[1]
    check_equal(process.returncode, 0, "status")
    found = re.search(rb"recorded ([\d.]+)(ms|s) of", said)
    check(found, said)
    check(float(found[1]) * (1 if found[2] == b"s" else 0.001) >= 0.3, said)


@case("a service records the programs that ask for it, from outside")
def service():
    process = subprocess.Popen([HEAPTOP, "--record-service", "-d", "0.1"], env=env(),
                               stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    plain, asking = Asked(), Asked(HEAPTOP_RECORD=os.path.join(scratch, "asking.%p.rec"))
    long = Asked(HEAPTOP_RECORD="/" + "x" * 5000)
    path = os.path.join(scratch, "asking.%s.rec" % asking.pid)
    wait_for(lambda: os.path.exists(path), "the file")
    asking.ask("keep 20")
    check_equal(asking.end(), b"", "what the program says")
    wait_for(lambda: read_status(file=path).returncode == 0 and kept(read(file=path)) == 20 and
             read(file=path)["process"]["state"] == "exited", "the blocks in the file, with names, and the end")
    again = Asked(HEAPTOP_RECORD=os.path.join(scratch, "again.rec"))
    again.ask("keep 7")
    path = os.path.join(scratch, "again.rec")
    wait_for(lambda: read_status(file=path).returncode == 0 and
             read(file=path)["totals"]["live_blocks"] >= 7, "the blocks in the file")
    process.send_signal(signal.SIGTERM)
    check_equal(process.wait(60), 0, "status of the service")
    check_equal(kept(read(file=path)), 7, "blocks")
    said = process.stderr.read()
    check_equal(said.count(b"heaptop: recorded"), 2, said.decode())
    check(plain.pid not in said.decode(), said.decode())
    check_equal(said.count(b"heaptop: cannot record process %s: File name too long" % long.pid.encode()), 1,
                said.decode())
    for program in (plain, long, again):
        check_equal(program.end(), b"", "what the program says")


@case("a file says in each tab that it cannot fill why, and what would")
def missing_tabs():
    pages = {"Leaks": (b"No leak scan is in this recording", b"Scan (L)"),
             "Map": (b"from a running program or a core file", b"heaptop -a PID"),
             "Output": (b"not in a recording", b"heaptop -- COMMAND")}
    script, saved_as = (os.path.join(scratch, name) for name in ("script", "page"))
    done = run([HEAPTOP, "--record", FILE, "--", target("truth_apis")],
               env=env(TRUTH=os.path.join(scratch, "truth")), cwd=scratch)
    check_equal((done.returncode, os.path.exists(FILE)), (0, True), "the recording")
    for steps, (title, words) in zip(("F9", "F8", "S-Tab"), pages.items()):
        with open(script, "w", encoding="utf-8") as f:
            f.write(":size 80x24\n%s\n:save-display %s\n" % (steps, saved_as))
        done = run([HEAPTOP, "--script", script, "-r", FILE], env=env(), cwd=scratch)
        check_equal((done.returncode, done.stderr), (0, b""), title)
        with open(saved_as, "rb") as f:
            page = f.read()
        check(all(w in page for w in (*words, b"[%s]" % title.encode())), page.decode())
        os.unlink(saved_as)


@case("x saves what opens again, and as JSON")
def saved():
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="utf-8") as f:
        f.write(":until exited 0\nx\n:type heaptop\nEnter\n:until saved\nx\n:type json\nEnter\n:until json\n"
                "x\n:type none\nEnter\n:until no format\nx\nEnter\n:until saved\n")
    done = run([HEAPTOP, "-d", "0.1", "--script", script, "--", target("truth_apis")],
               env=env(TRUTH=os.path.join(scratch, "truth")), cwd=scratch)
    check_equal((done.returncode, done.stderr), (0, b""), "the end")
    names = sorted(n for n in os.listdir(scratch) if n.startswith("heaptop-snapshot-"))
    check_equal([n.rsplit(".", 1)[1] for n in names], ["heaptop", "json", "txt"], "files")
    rep = read(file=os.path.join(scratch, names[0]))
    with open(os.path.join(scratch, names[1]), encoding="utf-8") as f:
        want = json.load(f)
    check_equal((rep["totals"], figures(rep)), (want["totals"], figures(want)), "what was saved")
    with open(script, "w", encoding="utf-8") as f:
        f.write("P\nx\n:type heaptop\nEnter\n:until saved\n")
    done = run([HEAPTOP, "--script", script, "-r", names[1]], env=env(), cwd=scratch)
    check_equal((done.returncode, done.stderr), (0, b""), "the screen on the JSON report")
    peak, = {n for n in os.listdir(scratch) if n.startswith("heaptop-snapshot-")} - set(names)
    rep = read(file=os.path.join(scratch, peak))
    check_equal((rep["process"]["state"], rep["totals"]["live_bytes"]), ("copy", want["totals"]["peak_live_bytes"]),
                "the peak, not an end with unfreed blocks")
    for figure, of in (("allocs", "live_blocks"), ("alloc_bytes", "live_bytes")):
        check_equal(rep["totals"][figure], rep["totals"][of], "all that was allocated, in a file of the peak")
        check(all(s[figure] == s[of] for s in rep["sites"]), "sites in a file of the peak")
    check_equal((rep["totals"]["frees"], sum(s["allocs"] for s in rep["size_histogram"])), (0, 0), "what is of the end")
    check("only what was live then is known" in (rep["process"].get("notice") or rep.get("notice") or ""), str(rep["process"]))


@case("a recording on the screen")
def screen():
    fresh()
    done = run([HEAPTOP, "--record", FILE, "--", target("asked")], env=env(), stdin=b"keep 20\n")
    check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode())
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="utf-8") as f:
        f.write(":size 120x40\n:until asked_keep\n:save-display -\n")
    done = run([HEAPTOP, "-r", FILE, "--script", script], env=env())
    check_equal((done.returncode, done.stderr), (0, b""), "the end")
    check(b"asked_keep" in done.stdout, done.stdout.decode())


@case("the leak scans of a report are in the recording, those of children, too")
def leaks_of_report():
    def scans(rep):
        return [p.get("leaks") and [[p["leaks"][k] for k in ("sites", "held", "typed", "cycles")],
                                    [(s["type"], s["retained_bytes"]) for s in p["sites"]]]
                for p in [rep, *rep["children"]]]

    for command in ([target("leaks")], ["sh", "-c", '"$0"; exit 0', target("leaks")]):
        fresh()
        out = os.path.join(scratch, "report.json")
        run([HEAPTOP, "--record", FILE, "-d", "0.1", "--leak-check", "--report", "--format", "json", "-o", out, "--",
             *command], env=env())
        with open(out, encoding="utf-8") as f:
            want = scans(json.load(f))
        check(any(want), "no leaks in the report")
        check(all(held["by"] for (_, held, _, _), _ in filter(None, want)), "nothing holds the heap")
        check_equal(scans(read()), want, "leak scans of %s in the recording" % command)


@case("the leak scan of the exit is in the recording; no key asks for what it lacks")
def leaks_and_keys():
    fresh()
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="utf-8") as f:
        f.write(":until exit scan\n")
    done = run([HEAPTOP, "--record", FILE, "-d", "0.1", "--script", script, "--", target("leaks")], env=env())
    check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode())
    rep = read()
    check(rep["leaks"]["at_exit"] and rep["leaks"]["definite"]["blocks"] == 81, rep["leaks"]["definite"])
    keys = "! K H ^ J s ' \" E m b n t r L F8 F2 Esc F5 T g Esc A Esc i e Esc y x Esc p p [ ] { } ( ) P , . F".split()
    with open(script, "w", encoding="utf-8") as f:
        f.write(":size 100x30\n:until leaks\nF9\n:until definite_plain\n:save-display -\n")
        for view in range(8):
            f.write("".join(k + "\n" for k in keys) + "Esc\nEsc\nTab\nEnter\n" + "Esc\n" * 3 + "Tab\n" * view)
        f.write(":save-display -\n")
    done = run([HEAPTOP, "-r", FILE, "--script", script],
               env=environment(XDG_STATE_HOME=STATE, EDITOR="true"), cwd=scratch)
    check_equal((done.returncode, done.stderr), (0, b""), "the end")
    check(b"definite_in_main" in done.stdout, done.stdout.decode())


@case("nothing is promised in a recording that only the program could tell")
def nothing_is_counted():
    fresh()
    run([HEAPTOP, "--record", FILE, "-d", "0.1", "--report", "-o", os.devnull, "--", target("leaks")], env=env())
    script = os.path.join(scratch, "script")
    with open(script, "w", encoding="utf-8") as f:
        f.write(":size 120x30\n:until definite_in_main\ng\nt\n:save-display -\ng\ns\n:until definite_in_main\n"
                "Tab\nTab\nTab\n:until that allocated\n:save-display -\n")
    done = run([HEAPTOP, "-r", FILE, "--script", script], env=environment(XDG_STATE_HOME=STATE), cwd=scratch)
    check_equal((done.returncode, done.stderr), (0, b""), "the end")
    check(b"this file has no live blocks by thread" in done.stdout, done.stdout.decode())
    check(b"this file has no LIVE by thread" in done.stdout, done.stdout.decode())


run_cases()
