#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The leak scan where ptrace is not allowed: the program's library helps, by letting the viewer trace it or
by a copy that gives its memory; where it cannot, one line says why. And the program does not notice."""

import glob
import json
import os
import random
import re
import subprocess
import sys
import time

from deadline import LOOK_S, Limit
from proving import B, HEAPTOP, LIBRARY, Skip, check, check_equal, environment, need, run, run_cases, case, scratch, \
    segments, target, wait_for
from scanning import Waiting, children, zombies

REFUSED = [os.path.join(B, "tests", "faults", "targets", "untraceable"), "refuse"]
ASK = os.path.join(B, "tests", "faults", "tools", "ask")
SOAK = "SOAK" in os.environ  # whole; else as much as make check has time for
LENT = "copy by the program's library"
# What only a look into the threads can tell: it needs ptrace.
BY_THREADS = {"definite_below_stack": "reachable", "reachable_register": "definite",
              "reachable_vector": "definite"}


def leaks_in(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)["leaks"]


def scan(command, prefix=(), **how):
    out = os.path.join(scratch, "helped.json")
    if os.path.exists(out):
        os.unlink(out)
    done = run([*prefix, *REFUSED, HEAPTOP, "--leak-check", "--format", "json", "-o", out, *command], **how)
    check(os.path.exists(out), "no report: " + done.stderr.decode())
    return done, leaks_in(out)


CALM = [target("leak_server"), "calm"]


def segment_of(pid):
    found = glob.glob(os.path.join(segments, "heaptop-%d-*" % pid))
    check_equal(len(found), 1, "segments of the program")
    return found[0]


def signals(pid):
    """Masks of all threads. A thread being created has all signals blocked for a moment; so has one that helps."""
    masks = []
    for path in glob.glob("/proc/%d/task/*/status" % pid):
        with open(path, encoding="ascii") as f:
            masks += re.findall(r"Sig(?:Blk|Ign|Cgt):\t(\w+)", f.read())
    return sorted(masks)


def stands(pid):
    """How a program stands, but for what changes by itself: signals, descriptors, children, threads."""
    def read():
        masks = signals(pid)
        return None if masks[-1].startswith("f") else masks

    def twice():  # the thread in sigtimedwait has its signal unblocked there
        first = read()
        time.sleep(0.05)
        return first if first and read() == first else None

    masks = wait_for(twice, "threads at rest, none with all signals blocked")
    children = ""
    for path in glob.glob("/proc/%d/task/*/children" % pid):
        with open(path, encoding="ascii") as f:
            children += f.read()
    return masks, sorted(os.listdir("/proc/%d/fd" % pid)), children


def no_copies_left():
    def left():
        names = []
        for path in glob.glob("/proc/[0-9]*/comm"):
            try:
                with open(path, encoding="ascii", errors="replace") as f:
                    names.append(f.read().strip())
            except OSError:
                pass
        if "heaptop-copy" not in names:
            return True
        time.sleep(0.2)  # looking takes long, and a copy may be there for 10 seconds
        return False
    wait_for(left, "no copy is left")


def check_found(account, leaks):
    """Against what the program says that it made."""
    found = {}
    for site in leaks["sites"]:
        key = (site["stack"][0]["function"], site["class"]) if site["stack"] else ("?", site["class"])
        found[key] = found.get(key, 0) + site["blocks"]
    for line in account.splitlines():
        name, blocks, _ = line.split()
        right = BY_THREADS.get(name, name.split("_")[0])
        check_equal(found.get((name, right)), int(blocks), "%s %s" % (right, name))


@case("a viewer that may not trace walks down the ladder: every class at the end of a program")
def at_end():
    done, leaks = scan(["--", target("leaks")])
    check_equal(done.returncode, 0, "status")
    check_equal((leaks["failed"], leaks["how"], leaks["ptrace"]), (None, LENT, "EPERM"),
                "the scan")
    check(leaks["snapshots"] > 2, "%d copies" % leaks["snapshots"])
    check_equal(leaks["threads"] - leaks["threads_running"], 1, "threads whose registers are known")
    check_found(done.stdout.decode(), leaks)
    no_copies_left()


def as_nobody():
    """How to run a command as a user without any rights, and with what variables."""
    own = os.path.join(segments, "nobody")
    if os.geteuid() != 0:
        return [], {}
    if not os.path.isdir(own):
        os.mkdir(own)
        os.chown(own, 65534, 65534)
        os.chmod(segments, 0o755)
    prefix = [need("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups"]
    if run([*prefix, "test", "-x", HEAPTOP, "-a", "-r", LIBRARY]).returncode != 0:
        raise Skip("another user cannot run " + HEAPTOP)
    return prefix, {"HEAPTOP_DIR": own}


def scan_as_nobody(*command):
    prefix, more = as_nobody()
    out = os.path.join(more.get("HEAPTOP_DIR", scratch), "leaks.json")
    done = run([*prefix, HEAPTOP, "--leak-check", "--format", "json", "-o", out, *command], env=environment(**more))
    check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode())
    leaks = leaks_in(out)
    os.unlink(out)
    return done, leaks


@case("of a program that is not dumpable nothing can be seen in /proc but by itself: every class, all the same")
def undumpable():
    done, leaks = scan_as_nobody("--", target("leaks"), "", "undumpable")
    # It shares 16 pages and has touched one: only root could see the contents of the others.
    check_equal((leaks["failed"], leaks["how"], leaks["unread_bytes"]), (None, LENT, 15 * 4096), "the scan")
    check_found(done.stdout.decode(), leaks)
    no_copies_left()


@case("one that is attached to stays as it was, and not dumpable")
def undumpable_server():
    prefix, more = as_nobody()
    with Waiting(*prefix, *CALM, "undumpable", **more) as program:
        wait_for(lambda: not signals(program.pid)[-1].startswith("f"), "no thread has all signals blocked")
        masks, owner = signals(program.pid), os.stat("/proc/%d" % program.pid).st_uid
        _, leaks = scan_as_nobody("-a", str(program.pid))
        check_equal((leaks["failed"], leaks["how"]), (None, LENT), "the scan")
        for kind in ("definite", "indirect", "possible"):
            check_equal(leaks[kind]["blocks"], 0, kind)
        wait_for(lambda: signals(program.pid) == masks, "its signals are as before")
        check_equal(os.stat("/proc/%d" % program.pid).st_uid, owner, "whose it is")
        check_equal(program.end(), (0, "0 cut short, 0 lost\n"), "the program's end")
    no_copies_left()


@case("where its library sees that it must not be copied, the line says why")
def undumpable_unfit():
    prefix, more = as_nobody()
    opens = "import os, sys; os.pipe2(os.O_DIRECT); os.execv(sys.argv[1], sys.argv[1:])"
    done = run([sys.executable, "-c", opens, *prefix, HEAPTOP, "--leak-check", "--", target("leaks"), "",
                "undumpable"], env=environment(**more))
    said = done.stdout.decode() + done.stderr.decode()
    check("the kernel may be writing into its memory (io_uring, aio, O_DIRECT)" in said, said)
    no_copies_left()


def is_zombie(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as f:
        return f.read().rpartition(")")[2].split()[0] == "Z"


@case("a program whose first thread has ended is scanned as others are")
def leaderless():
    out = os.path.join(scratch, "leaderless.json")
    with subprocess.Popen([*REFUSED, HEAPTOP, "--leak-check", "--format", "json", "-o", out, "--", target("leaks"),
                           "leader"], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as viewer:
        account = "".join(iter(viewer.stdout.readline, "ready\n"))
        program = children(viewer.pid)[0]
        wait_for(lambda: is_zombie(program), "its first thread has ended")
        viewer.stdin.close()
        check_equal(viewer.wait(), 0, "status")
    leaks = leaks_in(out)
    check_equal((leaks["failed"], leaks["how"]), (None, LENT), "the scan")
    check_found(account, leaks)
    no_copies_left()


@case("a program of one thread needs one copy, and the text says how it was done")
def alone():
    for _ in range(5):  # it stands still for a tenth of a second only, in which a busy machine may not get here
        done = run([*REFUSED, HEAPTOP, "--leak-check", "--", target("leaks"), "list", "1000"])
        text = done.stderr.decode() or done.stdout.decode()
        check(LENT + ": the program was stopped for" in text, text)
        check(re.search(r"definite +24 bytes in 1 block", text) and re.search(r"indirect +23,976 bytes in 999", text),
              text)
        if "it made a copy, and none of its threads ran meanwhile" in text:
            break
    check("ptrace is not allowed (EPERM); it made a copy, and none of its threads ran meanwhile" in text, text)


@case("a busy server is scanned by copies, and loses nothing, and stands as before")
def server():
    with Waiting(*CALM) as program:
        before = stands(program.pid)
        _, leaks = scan(["-a", str(program.pid)])
        check_equal((leaks["failed"], leaks["how"]), (None, LENT), "the scan")
        for kind in ("definite", "indirect", "possible"):
            check_equal(leaks[kind]["blocks"], 0, kind)
        wait_for(lambda: stands(program.pid) == before, "it stands as before")
        check_equal(program.end(), (0, "0 cut short, 0 lost\n"), "the program's end")
    no_copies_left()


def hot():
    with Waiting(target("leak_server")) as program:
        for _ in range(100):
            _, leaks = scan(["-a", str(program.pid)])
            check_equal((leaks["failed"], leaks["how"]), (None, LENT), "the scan")
            for kind in ("definite", "indirect", "possible"):
                check_equal(leaks[kind]["blocks"], 0, kind)
        check_equal(program.end(), (0, "0 cut short, 0 lost\n"), "the program's end")
    no_copies_left()


# Two processors for minutes; what it is about, tests/unit/leak_lost_blocks.c has in small.
if SOAK:
    case("a server that does nothing but realloc has lost nothing, whatever a copy of it lacks")(hot)


@case("viewers that are killed at any moment of it leave the program running, and right")
def killed():
    rng = random.Random(2)
    with Waiting(*CALM) as program:
        before = stands(program.pid)
        for _ in range(100 if SOAK else 12):
            viewer = subprocess.Popen([*REFUSED, HEAPTOP, "--leak-check", "-a", str(program.pid)], env=environment(),
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.random() * 0.05)
            viewer.kill()
            viewer.wait()
        # What the last one left goes with the next scan, at once.
        check_equal(scan(["-a", str(program.pid)])[1]["failed"], None, "one more scan")
        wait_for(lambda: stands(program.pid) == before, "it stands as before")
        no_copies_left()
        check_equal(program.end(), (0, "0 cut short, 0 lost\n"), "the program's end")


def beset(command, timeout=100):
    """Runs a program with the library; all the while its segments are asked for copies, and every second asker is
    killed before it is through. How it ended, and how many asked."""
    rng = random.Random(3)
    asked = 0
    with subprocess.Popen(command, env=environment(LD_PRELOAD=LIBRARY), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as program:
        limit, next_look = Limit(program.pid, timeout), time.monotonic() + LOOK_S
        while program.poll() is None:
            if time.monotonic() > next_look:
                next_look = time.monotonic() + LOOK_S
                if limit.passed():
                    break
            for path in glob.glob(os.path.join(segments, "heaptop-*"))[:4]:
                with subprocess.Popen([ASK, path, ("copy", "wait")[asked % 2]], stdin=subprocess.PIPE,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as asker:
                    if asked % 2:
                        time.sleep(rng.random() * 0.01)
                        asker.kill()
                    else:
                        try:
                            asker.wait(0.05)
                        except subprocess.TimeoutExpired:
                            asker.kill()
                asked += 1
        if program.poll() is None:
            program.kill()
        return program.stdout.read(), program.wait(), asked


@case("programs that fork, exec, take signals and end while copies of them are made end as they do alone")
def beset_programs():
    faults = os.path.join(B, "tests", "faults", "targets")
    times = 20 if SOAK else 1
    for command, status in ((["fork_storm", "4", str(50 * times)], 0),
                            (["signal_storm", "count", str(50 * times), "4"], 0),
                            (["exec_self", str(8 * times)], 7), (["exit_busy", "exit"], None),
                            (["exit_busy", "return"], None)):
        command = [os.path.join(faults, command[0]), *command[1:]]
        if status is None:
            status = run(command).returncode
        said, got, _ = beset(command)
        check_equal(got, status, "status of %s, which said %s" % (" ".join(command[0:1]), said[-200:]))
    no_copies_left()


def shown_refused(pid):
    """The screen after a scan that was not possible."""
    script = os.path.join(scratch, "refused.keys")
    with open(script, "w", encoding="utf-8") as f:
        f.write(":size 160x60\nL\n:until cannot be scanned\n:wait 2\n:save-display -\n")
    return run([*REFUSED, HEAPTOP, "-d", "0.1", "--script", script, "-a", str(pid)]).stdout.decode()


@case("a program that does not allocate cannot help, and one line says so, soon; the screen, too, and has suspects")
def idle():
    with Waiting(target("crash"), "wait") as program:
        began = time.monotonic()
        done = run([*REFUSED, HEAPTOP, "--leak-check", "-a", str(program.pid)])
        check_equal(done.returncode, 125, "status")
        lines = done.stderr.decode().splitlines()
        text = done.stdout.decode()
        line = [s for s in lines if s.startswith("heaptop: --leak-check")]
        check_equal(len(line), 1, "lines of the message")
        check("no permission to stop it" in line[0] and "it does not allocate at the moment" in line[0], line[0])
        check(time.monotonic() - began < 20, "it waited for long")
        # Blocks that were never freed are reported, and not called leaks.
        check(re.search(r"suspects  by age alone.*\n  500,500 bytes in 1,000 blocks, none was freed: malloc, "
                        r"by site_crash", text + done.stderr.decode()), text)
        check(not re.search(r"definite +[\d,]+ bytes", text), "suspects are called leaks")
        screen = shown_refused(program.pid)
        check(re.search(r"^.suspect +488\.8k +1,000 +[\d.]+m?s .* site_crash", screen, re.M), screen)
        check("it does not allocate at the moment" in " ".join(screen.split()), screen)
        check("definite" not in screen and "lost" not in screen, "suspects are called leaks: " + screen)


@case("a program in a sandbox of its own is not asked for system calls that may be its end")
def sandboxed():
    with Waiting(target("leaks"), "wait", "sandboxed") as program:
        done = run([need("setpriv"), "--bounding-set=-all", "--inh-caps=-all", HEAPTOP, "--leak-check", "-a",
                    str(program.pid)])
        check("it has a seccomp filter" in done.stderr.decode(), done.stderr.decode())
        check_equal(program.end(), (0, ""), "the program's end")


@case("a program that waits for children, or takes orphans, sees none of its copies, nor is one left")
def unseen():
    for kind in ("alone", "parent", "reaper"):
        with Waiting(target("copied"), "1", kind) as program:
            for _ in range(2):
                _, leaks = scan(["-a", str(program.pid)])
                check_equal((leaks["failed"], leaks["how"], leaks["copy_left"]), (None, LENT, False), kind)
                check_equal(zombies(program.pid), [], "zombies of " + kind)
            check_equal(program.end(), (0, "0 strangers, 0 signals\n"), kind)


@case("a copy that is late for a request to the thread does not take it for the next one, which is to it")
def late():
    with Waiting(*CALM) as program:
        said = run([ASK, segment_of(program.pid), "late"]).stdout.decode().split()
        check_equal(said[0], "0", "what came of it")
        check(int(said[1]) > 0, "the copy reports no mappings")
        check_equal(said[3], said[1], "bytes of its mappings, after it was late")
        check_equal(program.end(), (0, "0 cut short, 0 lost\n"), "the program's end")
    no_copies_left()


@case("the library lets a process of its user trace it, when asked, and takes it back")
def tracer():
    log = os.path.join(scratch, "prctl.txt")
    me, other = str(os.getpid()), None
    with Waiting(need("strace"), "-f", "-e", "trace=prctl", "-e", "signal=none", "-o", log, *CALM):
        wait_for(lambda: glob.glob(os.path.join(segments, "heaptop-*")), "its segment")
        path = glob.glob(os.path.join(segments, "heaptop-*"))[0]
        # Without Yama the kernel knows no such call.
        right = ("0\n", "-22\n")[not os.path.exists("/proc/sys/kernel/yama")]
        check_equal(run([ASK, path, "tracer", me]).stdout.decode(), right, "what came of it")
        check_equal(run([ASK, path, "no-tracer"]).stdout.decode(), right, "what came of its end")
        with subprocess.Popen([need("setpriv"), "--reuid=1", "--clear-groups", "sleep", "100"]) as stranger:
            try:
                other = str(stranger.pid)
                wait_for(lambda: os.stat("/proc/" + other).st_uid == 1, "it is another user's")
                check_equal(run([ASK, path, "tracer", other]).stdout.decode(), "-1\n", "what came of a stranger's")
            finally:
                stranger.kill()
    with open(log, encoding="ascii") as f:
        called = re.findall(r"prctl\(PR_SET_PTRACER, (\d+)", f.read())
    check_equal(called, [me, "0"], "calls of prctl")


@case("where Yama leaves it to the program, the library is asked to allow it first")
def yama():
    """Without Yama in the kernel: a file that says so, and the call in vain, after which comes the copy."""
    fake = ("mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama /proc/sys/kernel/random && "
            "echo 1 >/proc/sys/kernel/yama/ptrace_scope && echo %s >/proc/sys/kernel/random/boot_id && exec \"$@\"")
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        boot = f.read().strip()
    log = os.path.join(scratch, "asked.txt")
    with Waiting(*CALM) as program:
        path = segment_of(program.pid)
        prefix = [need("unshare"), "-m", "sh", "-c", fake % boot, "sh"]
        done = run([*prefix, need("strace"), "-f", "-e", "trace=pwrite64", "-o", log, *REFUSED, HEAPTOP,
                    "--leak-check", "--format", "json", "-o", os.path.join(scratch, "yama.json"), "-a",
                    str(program.pid)])
        check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode())
        check(os.path.exists(path), "its segment is gone")
        leaks = leaks_in(os.path.join(scratch, "yama.json"))
        check_equal((leaks["failed"], leaks["how"]), (None, LENT), "the scan")
        check_equal(program.end(), (0, "0 cut short, 0 lost\n"), "the program's end")
    ask_at = int(run([ASK, "--where"]).stdout)
    with open(log, encoding="ascii") as f:
        asked = re.findall(r'pwrite64\(\d+, "\\(\d)\\0\\0\\0", 4, %d\)' % ask_at, f.read())
    check_equal([a for a in asked if a != "0"][:2], ["1", "3"], "what was asked for, in this order")


run_cases()
