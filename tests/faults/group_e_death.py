#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group E of the fault matrix, death: programs and viewers that are killed at any instant, what they
leave, and who may take it for what."""

import contextlib
import os
import random
import signal
import struct
import subprocess
import time

from rows import deadline, fault_target, fault_tool, row, run_rows, times
from proving import (B, HEAPTOP, LIBRARY, Skip, check, check_equal, environment, kill_hard, listing, report_of_segment,
                     run, scratch, segment_files, segments, target, wait_for)
from sides import held
from tight import injected, looked

ACCOUNT = os.path.join(scratch, "account")
THREADS = 4
EMPTY, FULL, CHANGING = range(3)


def clear_segments():
    for path in segment_files():
        os.unlink(path)


@contextlib.contextmanager
def churning(prefix=(), **variables):
    """The program that never ends, preloaded alone unless there is a prefix."""
    env = environment(ACCOUNT=ACCOUNT, **(variables or ({} if prefix else {"LD_PRELOAD": LIBRARY})))
    with subprocess.Popen([*prefix, fault_target("churn"), str(THREADS)], env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        check_equal(process.stdout.readline(), b"ready\n", "what it says first")
        try:
            yield process
        finally:
            process.kill()


def account():
    """What the program knew when it was killed: size by address, and how many slots were changing."""
    with open(ACCOUNT, "rb") as f:
        slots = list(struct.iter_unpack("<QQQ", f.read()))
    full = {address: size for address, size, state in slots if state == FULL}
    return full, sum(state == CHANGING for _, _, state in slots)


def table(segment):
    """The live table's blocks of the program's own sizes."""
    done = run([fault_tool("look"), "blocks", segment])
    check_equal(done.returncode, 0, "status of look (%s)" % done.stderr.decode())
    blocks = (line.split() for line in done.stdout.decode().splitlines())
    return {int(b[0], 16): int(b[1]) for b in blocks if int(b[1]) % 16 == 7}


def check_table(segment):
    """Right to the block but where the program was in the middle of something: one in each thread."""
    full, changing = account()
    found = table(segment)
    check(changing <= THREADS, "%d threads" % changing)
    wrong = [a for a, size in full.items() if found.get(a) != size]
    check(not wrong, "%d blocks are missing or of another size, of %d" % (len(wrong), len(full)))
    check(len(found.keys() - full.keys()) <= changing, "%d blocks too many, and %d threads were at work" % (
        len(found.keys() - full.keys()), changing))
    t = looked(segment)
    check(abs(t["allocs"] - t["frees"] - t["blocks"]) <= THREADS, "allocs - frees and the table: %s" % t)
    check_equal((t["untracked_blocks"], t["missed_frees"]), (0, 0), "lost")


@row("E7", "kill -9 at any instant: a segment that cannot be read, or is wrong")
def killed_anywhere():
    dice = random.Random(7)
    for _ in range(times(40, 1000)):
        clear_segments()
        with churning() as process:
            time.sleep(dice.random() * 0.02)
            process.kill()
            process.wait()
        files = segment_files()
        check_equal(len(files), 1, "segments")
        check_table(files[0])
    rep = report_of_segment(files[0])
    check_equal(rep["process"]["state"], "gone", "state")
    check("one live block per thread" in (rep["notice"] or ""), "the report does not say so: %s" % rep["notice"])
    check("running" not in listing(), "-l calls it running: " + listing())
    check_equal(run([HEAPTOP, "--clean"]).returncode, 0, "status of --clean")
    check_equal(segment_files(), [], "segments after --clean")


@row("E7a", "killed while its segment is being made: rests that nothing clears away")
def killed_at_start():
    clear_segments()
    dice = random.Random(8)
    for _ in range(times(40, 1000)):
        process = subprocess.Popen([target("crash"), "wait"], env=environment(LD_PRELOAD=LIBRARY),
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        time.sleep(dice.random() * 0.003)
        kill_hard(process)
        process.stdin.close()
    check_equal(run([HEAPTOP, "-l"]).returncode, 0, "status of -l")
    run([HEAPTOP, "--clean"])
    check_equal(segment_files(), [], "left after --clean")
    for kind in ("0123456789abcdef", "1.7-2-3"):  # a viewer's, and a library's in some container
        with open(os.path.join(segments, "heaptop-" + kind), "wb"):
            pass
    run([HEAPTOP, "--clean"])
    rests = segment_files()
    check_equal(len(rests), 2, "what may be in the making")
    for path in rests:
        os.utime(path, (time.time() - 60, time.time() - 60))
    with open(os.path.join(segments, "heaptop-other"), "wb") as f:
        f.write(b"not a segment")
    check_equal(run([HEAPTOP, "--clean"]).returncode, 0, "status of --clean")
    check_equal([os.path.basename(f) for f in segment_files()], ["heaptop-other"], "left after --clean")
    clear_segments()


PID_REUSED = """
rm -f %(account)s
ACCOUNT=%(account)s LD_PRELOAD=%(library)s %(churn)s 1 >/dev/null & old=$!
until [ -s %(account)s ] && ls %(segments)s | grep -q "^heaptop-$old[.-]"; do :; done
kill -9 $old; wait $old; sleep 0.1
until [ "$new" = $old ]; do
	echo $((old - 1)) >/proc/sys/kernel/ns_last_pid
	sleep 100 & new=$!
	[ $new = $old ] || kill -9 $new
done 2>/dev/null
%(heaptop)s -l >%(scratch)s/listed
%(heaptop)s --mark $new >/dev/null 2>%(scratch)s/said; echo status $? pid $new
kill -9 $new
"""


@row("E7b", "a pid is given out again: the old segment is taken for the new process's")
def pid_reused():
    clear_segments()
    done = run(["unshare", "-pf", "--mount-proc", "sh", "-c", PID_REUSED % {
        "account": ACCOUNT, "library": LIBRARY, "churn": fault_target("churn"), "segments": segments,
        "heaptop": HEAPTOP, "scratch": scratch}])
    if b"Operation not permitted" in done.stderr:
        raise Skip("unshare -p or ns_last_pid is not permitted here")
    check("status 125 pid" in done.stdout.decode(), "says %r, %r" % (done.stdout, done.stderr))
    with open(os.path.join(scratch, "listed"), encoding="utf-8") as f:
        text = f.read()
    check("crashed" in text or "gone" in text or "dead" in text, "-l does not call it dead: " + text)
    check("running" not in text, "-l calls it running: " + text)
    with open(os.path.join(scratch, "said"), encoding="utf-8") as f:
        check("was not started under heaptop" in f.read(), "--mark of another process")
    clear_segments()


@row("E8", "a viewer is killed while it reads: the program waits, or no other can attach")
def viewer_killed():
    dice = random.Random(8)
    with churning() as process:
        attach = [HEAPTOP, "-b", "-d", "0.1", "-a", str(process.pid)]
        for _ in range(times(40, 1000)):
            viewer = subprocess.Popen(attach, env=environment(), stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(dice.random() * 0.05)
            kill_hard(viewer)
            check_equal(viewer.stderr.read(), b"", "what the viewer said before")
            viewer.stderr.close()
        done = run([*attach, "-n", "1"])
        check_equal(done.returncode, 0, "status of one that attaches after it (%s)" % done.stderr.decode())
        check(b"change" in done.stdout, "its frame: %r" % done.stdout[:300])
        before = looked()["allocs"]
        wait_for(lambda: looked()["allocs"] > before, "the program goes on")
        process.terminate()
        wait_for(lambda: process.poll() is not None, "the program's end")
        check_equal((process.returncode, process.stderr.read()), (5, b""), "the program's end")
    check_equal(segment_files(), [], "segments left")


@row("E8a", "the viewer that started a program is killed: the program goes with it, or its segment stays")
def launcher_killed():
    dice = random.Random(9)
    for _ in range(times(8, 200)):
        clear_segments()
        with churning([HEAPTOP, "--report", "-o", "/dev/null", "--"], HEAPTOP_DIR=segments) as viewer:
            with open("/proc/%d/task/%d/children" % (viewer.pid, viewer.pid), encoding="ascii") as f:
                program = int(f.read().split()[0])
            time.sleep(dice.random() * 0.05)
            kill_hard(viewer)
            done = run([HEAPTOP, "-b", "-n", "1", "-a", str(program)])
            os.kill(program, signal.SIGKILL)
            check_equal(done.returncode, 0, "status of one that attaches after it (%s)" % done.stderr.decode())
        wait_for(lambda: "running" not in listing(), "the end of the program")
        check_table(segment_files()[0])
    clear_segments()


@row("E8b", "the viewer that started a program is killed: the segments of all its later children stay")
def children_after_launcher():
    clear_segments()
    with subprocess.Popen([HEAPTOP, "--report", "-o", "/dev/null", "--", fault_target("fork_ways"), "fork", "100"],
                          env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as viewer:
        check_equal(viewer.stdout.readline(), b"ready\n", "what the program says first")
        kill_hard(viewer)
        before = segment_files()
        viewer.stdin.write(b"\n")
        viewer.stdin.flush()
        check_equal(viewer.stdout.readline(), b"done\n", "what it says when its child has ended")
        check_equal(segment_files(), before, "segments then")
        viewer.communicate(b"\n")
    clear_segments()


def ended_alone(*arguments):
    """The states of the segments that stay when a program and its children go on without their viewer, and end
    by themselves. The program has called exec before."""
    clear_segments()
    command = ["sh", "-c", "exec \"$@\"", "sh", fault_target("ends_alone"), *arguments]
    with subprocess.Popen([HEAPTOP, "--report", "-o", "/dev/null", "--", *command], env=environment(),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as viewer:
        check_equal(viewer.stdout.readline(), b"ready\n", "what the program says first")
        kill_hard(viewer)
        check(len(segment_files()) >= 5, "segments when the viewer is killed: %s" % segment_files())
        said, _ = viewer.communicate(b"\n")
        check_equal(said, b"done\n", "what it says at its end")
    return sorted(report_of_segment(path)["process"]["state"] for path in segment_files())


@row("E8c", "the viewer that started a program is killed: what it would have removed stays for ever")
def ends_without_launcher():
    """But for what a crash left: that is for who looks at it."""
    for way in ("return", "exit", "_exit", "quick_exit"):
        check_equal(ended_alone(way), [], "segments left by " + way)
    check_equal(ended_alone("return", "crash"), ["gone"], "segments left after a crash of a child")
    clear_segments()


@row("E9", "a viewer comes while the segment is being made: half a header is believed")
def attach_at_start():
    clear_segments()
    dice = random.Random(10)
    told = 0
    for _ in range(times(25, 500)):
        process = subprocess.Popen([target("crash"), "wait"], env=environment(LD_PRELOAD=LIBRARY),
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        time.sleep(dice.random() * 0.003)
        viewers = [subprocess.Popen([HEAPTOP, *options], env=environment(), stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                   for options in (["-b", "-n", "1", "-a", str(process.pid)], ["-l"])]
        for viewer in viewers:
            _, errors = deadline.finish(viewer, 30)
            check_equal((viewer.returncode, errors), (0, b""), "the viewer's end")
            told += 1
        process.communicate()
        check_equal(process.returncode, 5, "the program's end")
    check(told >= 50, "%d viewers" % told)
    check_equal(segment_files(), [], "segments left")


@contextlib.contextmanager
def slow_starts(count):
    """So many programs that have not come to their exec: pid, and the line by which a shell lets one go on and
    waits until it is ready."""
    command = [fault_target("slow_start"), "env", "LD_PRELOAD=" + LIBRARY, target("crash"), "wait"]
    begun = [subprocess.Popen(command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(count)]
    lets_go = "echo >/proc/%d/fd/%d && read word </proc/%d/fd/%d && [ $word = ready ]"
    for process in begun:
        wait_for(lambda: deadline.stat("/proc/%d/stat" % process.pid)[0] == "D" and deadline.old_enough(process.pid), "it waits in vfork")
    yield [(p.pid, lets_go % (os.getpid(), p.stdin.fileno(), os.getpid(), p.stdout.fileno())) for p in begun]
    for process in begun:
        process.communicate()
    check_equal({p.returncode for p in begun}, {5}, "the programs' ends")


@row("E9a", "a program is long in coming to its start: the viewer that asks meanwhile gives up")
def attach_to_slow_start():
    """It comes to its start while the viewer is at any of the calls before the one that sees it there no more."""
    clear_segments()
    with slow_starts(times(12, 60)) as programs:
        with held([target("crash"), "wait"], "plain", says=b"ready\n") as refused:
            wait_for(lambda: deadline.old_enough(refused.pid), "a second")
            done, calls = injected([HEAPTOP, "--mark", str(refused.pid), "here"], call="openat")
            check_equal(done.returncode, 125, "status of --mark of one without the library")
        for back, (pid, line) in enumerate(programs):
            done, _ = injected([HEAPTOP, "--mark", str(pid), "here"], call="openat", nth=max(1, calls - back), line=line)
            check_equal(done.returncode, 0, "status where it starts at call %d of %d (%s)" % (
                calls - back, calls, done.stderr.decode()))
    check_equal(segment_files(), [], "segments left")


@row("E10", "library and viewer are of different versions: a crash, or nonsense on the screen")
def other_version():
    clear_segments()
    other = os.path.join(B, "tests", "faults", "other", "libheaptop.so")
    plain = run([target("crash")])
    # The viewer starts the other library: each finds the other's segment none of its own.
    done = run([HEAPTOP, "--report", "-o", os.path.join(scratch, "other"), "--", target("crash")],
               env=environment(HEAPTOP_LIBRARY=other))
    check_equal((done.returncode, done.stdout), (plain.returncode, plain.stdout), "the run under heaptop")
    with open(os.path.join(scratch, "other"), encoding="utf-8") as f:
        check("no data: the program ran without" in f.read(), "the report does not say so")
    # The other library alone.
    process = subprocess.Popen([target("crash"), "wait"], env=environment(LD_PRELOAD=other),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    check_equal(process.stdout.readline(), b"ready\n", "what it says")
    done = run([HEAPTOP, "-b", "-n", "1", "-a", str(process.pid)])
    check_equal(done.returncode, 125, "status of -a")
    check("segment format 99." in done.stderr.decode(), "-a says: %s" % done.stderr.decode())
    text = listing()
    check(str(process.pid) in text and "unreadable" in text and "format 99" in text, "-l says: " + text)
    # Our library, given a segment of the other's.
    done = run([target("crash")], env=environment(LD_PRELOAD=LIBRARY, HEAPTOP_SEGMENT=segment_files()[0]))
    check_equal((done.returncode, done.stdout), (plain.returncode, plain.stdout), "our library")
    process.communicate()
    check_equal(process.returncode, 5, "the program's end")
    check_equal(segment_files(), [], "segments left")


run_rows()
