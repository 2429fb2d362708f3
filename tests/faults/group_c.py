#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group C of the fault matrix: fork, exec, threads, signals, and the ways to end."""

import contextlib
import errno
import hashlib
import os
import re
import subprocess

from rows import deadline, fault_target, limit, row, run_rows, times
from sides import check_sides, child_of, children_of, held, launched
from proving import (HEAPTOP, LIBRARY, TARGETS, Skip, check, check_equal, check_truth,
                     environment, frames_of, listing, need, run, scratch, segment_files, sites_named, target,
                     total, truth_read, wait_for)

ACCOUNT = os.path.join(scratch, "account.json")
REENTRANT = os.path.join(os.path.dirname(TARGETS), "faults", "targets", "plugin", "reentrant.so")


def truth_sides(command, status=0, env=None, **how):
    """A truth program on both sides; its account and the report agree. Returns the report."""
    rep = check_sides(command, env={**(env or {}), "TRUTH": ACCOUNT}, status=status, **how)
    check_truth(rep, truth_read(ACCOUNT))
    return rep


def clean_start():
    """Without what the crashes of rows before have left."""
    for path in segment_files():
        os.unlink(path)


def frames_until(viewer, text, most=5000):
    """Reads a viewer's frames until a line of them has the text."""
    said = []
    while not said or text not in said[-1]:
        said.append(viewer.stdout.readline())
        check(said[-1] and len(said) < most, "the viewer never says %r, but: %s" % (
            text, b"".join(said[-20:]).decode(errors="replace")))


# ---- fork ------------------------------------------------------------------------------------------

@row("C1", "a lock that a thread holds at fork hangs the child")
def fork_storm():
    forks = times(400, 100000)
    rep = truth_sides([fault_target("fork_storm"), "8", str(forks)], timeout=limit(60, 1200))
    check(sites_named(rep, "site_small"), "nothing was recorded")


@row("C1b", "fork in a program that has cleared its environment: the child crashes")
def forks_without_environment():
    check_sides([fault_target("no_environment")])


@row("C2", "fork in a handler that interrupted a hook: the child goes on inside it")
def fork_in_handler():
    truth_sides([fault_target("fork_in_handler"), str(times(150, 5000))], timeout=limit(60, 600))


def contents(path):
    """A digest of a segment's data; its holes are passed over."""
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        at, end = 0, os.fstat(f.fileno()).st_size
        while at < end:
            try:
                at = os.lseek(f.fileno(), at, os.SEEK_DATA)
            except OSError:
                break  # nothing but a hole from here on
            until = os.lseek(f.fileno(), at, os.SEEK_HOLE)
            digest.update(b"%d " % at)
            while at < until:
                data = os.pread(f.fileno(), min(until - at, 1 << 20), at)
                digest.update(data)
                at += len(data)
    return digest.hexdigest()


def segment_stays(way, mallocs, untouched=True):
    """The parent's segment is there before and after a child's life and says that it runs; untouched: it
    is the same, bit for bit."""
    env = environment(LD_PRELOAD=LIBRARY, TRUTH=ACCOUNT)
    before = set(segment_files())
    with subprocess.Popen([fault_target("fork_ways"), way, str(mallocs)], env=env, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        check_equal(process.stdout.readline(), b"ready\n", way + ": what it says first")
        mine = sorted(set(segment_files()) - before)
        check_equal(len(mine), 1, way + ": segments before the child")
        first = contents(mine[0])
        process.stdin.write(b"\n")
        process.stdin.flush()
        check_equal(process.stdout.readline(), b"done\n", way + ": what it says then")
        check_equal(sorted(set(segment_files()) - before), mine, way + ": segments after it")
        check(not untouched or contents(mine[0]) == first, way + ": the child has changed its parent's segment")
        text = listing()
        check(re.search(r"^ *%d running " % process.pid, text, re.M), "%s: %d is not in: %s" % (way, process.pid, text))
        process.communicate(b"\n")
    check_equal(process.returncode, 0, way + ": exit status")


def launched_runs_on(way):
    """The end of a child that shares its parent's memory is not the parent's, in a launch, either."""
    with held([fault_target("fork_ways"), way, "0"], "launched", says=b"ready\n", then=b"done\n") as parent:
        check(re.search(r"^ *%d running " % parent.pid, listing(), re.M), "%s: not running: %s" % (way, listing()))


@row("C3", "a forked child goes on writing into its parent's segment")
def child_silent():
    mallocs = times(100000, 1000000)
    for way in ("fork", "daemon"):
        segment_stays(way, mallocs)
        truth_sides([fault_target("fork_ways"), way, str(mallocs)])


@row("C3a", "forked children go unrecorded, and nobody says so")
def forked_children_told():
    with subprocess.Popen([HEAPTOP, "-b", "-d", "0.1", "--no-follow-fork", "--", fault_target("prefork"), "3"],
                          env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as viewer:
        frames_until(viewer, b"3 of its children are not recorded")
        parent = child_of(viewer.pid)
        with open("/proc/%d/task/%d/children" % (parent, parent), encoding="utf-8") as f:
            worker = f.read().split()[0]
        done = run([HEAPTOP, "-b", "-n", "1", "-a", worker])
        check_equal(done.returncode, 125, "status of -a of a forked child")
        check(b"process %d forked it" % parent in done.stderr, "-a says: %s" % done.stderr)
        out, _ = deadline.finish(viewer, 30)
    check(b"3 of its children were not recorded" in out, "the last frame does not say so")
    check_equal(viewer.returncode, 0, "exit status")


def figures(rep):
    return tuple(rep["totals"][name] for name in ("allocs", "frees", "live_blocks", "unknown_frees"))


@row("C3b", "the heap of forked workers has no owner: each worker has a segment of its own, from the fork on")
def forked_children_recorded():
    for options in ([], ["--sample", "exact"]):
        rep = check_sides([fault_target("prefork"), "3"], options=options)
        check_equal([p["process"]["forked"] for p in [rep] + rep["children"]], [False, True, True, True], "forked")
        # 100 blocks of its own, and 30 that it had from its parent.
        check_equal([figures(p) for p in rep["children"]], [(100, 100, 0, 30)] * 3, "figures of the children")
        check_equal(figures(rep), (130, 130, 0, 0), "figures of their parent")
        check(sites_named(rep["children"][2], "work"), "no name is resolved in a child")
    # While they run, each can be attached to.
    clean_start()
    with held([fault_target("prefork"), "2"], "preloaded", says=b"ready\n") as parent:
        for worker in children_of(parent.pid):
            done = run([HEAPTOP, "-b", "-n", "1", "-a", str(worker)])
            check(b"102.5k in 100 blocks" in done.stdout, "-a of a worker: %s" % (done.stdout + done.stderr))
            check(b"forked by process %d" % parent.pid in done.stdout, "no word of its parent: %s" % done.stdout)
    wait_for(lambda: not segment_files(), "the segments to go")


@row("C3c", "a child forks only to exec: what it was in between stays as a child of its own")
def passing_children():
    rep = check_sides(["bash", "-c", "%s 1; %s 1 & wait; exit 5" % (2 * (fault_target("exec_self"),))], status=5)
    check_equal(sorted(p["process"]["command"][0] for p in rep["children"]), [fault_target("exec_self")] * 2,
                "children and images")


@row("C3d", "a forked child of a program in a sandbox dies of what its segment takes")
def sandboxed_fork():
    plain = run([fault_target("sandbox_fork")], stdin=b"\n")
    check_equal((plain.returncode, plain.stdout), (0, b"ready\nchild: 0\n"), "alone")
    with subprocess.Popen([HEAPTOP, "-b", "-d", "0.1", "--", fault_target("sandbox_fork")], env=environment(),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as viewer:
        frames_until(viewer, b"children that it forks are not recorded")
        out, err = viewer.communicate(b"\n", timeout=30)
    check(b"child: 0" in out + err, "the child: %s" % (out + err))
    check_equal(viewer.returncode, 0, "exit status")


@row("C4", "raw clone and clone3 run no handler of libc's")
def child_by_clone():
    for way in ("clone", "clone3"):
        segment_stays(way, times(100000, 1000000))
        truth_sides([fault_target("fork_ways"), way, "20000", "10"])


@row("C5", "vfork and posix_spawn children run in their parent's memory")
def child_in_our_memory():
    for way in ("vfork", "vfork_exit", "clone_exit"):
        segment_stays(way, 0, untouched=False)
        launched_runs_on(way)
        rep = truth_sides([fault_target("fork_ways"), way, "0", "50"])
        check_equal(total(sites_named(rep, "site_shared"), "live_blocks"), 50, "blocks that they left")
    truth_sides([fault_target("fork_ways"), "spawn", "0", str(times(100, 1000))], options=["--no-follow"],
                timeout=limit(60, 300))


@row("C7", "what a thread remembers of its process is wrong after fork")
def threads_in_child():
    check_sides([target("sampled_fork")])
    check_sides([target("sampled_fork")], options=["--sample", "64K"])
    truth_sides([target("truth_fork")])


@row("C16", "a handler of pthread_atfork runs at the wrong time among the program's")
def atfork_order():
    rep = check_sides([fault_target("fork_handlers")])
    # What the handlers do in the child is recorded there: each frees what the one before left.
    check_equal([figures(p) for p in rep["children"]], [(3, 3, 0, 1)] * 3 + [(0, 0, 0, 0)], "in the children")
    symbols = run([need("nm"), "-D", "-u", LIBRARY]).stdout.decode()
    check("atfork" not in symbols, "the library registers handlers")


# ---- forks inside libc -----------------------------------------------------------------------------

def told(*words):
    """daemons with these words, as a command that ends when all its processes have."""
    return ["bash", "-c", "set -o pipefail; %s | cat" % " ".join((fault_target("daemons"),) + words)]


def halves(rep):
    """The parts of the process that forked, and of its child."""
    parts = [p for p in rep["children"] if p["process"]["command"][0] == fault_target("daemons")]
    check_equal(sorted(p["process"]["forked"] for p in parts), [False, True], "parts that are of it: forked")
    return sorted(parts, key=lambda p: p["process"]["forked"])


def lost_by(part):
    """Blocks and bytes that its scan found lost, by the function that made them."""
    check(part["leaks"] and part["leaks"]["failed"] is None, "no scan: %s" % part["leaks"])
    return [(s["class"], s["stack"][0]["function"], s["blocks"], s["bytes"]) for s in part["leaks"]["sites"]
            if s["class"] != "reachable"]


LOST = [("definite", "lose", 7, 7 * 321)]
FAILING = ("clone %d" % errno.EAGAIN, "setsid %d" % errno.EPERM, "openat %d" % errno.EMFILE, "fstat %d" % errno.EIO,
           "chdir %d" % errno.EACCES, "dup2 %d" % errno.EBADF)


@row("C19", "daemon(3) forks inside libc: the daemon is lost, its parent seems to crash, or it acts otherwise")
def daemons():
    for words in (("0", "0"), ("1", "1"), ("0", "1"), ("1", "0"), ("0", "0", "closed")):
        parent, child = halves(check_sides(told("daemon", *words), options=["--leak-check"]))
        check_equal((lost_by(parent), lost_by(child)), ([], LOST), "lost with %s" % (words,))
        check_equal(total(sites_named(child, "in_child"), "live_bytes"), 1003, "of the handler in the child")
        check_equal(total(sites_named(parent, "in_parent"), "live_bytes"), 1002, "of the handler in the parent")
        check_equal([p["process"]["state"] for p in (parent, child)], ["exited"] * 2, "states")
    for words in FAILING:
        check_sides(told("daemon", "0", "0", words), status=9 if words.startswith("clone") else 0)


@row("C19a", "daemon(3) takes for /dev/null what is none")
def no_null():
    other = os.path.join(scratch, "null")
    open(other, "wb").close()
    inside = "mount --bind %s /dev/null && exec %s daemon 0 0 | cat" % (other, fault_target("daemons"))
    if run(["unshare", "-rm", "sh", "-c", "mount --bind %s /dev/null" % other]).returncode != 0:
        raise Skip("nothing can be mounted here")
    check(os.strerror(errno.ENODEV).encode() in run(["unshare", "-rm", "sh", "-c", inside]).stdout, "no ENODEV alone")
    check_sides(["unshare", "-rm", "sh", "-c", inside])


@row("C19b", "a daemon cannot be watched, or the reason given for one that is not recorded is wrong")
def daemons_told():
    clean_start()
    for way, status, says in (("wait", 0, "in 8 blocks"), ("clone", 125, "created by clone(2)")):
        with subprocess.Popen([fault_target("daemons"), way], env=environment(LD_PRELOAD=LIBRARY), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            daemon = int(process.stdout.readline())
            check_equal(process.wait(), 0, way + ": status of its parent")
            done = run([HEAPTOP, "-b", "-n", "1", "-a", str(daemon)])
            check_equal(done.returncode, status, way + ": status of -a: %s" % done.stderr)
            check(says in (done.stdout + done.stderr).decode(), "%s: -a says: %s" % (way, done.stdout + done.stderr))
    wait_for(lambda: not segment_files(), "the segments to go")


@row("C20", "forkpty(3) forks inside libc: what goes on behind the terminal is lost")
def terminals():
    parent, child = halves(check_sides(told("forkpty"), options=["--leak-check"]))
    check_equal((lost_by(parent), lost_by(child)), (LOST, LOST), "lost")
    check_equal(total(sites_named(child, "in_child"), "live_bytes"), 1003, "of the handler in the child")
    check_equal([p["process"]["state"] for p in (parent, child)], ["exited"] * 2, "states")
    check_sides(told("forkpty", "clone %d" % errno.EAGAIN), status=9)


@row("C21", "a library has something of its own by the name of daemon or forkpty, and gets ours")
def names_kept():
    check_sides([fault_target("own_daemon")])
    # Another one that is preloaded and has them for the program: it keeps them, and its fork is seen.
    env = {"LD_PRELOAD": os.path.join(os.path.dirname(fault_target("daemons")), "plugin", "no_daemon.so")}
    check_sides([fault_target("daemons"), "daemon", "1", "1"], env=env, status=9, stderr=False)
    parent, child = halves(check_sides(told("forkpty"), env=env, options=["--leak-check"]))
    check_equal((lost_by(parent), lost_by(child)), (LOST, LOST), "lost")


# ---- exec ------------------------------------------------------------------------------------------

def images_of(rep):
    """(pid, bytes) of each image, the earliest first; bytes as exec_self allocates them."""
    return [(p["process"]["pid"], total(sites_named(p, "site_image"), "alloc_bytes"))
            for p in rep["children"] + [rep]]


@row("C6", "exec: the dead image's segment looks alive, or the next takes it over")
def exec_chain():
    clean_start()
    images = times(20, 100)
    rep = check_sides([fault_target("exec_self"), str(images)], status=7, timeout=120)
    if images < 64:
        check_equal(images_of(rep), [(rep["process"]["pid"], 1000 + n) for n in range(images, 0, -1)], "images")
    check_equal({p["process"]["state"] for p in rep["children"]}, {"gone"}, "state of those before")
    check_equal(rep["process"]["exit_status"], 7, "status in the report")
    check_equal(segment_files(), [], "segments left")
    if images > 64:
        check_equal(len(rep["children"]), 64, "images kept")
        check("%d more" % (images - 65) in rep["notice"], "notice: %s" % rep["notice"])


@row("C6a", "programs that are started: each a segment of its own; --no-follow leaves them alone")
def followed():
    clean_start()
    script = "%s 2; %s 1 & wait; exit 5" % (fault_target("exec_self"), fault_target("exec_self"))
    rep = check_sides(["sh", "-c", script], status=5)
    check_equal(sorted(size for _, size in images_of(rep)), [0, 1001, 1001, 1002], "bytes of each image")
    check_equal(len({p["process"]["pid"] for p in rep["children"] + [rep]}), 3, "processes")
    rep = check_sides(["sh", "-c", script], status=5, options=["--no-follow"])
    check_equal(rep["children"], [], "children with --no-follow")
    # What is alone is the process, not its first image.
    rep = check_sides([fault_target("exec_self"), "3"], status=7, options=["--no-follow"])
    check_equal([size for _, size in images_of(rep)], [1003, 1002, 1001], "images with --no-follow")
    with held(["sh", "-c", "%s wait; true" % target("crash")], "launched", says=b"ready\n") as shell:
        text = listing()
        for process, name in ((shell.pid, "sh -c"), (child_of(shell.pid), ".*/crash w")):
            check(re.search(r"^ *%d running .*%s" % (process, name), text, re.M), "%d is not in: %s" % (process, text))
    wait_for(lambda: not segment_files(), "the segments to go")


@row("C6b", "env -i, and what cannot be preloaded: the recording ends, and nobody says so")
def environment_emptied():
    command = [fault_target("exec_self"), "2", "env", "-i", target("crash"), "wait"]
    rep = check_sides(command, status=5)
    check("cannot be recorded" in (rep["notice"] or ""), "notice of the report: %s" % rep["notice"])
    check_equal(rep["process"]["exit_status"], 5, "status in the report")
    viewer = subprocess.Popen([HEAPTOP, "-b", "-d", "0.1", "--", *command], env=environment(), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    frames_until(viewer, b"runs on without the library")
    out, _ = deadline.finish(viewer, 30)
    check(b"recording ended when the program called exec" in out, "the last frame does not say so")
    check_equal(viewer.returncode, 5, "exit status")


# ---- threads and signals ---------------------------------------------------------------------------

@row("C8", "a thread of the recorder's own takes signals, or forbids unshare")
def no_thread():
    if run([need("unshare"), "-r", "true"]).returncode != 0:
        raise Skip("no user namespace can be made here")
    check_sides(["unshare", "-r", "id", "-u"])
    check_sides([fault_target("alone_inside")])


@row("C9", "a storm of signals while threads allocate")
def signal_storm():
    truth_sides([fault_target("signal_storm"), "count", str(times(500, 60000)), "4"], timeout=limit(60, 300))


def sites_at(rep, function):
    """Sites whose innermost frame it is: a handler's stack goes on in what it interrupted."""
    return [s for s in rep["sites"] if frames_of(s)[:1] == [function]]


@row("C10", "a handler that allocates leaves a half-written record, or is lost in silence")
def handler_allocates():
    for threads in ("1", "4"):
        rep = check_sides([fault_target("signal_storm"), "allocate", str(times(250, 10000)), threads],
                          env={"LD_PRELOAD": REENTRANT, "TRUTH": ACCOUNT}, timeout=limit(60, 300))
        truth = {s["name"]: s for s in truth_read(ACCOUNT)["sites"]}
        totals = rep["totals"]
        for name in ("site_main", "site_grown"):
            check_equal(total(sites_at(rep, name), "allocs"), truth[name]["allocs"], name)
        known = total(sites_at(rep, "site_handler") + sites_at(rep, "(stack not recorded)"), "allocs")
        check_equal(known + totals["untracked_blocks"], truth["site_handler"]["allocs"],
                    "the handlers' blocks, with those untracked")
        check(totals["untracked_blocks"] > 0, "no handler came while a hook was at work")
        check_equal(totals["unknown_frees"], 0, "unknown frees")
        check_equal(total(sites_at(rep, "site_handler"), "live_bytes"), 0, "live bytes of handlers")


STACK_MOST = 3072  # bytes that a hook may take more than the allocator: handlers have 2 KB at least


@row("C11", "a small stack overflows in the recorder")
def small_stacks():
    def used(done):
        check_equal(done.returncode, 0, "exit status")
        return {kind: int(number) for kind, number in (line.split() for line in done.stdout.decode().splitlines())}
    plain = used(run([fault_target("small_stack")]))
    done, _ = launched([fault_target("small_stack")])
    watched = used(done)
    for kind in plain:
        check(watched[kind] <= plain[kind] + STACK_MOST, "%s: %d bytes, plain %d" % (kind, watched[kind], plain[kind]))


@row("C12", "stacks that are no thread's: contexts in mapped and in malloc'ed memory")
def contexts():
    truth_sides([target("truth_jumps")])
    done, rep = launched([fault_target("small_stack")])
    check_equal(done.returncode, 0, "exit status")
    # The frame below the context's first function is not followed out of its stack.
    names = [frames_of(s) for s in sites_named(rep, "in_context")]
    check(names and all("main" not in n for n in names), "stacks in a context: %s" % names[:3])


@row("C13", "a signal handler of the recorder's own shows, or is in another's way")
def no_handler():
    check_sides([target("quiet_loop"), "state"])


@row("C14", "a hook changes errno")
def errno_kept():
    check_sides([target("errno_kept")])
    check_sides([target("errno_kept")], options=["--sample", "64K"])


WAYS_TO_END = {"return": 6, "exit": 7, "destructor": 8, "_exit": 9, "quick_exit": 10, "abort": 134}


@row("C15", "the ways to end, while threads still allocate")
def ways_to_end():
    for way, status in WAYS_TO_END.items():
        rep = check_sides([fault_target("exit_busy"), way], status=status, stderr=way != "abort")
        check_equal(rep["process"]["state"], "exited", way + ": state")
        check_equal(rep["totals"]["unknown_frees"], 0, way + ": unknown frees")
        check(way == "abort" or not rep["notice"], "%s: notice %s" % (way, rep["notice"]))
        # Each thread holds 32 blocks, and was stopped in the middle of one event at most.
        held = total(sites_named(rep, "busy"), "live_blocks")
        check(4 * 31 <= held <= 4 * 33, "%s: %d blocks live" % (way, held))
    for way, status in (("", 0), ("_exit", 7), ("quick_exit", 7), ("thread", 7), ("abort", 134)):
        truth_sides([target("truth_exit")] + [way] * bool(way), status=status, stderr=way != "abort")


IN_NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc"]


@contextlib.contextmanager
def in_namespaces(count):
    """So many programs, all begun at once, each the first of a pid namespace: (pid here, account)."""
    def begin(account):
        return subprocess.Popen([*IN_NAMESPACE, target("crash"), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                env=environment(LD_PRELOAD=LIBRARY, TRUTH=account))
    accounts = [os.path.join(scratch, "account.%d" % n) for n in range(count)]
    outer = [begin(a) for a in accounts]
    try:
        for process in outer:
            check_equal(process.stdout.readline(), b"ready\n", "what it says first")
        yield [(child_of(process.pid), account) for process, account in zip(outer, accounts)]
    finally:
        for process in outer:
            process.communicate()
    check_equal([process.returncode for process in outer], [5] * count, "statuses")


@row("C17", "in a pid namespace: the numbers are of there, and two processes have the same")
def pid_namespaces():
    if run([*IN_NAMESPACE, "true"]).returncode != 0:
        raise Skip("no pid namespace can be made: " + run([*IN_NAMESPACE, "true"]).stderr.decode())
    clean_start()
    with in_namespaces(4) as programs:
        text = listing()
        for pid, account in programs:
            check(re.search(r"^ *%d running .*/crash w" % pid, text, re.M), "%d is not in: %s" % (pid, text))
            done = run([HEAPTOP, "-b", "-n", "1", "-a", str(pid)])
            check(b"488.8k in 1,000 blocks" in done.stdout, "-a %d: %s" % (pid, done.stdout + done.stderr))
        files = segment_files()
        check_equal(run([HEAPTOP, "--clean"]).stdout, b"0 segments of ended programs removed\n", "--clean")
        inside = run([*IN_NAMESPACE, HEAPTOP, "-l"]).stdout.decode()
        check_equal(inside.count(" elsewhere "), len(files), "segments listed as elsewhere, in another namespace")
        run([*IN_NAMESPACE, HEAPTOP, "--clean"])
        check_equal(segment_files(), files, "segments after --clean")
    check_equal(segment_files(), [], "segments left")
    done, rep = launched([*IN_NAMESPACE, target("truth_apis")], env={"TRUTH": ACCOUNT})
    check_equal(done.returncode, 0, "exit status")
    check_truth([p for p in rep["children"] if p["process"]["command"] == [target("truth_apis")]][0], truth_read(ACCOUNT))


@row("C18", "restartable sequences, robust mutexes, protection keys: the thread's, not ours")
def thread_registers():
    check_sides([fault_target("thread_registers")])


run_rows()
