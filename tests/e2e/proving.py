# SPDX-License-Identifier: GPL-3.0-or-later
"""What the end-to-end tests share: cases, a private place for segments, running a command with and
without heaptop, and comparing a report with the account of a truth program. Not a test itself."""

import atexit
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import deadline

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
B = os.path.join(ROOT, os.environ.get("B", "build"))
HEAPTOP = os.path.join(B, "heaptop")
LIBRARY = os.path.join(B, "libheaptop.so")
NARROW_LIBRARY = os.path.join(B, "32", "libheaptop.so")
TARGETS = os.path.join(B, "tests", "targets")
ADDITIVE = ("allocs", "frees", "alloc_bytes", "live_bytes", "live_blocks")

_cases = []


class Failure(Exception):
    """The case does not hold; the text says why, on one line."""


class Skip(Exception):
    """The case cannot be tried here; the text says why."""


def case(name):
    def register(function):
        _cases.append((name, function))
        return function
    return register


def add_case(name, function):
    _cases.append((name, function))


def one_line(text):
    return " ".join(str(text).split())[:600]


def processor_s():
    """Seconds of this process and of what it has waited for."""
    return sum(os.times()[:4])


def run_cases():
    """Runs every case registered, prints a line for each and how long it took, ends the program."""
    failed = 0
    wanted = sys.argv[1:]
    for name, function in _cases:
        if wanted and not any(w in name for w in wanted):
            continue
        begin, used = time.monotonic(), processor_s()
        try:
            function()
            print("ok - " + name)
        except Skip as why:
            print("skip - %s: %s" % (name, one_line(why)))
        except Failure as why:
            failed += 1
            print("not ok - %s: %s" % (name, one_line(why)))
        except (OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError) as why:
            failed += 1
            print("not ok - %s: %s: %s" % (name, type(why).__name__, one_line(why)))
        print("# %.1f s %.1f s" % (time.monotonic() - begin, processor_s() - used), flush=True)
    sys.exit(1 if failed else 0)


def check(condition, why):
    if not condition:
        raise Failure(why)


def check_equal(got, want, what):
    if got != want:
        raise Failure("%s is %r, not %r" % (what, got, want))


def need(program):
    path = shutil.which(program)
    if not path:
        raise Skip(program + " is not installed")
    return path


# Other allocators, as Debian has them.
ALLOCATORS = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2")
PLACES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")


def allocator(name):
    for place in PLACES:
        path = os.path.join(place, name)
        if os.path.exists(path):
            return path
    raise Skip(name + " is not installed")


def behind(folder, library, **variables):
    """A command before a program's own, which preloads a library behind libheaptop."""
    path = os.path.join(folder, "behind-" + library)
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\nexport LD_PRELOAD=$LD_PRELOAD:%s %s\nexec \"$@\"\n" % (
            os.path.join(TARGETS, "plugin", library), " ".join("%s=%s" % v for v in variables.items())))
    os.chmod(path, 0o755)
    return path


# A folder of our own for files, and one in memory for segments: no other test's are seen.
scratch = tempfile.mkdtemp(prefix="heaptop-e2e-")
segments = tempfile.mkdtemp(prefix="heaptop-e2e-", dir=os.environ.get("TEST_MEMORY", "/dev/shm"))
atexit.register(shutil.rmtree, scratch, ignore_errors=True)
atexit.register(shutil.rmtree, segments, ignore_errors=True)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # a test that takes too long still cleans up


def target(name):
    path = os.path.join(TARGETS, name)
    if not os.path.exists(path):
        raise Failure(path + " is not built")
    return path


def narrow_runs(path):
    """Whether this kernel executes a program for i386. It is ended at once."""
    try:
        with subprocess.Popen([path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as program:
            program.kill()
    except OSError as why:
        if why.errno != errno.ENOEXEC:
            raise
        return False
    return True


def narrow(name, of_cxx=False):
    """A target for i386. Those in C++ need a package more."""
    if not os.path.exists(NARROW_LIBRARY):
        raise Skip("the compiler has no libraries for -m32")
    if of_cxx and not os.path.exists(os.path.join(TARGETS, "32", name)):
        raise Skip("the compiler has no C++ library for -m32")
    path = target(os.path.join("32", name))
    if not narrow_runs(path):
        raise Skip("this kernel runs no 32-bit programs")
    return path


def environment(**more):
    """The environment of a test's command: nothing of heaptop's but the place for segments."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("HEAPTOP_") and k not in ("LD_PRELOAD", "DEBUGINFOD_URLS")}
    env["HEAPTOP_DIR"] = segments
    env["LC_ALL"] = "C.UTF-8"
    env["XDG_CONFIG_HOME"] = os.path.join(scratch, "no-config")
    env.update({k: str(v) for k, v in more.items() if v is not None})
    return env


def run(command, env=None, timeout=60, stdin=None, cwd=None, preexec=None):
    """Runs to the end; stdin is bytes or None for nothing. Never a terminal. timeout: as deadline.py has it."""
    with subprocess.Popen(command, env=env or environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, cwd=cwd, preexec_fn=preexec) as process:
        try:
            out, errors = deadline.finish(process, timeout, stdin or b"")
        except subprocess.TimeoutExpired:
            raise Failure("no end within %d s: %s" % (timeout, " ".join(command))) from None
    return subprocess.CompletedProcess(command, process.returncode, out, errors)


# Further options of the heaptop that runs a program, where FILE is a recording: WATCH="--record-events FILE".
WATCH = os.environ.get("WATCH", "").split()
RECORDED = os.path.join(scratch, "recorded")
RESULT = rb"(?m)^heaptop: (recorded|\d+ of \d+ events) .*\n"  # what is said of a recording at its end


def watch_options():
    """Those options; the recording is a new one."""
    if os.path.exists(RECORDED):
        os.unlink(RECORDED)
    return [RECORDED if word == "FILE" else word for word in WATCH]


def check_recorded():
    """The recording, if one was asked for, can be read."""
    if "FILE" not in WATCH:
        return
    check(os.path.exists(RECORDED), "there is no recording")
    done = run([HEAPTOP, "-r", RECORDED, "--format", "json", "-o", "/dev/null"])
    check_equal((done.returncode, done.stderr), (0, b""), "status and errors of reading the recording")


def report(command, options=(), **how):
    """Runs COMMAND under heaptop; the finished process and the report as an object."""
    out = os.path.join(scratch, "report.json")
    if os.path.exists(out):
        os.unlink(out)
    if "--sample" in options and "--record-events" in WATCH:
        raise Skip("--record-events records no samples")
    done = run([HEAPTOP, *watch_options(), "--report", "--format", "json", "-o", out, *options, "--", *command], **how)
    done.stderr = re.sub(RESULT, b"", done.stderr) if WATCH else done.stderr
    if not os.path.exists(out) or os.path.getsize(out) == 0:
        raise Failure("no report; status %d: %s" % (
            done.returncode, done.stderr.decode(errors="replace")))
    check_recorded()
    with open(out, encoding="utf-8") as f:
        return done, json.load(f)


def report_of_segment(path):
    """What heaptop -r says of a segment file."""
    done = run([HEAPTOP, "--report", "--format", "json", "-r", path])
    check_equal(done.returncode, 0, "status of heaptop -r (%s)" % done.stderr.decode())
    text = done.stdout or done.stderr
    return json.loads(text)


def listing():
    done = run([HEAPTOP, "-l"])
    check_equal(done.returncode, 0, "status of heaptop -l (%s)" % done.stderr.decode())
    return done.stdout.decode()


def segment_files():
    return sorted(os.path.join(segments, f) for f in os.listdir(segments))


def wait_for(condition, what, seconds=60):
    """Polls for something another process does; the bound only ends a test that would hang."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure("never happened: " + what)
        time.sleep(0.01)


def truth_read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def frames_of(site):
    return [f.get("function") for f in site["stack"]]


def heap_sites(rep):
    """Without mappings, which are in none of the heap's totals."""
    return [s for s in rep["sites"] if s.get("kind", "heap") == "heap"]


def sites_named(rep, name):
    return [s for s in heap_sites(rep) if name in frames_of(s)]


def total(sites, field):
    """Over the sites of the heap: no total has mapped memory."""
    return sum(live_blocks(s) if field == "live_blocks" else s[field] for s in sites if s.get("kind", "heap") == "heap")


def live_blocks(site):
    return site.get("live_blocks", site["allocs"] - site["frees"])


def check_consistent(rep):
    """The totals are the sum of the sites, and nothing went unrecorded."""
    for field in ADDITIVE:
        check_equal(total(heap_sites(rep), field), rep["totals"][field], "sum of the sites' " + field)
    t = rep["totals"]
    check_equal(t["allocs"] - t["frees"], t["live_blocks"], "allocs - frees")
    check_equal(t["alloc_bytes"] - t["free_bytes"], t["live_bytes"], "alloc_bytes - free_bytes")
    for field in ("unknown_frees", "untracked_blocks", "untracked_bytes"):
        check_equal(t[field], 0, field)


def check_site(rep, truth):
    found = sites_named(rep, truth["name"])
    if truth["allocs"] and truth["bytes_known"]:
        functions = {s["function"] for s in found}
        check_equal(functions, {truth["function"]}, "functions of " + truth["name"])
    for field in ADDITIVE:
        if field.endswith("bytes") and not truth["bytes_known"]:
            continue
        check_equal(total(found, field), truth[field], "%s of %s" % (field, truth["name"]))


# Where blocks may come from that are not the program's own: start of threads and loading of objects
# (the loader), registration of exit handlers (libc), the exception pool (libstdc++).
FOREIGN = ("ld-linux", "libstdc++", "libc.so", "libc-2")


def check_foreign(rep, truth, foreign=()):
    names = {s["name"] for s in truth["sites"]}
    for site in heap_sites(rep):
        if site["allocs"] and not names & set(frames_of(site)):
            module = os.path.basename(site["stack"][0]["module"]) if site["stack"] else ""
            check(module.startswith(FOREIGN + tuple(foreign)), "a site the program does not know: %s %s" % (
                module, frames_of(site)))


def check_strict(rep, truth):
    """The program is one thread and told everything: every total and the peak are its own."""
    for field in ADDITIVE:
        check_equal(rep["totals"][field], sum(s[field] for s in truth["sites"]), "total " + field)
    check_equal(rep["totals"]["peak_live_bytes"], truth["peak"], "peak_live_bytes")


def check_truth(rep, truth, foreign=()):
    """`foreign`: further objects that may allocate for themselves."""
    check_consistent(rep)
    for site in truth["sites"]:
        check_site(rep, site)
    check_foreign(rep, truth, foreign)
    check_equal(rep["totals"]["reallocs"], truth["reallocs"], "reallocs")
    check_equal(rep["totals"]["failed"], truth["failed"], "failed")
    if truth["strict"]:
        check_strict(rep, truth)


def truth_of(command, status=0, **env):
    """Runs a truth program under heaptop and compares. Returns the report."""
    account = os.path.join(scratch, "truth.json")
    if os.path.exists(account):
        os.unlink(account)
    done, rep = report(command, env=environment(TRUTH=account, **env))
    check_equal(done.returncode, status, "exit status (%s)" % done.stderr.decode(errors="replace"))
    check_truth(rep, truth_read(account))
    return rep


def kill_hard(process):
    process.send_signal(signal.SIGKILL)
    process.wait()
