#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Segments without a viewer and viewers without a launch: the library alone, late attach, several
viewers, a viewer that is killed, what a crash leaves behind, and that nothing else is left."""

import json
import os
import signal
import subprocess

from proving import (HEAPTOP, LIBRARY, Failure, add_case, case, check, check_equal, check_truth,
                     environment, kill_hard, listing, report, report_of_segment, run, run_cases,
                     scratch, segment_files, sites_named, target, truth_read, wait_for)

ACCOUNT = os.path.join(scratch, "truth.json")


def clean_start():
    for path in segment_files():
        os.unlink(path)
    if os.path.exists(ACCOUNT):
        os.unlink(ACCOUNT)


class Waiting:
    """A truth program, preloaded alone, that waits with its blocks alive until told to go."""

    def __init__(self, *command, ready=True):
        clean_start()
        self.process = subprocess.Popen(
            command or [target("crash"), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment(LD_PRELOAD=LIBRARY, TRUTH=ACCOUNT))
        if ready:
            check_equal(self.process.stdout.readline(), b"ready\n", "what the program says first")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self):
        self.process.communicate(timeout=20)
        return self.process.returncode


def attach(pid, *options, **how):
    return run([HEAPTOP, *options, "-a", str(pid)], **how)


def batch_json(pid):
    """One look at a running process, as JSON."""
    out = os.path.join(scratch, "attached.json")
    done = run([HEAPTOP, "-b", "-n", "1", "--format", "json", "-o", out, "-a", str(pid)])
    check_equal(done.returncode, 0, "status of heaptop -b -a (%s)" % done.stderr.decode())
    with open(out, encoding="utf-8") as f:
        return json.load(f)


@case("the library alone makes a segment, lists it, and removes it at a clean exit")
def lifecycle():
    with Waiting() as w:
        check_equal(len(segment_files()), 1, "segments while it runs")
        mode = os.stat(segment_files()[0]).st_mode & 0o777
        check_equal(mode, 0o600, "mode of the segment")
        text = listing()
        check(str(w.process.pid) in text and "running" in text, "-l says: " + text)
        check_equal(w.end(), 5, "exit status")
    check_equal(segment_files(), [], "segments left after a clean exit")


@case("a late viewer sees everything since start")
def late():
    with Waiting() as w:
        rep = batch_json(w.process.pid)
        check_equal(rep["process"]["state"], "running", "state")
        check_truth(rep, truth_read(ACCOUNT))
        check_equal(w.end(), 5, "exit status")


@case("a text frame of a running process names its sites")
def late_text():
    with Waiting() as w:
        done = attach(w.process.pid, "-b", "-n", "1")
        check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode())
        check("site_crash" in done.stdout.decode(), "no site_crash in: " + done.stdout.decode())
        check_equal(w.end(), 5, "exit status")


@case("four viewers at once agree")
def several():
    with Waiting() as w:
        command = [HEAPTOP, "-b", "-n", "3", "-d", "0.1", "--format", "json", "-a",
                   str(w.process.pid)]
        viewers = [subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                   for _ in range(4)]
        for v in viewers:
            out, err = v.communicate(timeout=30)
            check_equal(v.returncode, 0, "status (%s)" % err.decode())
            check('"live_bytes":500500' in out.decode().replace(" ", ""), "live bytes in: %s" %
                  out.decode()[:300])
        check_equal(w.end(), 5, "exit status")
    check_equal(segment_files(), [], "segments left")


@case("a viewer that is killed changes nothing")
def killed_viewer():
    with Waiting() as w:
        viewer = subprocess.Popen([HEAPTOP, "-b", "-d", "0.1", "-a", str(w.process.pid)],
                                  env=environment(), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(viewer.stdout.readline(), "the viewer says nothing")
        kill_hard(viewer)
        viewer.communicate()
        check_equal(batch_json(w.process.pid)["totals"]["live_bytes"], 500500, "live bytes after it")
        check_equal(w.end(), 5, "exit status")
    check_equal(segment_files(), [], "segments left")


@case("a launching viewer that is killed leaves the program running to its end")
def killed_launcher():
    clean_start()
    pipe_out, pipe_in = os.pipe()
    viewer = subprocess.Popen(
        [HEAPTOP, "-b", "-o", os.path.join(scratch, "frames"), "--", target("crash"), "wait"],
        env=environment(TRUTH=ACCOUNT), stdin=pipe_out, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, start_new_session=True)
    check_equal(viewer.stdout.readline(), b"ready\n", "what the program says first")
    kill_hard(viewer)
    os.close(pipe_out)
    os.close(pipe_in)
    viewer.stdout.read()  # ends when the program, which holds the other end, has ended
    viewer.stdout.close()
    wait_for(lambda: "running" not in listing(), "the program's end")
    run([HEAPTOP, "--clean"])
    check_equal(segment_files(), [], "segments left")


def crash_left_behind(how, status):
    """What is left after `how` tells the program's last state, with names."""
    clean_start()
    done = run([target("crash"), how], env=environment(LD_PRELOAD=LIBRARY, TRUTH=ACCOUNT))
    check_equal(done.returncode, status, "exit status")
    files = segment_files()
    check_equal(len(files), 1, "segments left by a crash")
    rep = report_of_segment(files[0])
    check_equal(rep["process"]["state"], "gone", "state")
    check_truth(rep, truth_read(ACCOUNT))
    check(sites_named(rep, "main"), "no name is resolved")
    check("running" not in listing(), "-l calls it running: " + listing())
    done = run([HEAPTOP, "--clean"])
    check_equal(done.returncode, 0, "status of --clean (%s)" % done.stderr.decode())
    check_equal(segment_files(), [], "segments after --clean")


for way, ends in (("segv", -signal.SIGSEGV), ("kill", -signal.SIGKILL), ("abort", -signal.SIGABRT)):
    add_case("after %s the segment is left, read with -r, and removed by --clean" % way,
             lambda way=way, ends=ends: crash_left_behind(way, ends))


@case("--clean leaves running programs alone")
def clean_running():
    with Waiting() as w:
        run([HEAPTOP, "--clean"])
        check_equal(len(segment_files()), 1, "segments")
        check_equal(batch_json(w.process.pid)["totals"]["live_bytes"], 500500, "live bytes")
        check_equal(w.end(), 5, "exit status")


@case("a launched program leaves no segment, however it ends")
def nothing_left():
    clean_start()
    for way in ("exit", "_exit", "segv", "kill", "abort", "exec"):
        report([target("crash"), way])
        if segment_files():
            raise Failure("after %s: %s; %s" % (way, segment_files(), listing()))


@case("state and signal of a program that was killed")
def killed_state():
    _, rep = report([target("crash"), "segv"])
    check_equal(rep["process"]["signal"], 11, "signal")
    _, rep = report([target("crash"), "exit"])
    check_equal((rep["process"]["state"], rep["process"]["exit_status"]), ("exited", 5), "the end")


def refused(options, word, status):
    done = run([HEAPTOP, *options])
    text = done.stderr.decode()
    check_equal(done.returncode, status, "status (%s)" % text)
    check_equal(len(text.strip().splitlines()), 1, "lines of the message: " + text)
    check(word in text, "the message is: " + text)


def not_a_segment(content):
    path = os.path.join(scratch, "not-a-segment")
    with open(path, "wb") as f:
        f.write(content)
    os.chmod(path, 0o600)
    return path


add_case("-a of a process that is not instrumented is refused in one line",
         lambda: refused(["-b", "-a", str(os.getpid())], str(os.getpid()), 125))
add_case("-a of no process is refused in one line",
         lambda: refused(["-b", "-a", "4194303"], "4194303", 125))
add_case("-r of a file that is no segment is refused in one line",
         lambda: refused(["--report", "-r", not_a_segment(b"hello\n" * 50)], "not-a-segment", 125))
add_case("-r of random bytes is refused in one line",
         lambda: refused(["--report", "-r", not_a_segment(os.urandom(300000))], "not-a-segment", 125))
add_case("-r of an empty file is refused in one line",
         lambda: refused(["--report", "-r", not_a_segment(b"")], "not-a-segment", 125))
add_case("-r of no file is refused in one line",
         lambda: refused(["--report", "-r", "/nonexistent/x"], "/nonexistent/x", 125))
add_case("a command that does not exist ends 127",
         lambda: refused(["--report", "--", "/nonexistent/command"], "/nonexistent/command", 127))
add_case("a file that is no program ends 126",
         lambda: refused(["--report", "--", not_a_segment(b"\x7fELF")], "not-a-segment", 126))
add_case("an unknown option ends 2", lambda: refused(["--no-such-option"], "no-such-option", 2))


@case("a truncated segment is refused in one line or read as far as it goes")
def truncated():
    clean_start()
    run([target("crash"), "kill"], env=environment(LD_PRELOAD=LIBRARY, TRUTH=ACCOUNT))
    with open(segment_files()[0], "rb") as f:
        head = f.read(3 * 65536)
    for size in (10, 4096, 65536, 3 * 65536):
        refused(["--report", "-r", not_a_segment(head[:size])], "not-a-segment", 125)
    clean_start()


@case("a segment of another version is refused in one line")
def version():
    clean_start()
    run([target("crash"), "kill"], env=environment(LD_PRELOAD=LIBRARY, TRUTH=ACCOUNT))
    path = segment_files()[0]
    with open(path, "r+b") as f:
        f.seek(8)
        f.write((99).to_bytes(4, "little"))
    refused(["--report", "-r", path], "99", 125)
    clean_start()


run_cases()
