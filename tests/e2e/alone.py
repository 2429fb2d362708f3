#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Segments without a viewer and viewers without a launch: the library alone, late attach, several
viewers, a viewer that is killed, what a crash leaves behind, and that nothing else is left."""

import contextlib
import json
import os
import pty
import signal
import subprocess

from proving import (HEAPTOP, LIBRARY, add_case, case, check, check_equal, check_truth,
                     environment, kill_hard, listing, report, report_of_segment, run, run_cases,
                     scratch, segment_files, segments, sites_named, target, truth_read, wait_for)

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


def look():
    """The running program as its segment shows it now."""
    return report_of_segment(segment_files()[0])


LIVE = "488.8k in 1,000 blocks"  # 1 + 2 + ... + 1000 bytes


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


def attached(pid, path):
    """Whether a viewer has the segment open twice: to read it, and as a reader that steers it."""
    fds = "/proc/%d/fd" % pid
    return [os.path.realpath(os.path.join(fds, fd)) for fd in os.listdir(fds)].count(path) >= 2


@case("-l cuts long commands on a terminal, and leaves them whole for a program that reads it")
def long_command():
    tail = "x" * 300 + "end"
    with Waiting(target("crash"), "wait", tail):
        check(" wait %s  " % tail in listing(), "-l says: " + listing())
        master, slave = pty.openpty()
        subprocess.run([HEAPTOP, "-l"], env=environment(), stdin=slave, stdout=slave, check=True, timeout=20)
        os.close(slave)
        text = ""
        with contextlib.suppress(OSError):  # the end of what a terminal says is EIO
            while True:
                text += os.read(master, 65536).decode()
        os.close(master)
        check("running" in text, "on a terminal: " + text)
        check(tail not in text, "not cut: " + text)
        check(max(map(len, text.splitlines())) < 200, "on a terminal: " + text)


@case("a viewer that comes late reports everything since start")
def late():
    with Waiting() as w:
        rep = look()
        check_equal(rep["process"]["state"], "running", "state")
        check_truth(rep, truth_read(ACCOUNT))
        out = os.path.join(scratch, "attached.json")
        viewer = subprocess.Popen(
            [HEAPTOP, "--report", "--format", "json", "-d", "0.1", "-o", out, "-a", str(w.process.pid)],
            env=environment(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        path = segment_files()[0]
        wait_for(lambda: attached(viewer.pid, path), "the viewer to attach")
        check_equal(w.end(), 5, "exit status")
        _, err = viewer.communicate(timeout=20)
        check_equal(viewer.returncode, 0, "status of heaptop --report -a (%s)" % err.decode())
        with open(out, encoding="utf-8") as f:
            text = f.read()
        check(text, "the report is empty: " + err.decode())
        check_truth(json.loads(text), truth_read(ACCOUNT))
    check_equal(segment_files(), [], "segments left")


@case("a copy of a running program's segment is called one, with its moment, and stands still")
def copied():
    with Waiting() as w:
        path = segment_files()[0]
        aside = os.path.join(scratch, "aside")
        os.makedirs(aside, exist_ok=True)
        copies = [os.path.join(scratch, "copy.segment"), os.path.join(aside, os.path.basename(path))]
        for copy in copies:
            run(["cp", path, copy])  # without its holes, unlike shutil.copy
        for copy in copies:
            rep = report_of_segment(copy)
            check_equal(rep["process"]["state"], "copy", "state of " + copy)
            notice = "a copy of the segment of process %d, made while it ran: its heap " % w.process.pid
            check(rep["notice"].startswith(notice), rep["notice"])
            check(0 < rep["time"]["uptime_ns"] <= look()["time"]["uptime_ns"], "the moment")
            check_truth(rep, truth_read(ACCOUNT))
            text = run([HEAPTOP, "--report", "-r", copy]).stdout.decode()
            check(", copied after " in text and "\nlive " in text, text[:400])
        # The file itself goes on being the program.
        check_equal((look()["process"]["state"], look()["notice"]), ("running", None), "the segment itself")
        kill_hard(w.process)
        check("a copy, made while the program ran or after" in report_of_segment(copies[0])["notice"], "when it is gone")
        for copy in copies:
            os.unlink(copy)


@case("a text frame of a running process names its sites")
def late_text():
    with Waiting() as w:
        done = attach(w.process.pid, "-b", "-n", "1", "-d", "60")  # so long it waits for names
        check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode())
        check("site_crash" in done.stdout.decode(), "no site_crash in: " + done.stdout.decode())
        check_equal(w.end(), 5, "exit status")


@case("four viewers at once agree")
def several():
    with Waiting() as w:
        command = [HEAPTOP, "-b", "-n", "3", "-d", "0.1", "-a", str(w.process.pid)]
        viewers = [subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                   for _ in range(4)]
        for v in viewers:
            out, err = v.communicate(timeout=30)
            check_equal(v.returncode, 0, "status (%s)" % err.decode())
            check_equal(out.decode().count(LIVE), 3, "frames that say " + LIVE)
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
        check_equal(look()["totals"]["live_bytes"], 500500, "live bytes after it")
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
        check_equal(look()["totals"]["live_bytes"], 500500, "live bytes")
        check_equal(w.end(), 5, "exit status")


@case("--clean leaves what another version of heaptop wrote, and says so")
def clean_other_version():
    clean_start()
    run([target("crash"), "kill"], env=environment(LD_PRELOAD=LIBRARY, TRUTH=ACCOUNT))
    path = os.path.join(segments, segment_files()[0])
    with open(path, "r+b") as f:
        f.seek(8)  # the version, behind the magic
        f.write(bytes([99]))
    said = run([HEAPTOP, "--clean"]).stdout.decode()
    check(said.startswith("0 segments") and "1 file is left that this heaptop cannot read" in said, "it said: " + said)
    check("segment format 99" in listing(), "-l: " + listing())
    os.unlink(path)
    check_equal(run([HEAPTOP, "--clean"]).stdout, b"0 segments of ended programs removed\n", "--clean of nothing")


@case("a launched program leaves its segment only when it was killed")
def left_behind():
    clean_start()
    for way in ("exit", "_exit", "exec"):
        report([target("crash"), way])
        check_equal(segment_files(), [], "segments after " + way)
    for way in ("segv", "kill", "abort"):
        done, _ = report([target("crash"), way])
        files = segment_files()
        check_equal(len(files), 1, "segments after " + way)
        check(files[0] in done.stderr.decode(), "the message does not name the segment")
        check_equal(report_of_segment(files[0])["totals"]["live_bytes"], 500500, "live bytes")
        run([HEAPTOP, "--clean"])
        check_equal(segment_files(), [], "segments after --clean")


@case("state and signal of a program that was killed")
def killed_state():
    _, rep = report([target("crash"), "segv"])
    check_equal((rep["process"]["state"], rep["process"]["signal"]), ("exited", "SIGSEGV"), "the end")
    _, rep = report([target("crash"), "exit"])
    check_equal((rep["process"]["state"], rep["process"]["exit_status"]), ("exited", 5), "the end")
    run([HEAPTOP, "--clean"])


@case("a chain of execs leaves nothing, and each image counts one more")
def exec_chain():
    clean_start()
    last = "exec %s wait" % target("crash")
    shell = last
    for _ in range(6):
        shell = "exec sh -c '%s'" % shell.replace("'", "'\\''")
    with Waiting("/bin/sh", "-c", shell) as w:
        files = segment_files()
        check_equal([f.rsplit("-", 1)[1] for f in files], ["7"], "generations present")
        check_equal(w.end(), 5, "exit status")
    check_equal(segment_files(), [], "segments left")


def exec_script(images):
    """A program that execs itself until it was so many images."""
    path = os.path.join(scratch, "chain.sh")
    with open(path, "w") as f:
        f.write('[ $1 = 1 ] || exec sh "$0" $(($1 - 1))\nexit 7\n')
    return ["sh", path, str(images)]


@case("a report of a long chain of execs keeps 64 images and counts the rest")
def exec_chain_reported():
    clean_start()
    done, rep = report(exec_script(80))
    check_equal(done.returncode, 7, "exit status")
    check_equal(len(rep["children"]), 64, "images kept")
    check_equal(rep["notice"], "this report leaves out 15 more children and earlier images that ended", "notice")
    check_equal(segment_files(), [], "segments left")


@case("a reader of frames that goes away is a line, and nothing is left")
def reader_gone():
    clean_start()
    with subprocess.Popen([HEAPTOP, "-b", "-d", "0.1", "--", target("crash"), "wait"], env=environment(TRUTH=ACCOUNT),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as viewer:
        # Its frames and the program's "ready" come in any order.
        check(any(line == b"ready\n" for line in viewer.stdout), "the program never began")
        viewer.stdout.close()
        check("Broken pipe" in viewer.stderr.readline().decode(), "no line on stderr")
        check_equal(viewer.wait(20), 125, "exit status")
        viewer.stdin.close()
    wait_for(lambda: not segment_files(), "its segment to go")


@case("nothing is left in /dev/shm by any of these")
def nothing_left():
    check_equal(segment_files(), [], "segments left")


run_cases()
