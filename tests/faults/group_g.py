#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group G of the fault matrix: attaching to programs that were not started under heaptop, and detaching. The programs
(targets/attach_*.c) check themselves all the time; a row attaches and detaches, compares what of the process must be the
same, and the figures with the program's own. Long because each trap and each kind of program is a row of one table."""

import ctypes
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time

from rows import deadline, fault_target, rounds, row, run_rows, times
from proving import (B, HEAPTOP, LIBRARY, TARGETS, Skip, allocator, check, check_equal, environment, frames_of, heap_sites, need,
                     run, scratch, segment_files, segments, total, wait_for)
from attached_programs import Page, Same, begin, check_image, check_nothing_left, cycles, end, refused, running, watched
from sides import children_of
from tight import as_nobody, can_mount

PLUGIN = os.path.join(TARGETS, "plugin", "one.so")
JEMALLOC_INSIDE = os.path.join(B, "tests", "faults", "targets", "inner", "attach_threads")
PR_GET_MDWE = 66
BEFORE = "before attach"  # in the name of each site of older blocks


def preload(library):
    return {"LD_PRELOAD": allocator(library)} if library else {}


def is_before(site):
    return any(BEFORE in (name or "") for name in frames_of(site))


def born(report):
    """The sites of what was allocated since."""
    return [s for s in heap_sites(report) if not is_before(s)]


def of_program(report, *names):
    """The sites with one of these functions on the stack."""
    return [s for s in born(report) if set(names) & set(frames_of(s))]


# ---- the traps ------------------------------------------------------------------------------------

@row("G1", "a forked child inherits a request that is pending, and deadlocks on the loader's lock")
def pending_forked():
    with running("attach_forks", PLUGIN) as program:
        for _ in rounds(times(6, 1000)):
            begin(program.pid)
            ended = program.alive()["children"]
            end(program.pid)
            wait_for(lambda so_far=ended: program.alive()["children"] >= so_far + 4, "children end")


def workers(program, many):
    wait_for(lambda: program.alive()["arrived"] >= many, "the workers run")
    return children_of(program.pid)


@row("G2", "a child that was forked while its parent was attached keeps the patches for ever")
def forked_detached():
    with running("attach_prefork", 3) as program:
        same = Same(program.pid)
        begin(program.pid)
        program.page.write(phase=1)
        pids = workers(program, 3)
        end(program.pid)
        same.check()
        for pid in pids:
            program.goes_on()
            end(pid)
            check_image(same.image, pid)
            check_nothing_left(pid)
        begin(pids[0])
        program.goes_on(20)
        end(pids[0])
        program.page.write(arrived=0, phase=2)
        for pid in workers(program, 3):
            check_image(same.image, pid)


def check_account(report, words, what):
    """Blocks born since, as the program knows them."""
    sites = of_program(report, "attach_born", "attach_grown")
    for field in ("allocs", "frees", "alloc_bytes", "live_bytes", "live_blocks"):
        check_equal(total(sites, field), words[field], "%s, %s" % (what, field))
    for field in ("untracked_blocks", "untracked_bytes", "lost_events"):
        check_equal(report["totals"][field], 0, "%s, %s" % (what, field))


def accounts(library):
    with running("attach_threads", 4, "account", **preload(library)) as program:
        program.arrived(4)
        for number in range(1, 1 + times(2, 20)):
            begin(program.pid)
            words = program.phase(number, 4)
            report = watched(program.pid)
            check_account(report, words, library or "glibc")
            end(program.pid)


ENTRIES = "entries call entries, or are called past: counts against the program's, "


@row("G3a", ENTRIES + "glibc")
def counts():
    accounts(None)


@row("G3b", ENTRIES + "jemalloc")
def counts_jemalloc():
    accounts("libjemalloc.so.2")


@row("G3c", ENTRIES + "tcmalloc")
def counts_tcmalloc():
    accounts("libtcmalloc_minimal.so.4")


@row("G3d", ENTRIES + "mimalloc")
def counts_mimalloc():
    accounts("libmimalloc.so.2")


@row("G4", "the program brings its allocator along, and patching libc alone sees nothing")
def allocator_inside():
    if not os.path.exists(JEMALLOC_INSIDE):
        raise Skip("there is no static jemalloc")
    with running("inner/attach_threads", 4, "account") as program:
        program.arrived(4)
        same = Same(program.pid)
        begin(program.pid)
        words = program.phase(1, 4)
        check_account(watched(program.pid), words, "jemalloc inside the program")
        end(program.pid)
        same.check()


@row("G5", "a seccomp filter kills the program for a call that attaching makes, or the recorder later")
def sandboxed():
    """Only root may suspend filters, and read them. A filter that the recorder could not live with is a refusal."""
    with running("attach_sandbox") as program:
        if os.geteuid() == 0:
            cycles(program, times(3, 100))
        else:
            refused(program.pid, says="seccomp")
            program.goes_on()
    for how, call in (("tight", "m"), ("nameless", "getpid")):
        with running("attach_sandbox", how) as program:
            refused(program.pid, says="its seccomp filter forbids " + call if os.geteuid() == 0 else "seccomp")
            program.goes_on()


def killed_after(command, after_s):
    """A viewer that is killed so much later."""
    with subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        time.sleep(after_s)
        process.kill()


def cleared_up(program, same):
    begin(program.pid)
    program.goes_on()
    end(program.pid)
    same.check()


def killed_at_random(program, often, longest_s):
    """While they attach, while they watch, while they detach. Every few times the next viewer must find all in order,
    and leave it so."""
    rng = random.Random(1)
    same = Same(program.pid)
    for i in rounds(often):
        if i % 3 == 2:
            begin(program.pid)
            killed_after([HEAPTOP, "--detach", str(program.pid)], rng.random() * longest_s / 3)
        else:
            killed_after([HEAPTOP, "-b", "--keep", "-o", "/dev/null", "-a", str(program.pid)], rng.random() * longest_s)
        program.goes_on()
        if i % 5 == 4:
            cleared_up(program, same)
    cleared_up(program, same)


@row("G6", "a viewer killed while it hands the library over as a descriptor leaves that open")
def descriptor_closed():
    """The program cannot see the library's file: it has mounts of its own."""
    can_mount()
    hidden = ["unshare", "-m", "sh", "-ec", 'mount -t tmpfs none "$0"; exec "$@"', os.path.dirname(os.path.realpath(HEAPTOP))]
    copy = "/tmp/attach_threads-%d" % os.getpid()
    run(["cp", fault_target("attach_threads"), copy])
    try:
        with running("attach_threads", 2, "idle", prefix=hidden, instead=copy) as program:
            same = Same(program.pid)
            killed_at_random(program, times(10, 500), 0.15)
            same.check()
    finally:
        os.unlink(copy)


@row("G7", "a viewer is killed at any moment: registers, descriptors, code or a stopped thread are left")
def killed():
    with running("attach_threads", 4, "churn") as program:
        killed_at_random(program, times(10, 1000), 0.3)


@row("G8", "the stack of the thread that is borrowed is small, or foreign: what lies below is overwritten")
def small_stacks():
    with running("attach_coroutines", 12288) as program:
        cycles(program, times(4, 1000))
    with running("attach_handler", "small") as program:
        cycles(program, times(3, 200))


@row("G9", "a child of vfork shares the memory, is no thread, and is still in the old code")
def vforks():
    for how in ("alone", "with"):
        with running("attach_vfork", how) as program:
            before = program.alive()["children"]
            cycles(program, times(3, 1000), steady=False)
            wait_for(lambda b=before: program.alive()["children"] > b, "children end")


WAITS = ("nanosleep", "clock_nanosleep", "poll", "ppoll", "select", "epoll", "futex", "condition", "semaphore",
         "signal", "read", "receive", "child")


@row("G10", "a wait is cut short, ends early, or has another result or errno, since its thread was borrowed")
def waits():
    """The programs have one thread each, which sleeps nearly all the time, without and with allocations."""
    for number, wait in enumerate(WAITS):
        with running("attach_asleep", wait, *["alloc"] * (number % 2)) as program:
            cycles(program, times(1, 1000), steady=wait != "child")


@row("G12", "all blocks come from inside libc, so that no call of malloc has a caller that will do")
def libc_only():
    with running("attach_computes", "free") as program:
        cycles(program, times(3, 1000))


@row("G14", "blocks from before are taken for new ones, or counted twice, or never given back")
def before():
    """Every thread frees old blocks and gets their addresses again. The sums are in usable bytes, and the program's
    own within one in a thousand: libc and the loader have some blocks, too."""
    with running("attach_threads", 4, "account") as program:
        held = program.arrived(4)
        first = begin(program.pid)["totals"]
        for field, want in (("before_bytes", held["held_bytes"]), ("before_blocks", held["held_blocks"])):
            check(abs(first[field] - want) <= want / 1000 + 64, "%s is %d, the program has %d" % (field, first[field], want))
        words = program.phase(1, 4)
        report = watched(program.pid)
        old = [s for s in heap_sites(report) if is_before(s)]
        check_equal(total(old, "frees"), words["old_freed"], "frees of older blocks")
        check_equal(first["before_bytes"] - total(old, "live_bytes"), words["old_freed_bytes"], "bytes of those")
        end(program.pid)


@row("G15", "after a detach and another attach, the table of the first one is believed")
def attached_again():
    with running("attach_threads", 4, "account") as program:
        program.arrived(4)
        for number in range(1, 4):
            begin(program.pid)
            report = watched(program.pid) if program.phase(number, 4) else None
            check_account(report, program.alive(), "time %d" % number)
            end(program.pid)
            program.page.write(arrived=0, phase=number)
    check_equal([f for f in os.listdir(segments) if str(program.pid) in f], [], "segments left")


# ---- kinds of programs ----------------------------------------------------------------------------

@row("G16", "threads that allocate lose a block, or find a byte changed")
def allocating():
    with running("attach_threads", 8, "churn") as program:
        cycles(program, times(4, 1000))


@row("G17", "two hundred threads: one is missed, or stays stopped")
def many_threads():
    with running("attach_threads", 200, "idle") as program:
        cycles(program, times(3, 1000))


@row("G18", "threads come and go, children, plugins, and a handler that leaves by siglongjmp, all at once")
def storm():
    with running("attach_storm", PLUGIN) as program:
        cycles(program, times(4, 1000), steady=False, of=lambda name: name != PLUGIN)
        ended = program.alive()["children"]
        wait_for(lambda: program.alive()["children"] > ended, "children end")


@row("G19", "a register of a thread that computes is not what it was: vectors, masks, x87, control words")
def computing():
    with running("attach_computes", "alloc") as program:
        cycles(program, times(3, 1000))


@row("G20", "the only thread is in a handler, or never allocates: it is borrowed nevertheless")
def refused_unprovable():
    for name, how, says in (("attach_handler", "alone", "could be used"), ("attach_handler", "raised", "could be used"),
                            ("attach_computes", "never", "malloc")):
        with running(name, how) as program:
            program.goes_on()
            wait_for(lambda p=program.pid: deadline.old_enough(p), "a second")
            same = Same(program.pid)
            for _ in range(times(1, 20)):
                refused(program.pid, "--attach-timeout", "1", says=says)
                program.goes_on()
                same.check()
    for how in ("with", "waited"):
        with running("attach_handler", how) as program:
            cycles(program, times(3, 200))


@row("G20a", "while no thread can be used at all, the viewer says nothing, and a signal does not end it")
def waits_audibly():
    with running("attach_handler", "alone") as program:
        program.goes_on()  # in its handler
        same = Same(program.pid)
        with subprocess.Popen([HEAPTOP, "-b", "-n", "1", "--attach-timeout", "1h", "-a", str(program.pid)], env=environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as viewer:
            line = viewer.stderr.readline()
            check(b"attaching to process %d: none of its threads can be used now" % program.pid in line, line)
            viewer.send_signal(signal.SIGINT)
            _, err = deadline.finish(viewer, 60)
            check_equal(viewer.returncode, 125, "status")
            check(b"gave up attaching to process %d: it is unchanged" % program.pid in err, err)
        program.goes_on()
        same.check()


@row("G20b", "a stack cannot be followed (Go): the program is refused, or a thread that libc has called is borrowed")
def stack_unknown():
    for how in ("waits", "malloc"):
        with running("attach_raw", how) as program:
            cycles(program, times(3, 1000))
    for how, says in (("callback", "perhaps called by libc"), ("handler", "perhaps in a signal handler"), ("within", "could be used")):
        with running("attach_raw", how) as program:
            program.goes_on()
            wait_for(lambda p=program.pid: deadline.old_enough(p), "a second")
            same = Same(program.pid)
            refused(program.pid, "--attach-timeout", "1", says=says)
            program.goes_on()
            same.check()


GO = """package main

/*
#include <stdlib.h>
static void *take(size_t n) { return malloc(n); }
static void give(void *p) { free(p); }
*/
import "C"
import ("bufio"; "fmt"; "os"; "sync/atomic"; "time")

func main() {
	var pairs, turns uint64
	for n := 0; n < 4; n++ {
		go func() { for { C.give(C.take(100)); atomic.AddUint64(&pairs, 1) } }()
	}
	go func() { for { _ = make([]byte, 1000); atomic.AddUint64(&turns, 1) } }()
	go func() { for { time.Sleep(time.Millisecond) } }()
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\\n')
		if err != nil { os.Exit(5) }
		p, t := atomic.LoadUint64(&pairs), atomic.LoadUint64(&turns)
		for atomic.LoadUint64(&pairs) < p + 100 || atomic.LoadUint64(&turns) < t + 100 { time.Sleep(time.Millisecond) }
		fmt.Print(line)
	}
}
"""


class Go:
    """A Go program with cgo that computes, collects its garbage and calls malloc, on all of its threads."""

    def __init__(self, folder):
        source, program = os.path.join(folder, "main.go"), os.path.join(folder, "gone")
        with open(source, "w", encoding="utf-8") as f:
            f.write(GO)
        built = run([need("go"), "build", "-ldflags", "-s -w", "-o", program, source], timeout=600, env=environment(
            GOCACHE=os.path.join(folder, "cache"), GOPATH=folder, GO111MODULE="off", CGO_ENABLED="1"))
        check_equal(built.returncode, 0, built.stderr.decode(errors="replace"))
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
        self.pid = self.process.pid
        self.goes_on()

    def goes_on(self):
        self.process.stdin.write(b"on\n")
        self.process.stdin.flush()
        check_equal(self.process.stdout.readline(), b"on\n", "its answer")

    def end(self):
        out, _ = deadline.finish(self.process, 60)
        check_equal((out, self.process.returncode), (b"", 5), "how it ended")


@row("G20c", "a Go program with cgo is refused, or its own threads and signals go wrong")
def go_program():
    need("go")
    with tempfile.TemporaryDirectory(prefix="attach-go-") as folder:
        program = Go(folder)
        try:
            cycles(program, times(3, 1000), steady=False)
            begin(program.pid)
            program.goes_on()
            # Four threads are allocating while the counters are read.
            sites = [s for s in born(begin(program.pid)) if s["allocs"] > 100 and round(s["alloc_bytes"] / s["allocs"]) == 100]
            check(sites, "its blocks are not recorded")
            end(program.pid)
            program.end()
        finally:
            deadline.kill_family(program.pid)


@row("G21", "children of an attached program, and what they execute, are not recorded as those of a launched one")
def children_recorded():
    with running("attach_prefork", 2) as program:
        begin(program.pid)
        program.page.write(phase=1)
        pids = workers(program, 2)
        program.goes_on(10)
        for pid in pids:
            report = begin(pid)
            check(total(born(report), "allocs") > 0, "nothing of worker %d was recorded" % pid)
            end(pid)
        end(program.pid)


def carries_library(pid):
    with open("/proc/%d/maps" % pid, encoding="utf-8", errors="replace") as f:
        return "libheaptop.so" in f.read()


def executed(program, phase):
    """The process that executes the command, when that is ready; it must have been started with the library."""
    program.page.write(phase=phase)
    pid = wait_for(lambda: children_of(program.pid), "a child")[0] if phase < 3 else program.pid
    command = fault_target("attach_asleep")
    wait_for(lambda: os.path.exists("/proc/%d/exe" % pid) and os.readlink("/proc/%d/exe" % pid) == command, "it is executed")
    wait_for(lambda: carries_library(pid), "the library is there")
    return pid


SAYS = b"ready\n0 wrong \n"  # of the command, each time


@row("G21a", "what an attached program executes is not recorded any more: fork, posix_spawn, in its own place")
def executes():
    page = Page()
    command = [fault_target("attach_asleep"), page.path, "nanosleep", "alloc"]
    with running("attach_exec", *command, says=3 * SAYS) as program:
        begin(program.pid)
        program.goes_on()
        for phase in (1, 2, 3):
            page.write(stop=0, progress=0)
            pid = executed(program, phase)
            wait_for(lambda: page.read()["progress"] > 1, "what is executed goes on")
            report = watched(pid)
            allocs = total(of_program(report, "page_allocate", "main"), "allocs")
            check(allocs >= 8, "only %d blocks of what was executed (%d) are recorded" % (allocs, phase))
            page.write(stop=1)
            wait_for(lambda n=phase: n == 3 or program.alive()["children"] >= n, "it ends")


def place_of(frame):
    """Where in its module, which lies elsewhere in each run."""
    return os.path.basename(frame["module"] or ""), frame["offset"], frame["function"]


FIELDS = ("allocs", "frees", "alloc_bytes", "live_bytes", "live_blocks")


def sites_of_work(report):
    """Every site of what attach_sites does, of the heap and of mappings, with its stack and figures."""
    found = []
    for site in report["sites"]:
        if "attach_work" in frames_of(site):
            found.append((site["function"], site["kind"], [place_of(f) for f in site["stack"]],
                          {field: site[field] for field in FIELDS if field in site}))
    return sorted(found, key=str)


@row("G22", "sites of what is born after attaching differ from those of the program under heaptop from its start")
def same_sites():
    reports = []
    for preloaded in (False, True):
        with running("attach_sites", **({"LD_PRELOAD": LIBRARY} if preloaded else {})) as program:
            if not preloaded:
                begin(program.pid)
            program.phase(1, 1)
            reports.append(sites_of_work(watched(program.pid)))
    attached, launched = reports
    check(len(launched) > 100, "only %d sites" % len(launched))
    for one, other in zip(attached, launched):
        check_equal(one, other, "a site")
    check_equal(len(attached), len(launched), "sites")


def is_recorded(program):
    """It is recorded, and stands as before at the end."""
    cycles(program, times(2, 100))
    begin(program.pid)
    program.goes_on(4)
    allocs = total(of_program(watched(program.pid), "page_allocate"), "allocs")
    check(allocs >= 16, "only %d blocks are recorded" % allocs)
    end(program.pid)


# ---- users and containers -------------------------------------------------------------------------

def page_reachable():
    """By other users."""
    os.chmod(scratch, 0o711)
    os.chmod(segments, 0o1777)


@row("G23", "a program of another user, or a viewer that is not root: its segment cannot be opened, or it is refused")
def other_users():
    page_reachable()
    with as_nobody() as (nobody, folder), running("attach_threads", 2, "idle", prefix=nobody, HEAPTOP_DIR=folder) as program:
        check(run([*nobody, "test", "-r", HEAPTOP]).returncode == 0, "nobody cannot read " + HEAPTOP)
        same = Same(program.pid)
        for how in ({}, {"prefix": nobody}):
            for _ in range(times(2, 100)):
                begin(program.pid, HEAPTOP_DIR=folder, **how)
                program.goes_on()
                end(program.pid, HEAPTOP_DIR=folder, **how)
                same.check()
    with as_nobody() as (nobody, folder), running("attach_threads", 2, "idle") as program:
        same = Same(program.pid)
        refused(program.pid, prefix=nobody)
        same.check()


CONTAINERS = {"a mount namespace": ["-m"], "a pid namespace": ["-m", "--pid", "--fork", "--mount-proc"],
              "a user namespace": ["--user", "--map-root-user"],
              "all of them": ["--user", "--map-root-user", "-m", "--pid", "--fork", "--mount-proc"]}


@row("G24", "a program in another mount, pid or user namespace: files and numbers are others there")
def containers():
    for what, flags in CONTAINERS.items():
        if run(["unshare", *flags, "true"]).returncode:
            raise Skip("unshare is not permitted here: " + what)
        with running("attach_threads", 2, "idle", prefix=["unshare", *flags], is_forked="--fork" in flags) as program:
            cycles(program, times(2, 100))


OWN_MEMORY = 'mount -t tmpfs none /dev/shm; exec "$@"'


@row("G24a", "a container has a /dev/shm of its own: the segment is not seen there, or not found by later viewers")
def own_memory():
    can_mount()
    page_reachable()
    for what, flags in CONTAINERS.items():
        if "-m" not in flags:
            continue
        prefix = ["unshare", *flags, "sh", "-ec", OWN_MEMORY, "sh"]
        with running("attach_strict", "plain", prefix=prefix, is_forked="--fork" in flags) as program:
            root = "/proc/%d/root/dev/shm" % program.pid
            is_recorded(program)
            begin(program.pid)
            there = os.listdir(root)
            check_equal(len(there), 1, "segments there")
            end(program.pid)
            check_equal(os.listdir(root), [], "files left in %s" % what)
            # Other rows have segments here at the same time.
            check(there[0] not in map(os.path.basename, segment_files()), "its segment is here: %s" % there[0])


def root_make(root, program):
    """A folder with a program and its libraries, and no more."""
    for folder in ("proc", "tmp"):
        os.makedirs(os.path.join(root, folder), exist_ok=True)
    shutil.copy(program, os.path.join(root, "program"))
    for word in run([need("ldd"), program]).stdout.decode().split():
        if word.startswith("/"):
            os.makedirs(root + os.path.dirname(word), exist_ok=True)
            shutil.copy(word, root + word)


@row("G24b", "a program that called chroot sees neither library nor segment, or no /proc: the refusal has another reason")
def changed_root():
    can_mount()
    with tempfile.TemporaryDirectory(prefix="attach-root-") as root:
        root_make(root, fault_target("attach_strict"))
        changed_root_in(root)


def changed_root_in(root):
    tmp = os.path.join(root, "tmp")
    script = 'mount -t tmpfs none %s; mkdir -p %s; mount --bind %s %s; %%sexec chroot %s "$@"' % (
        tmp, root + scratch, scratch, root + scratch, root)
    for more, says in (("mount -o remount,ro %s; " % tmp, "has no /dev/shm, /run or /tmp"), ("", "has no /proc"),
                       ("mount --bind /proc %s/proc; " % root, None)):
        prefix = ["unshare", "-m", "sh", "-ec", script % more, "sh"]
        with running("attach_strict", "plain", prefix=prefix, instead="/program") as program:
            if says:
                refused(program.pid, says=says)
                program.goes_on()
                continue
            cycles(program, times(2, 100))
            begin(program.pid)
            program.goes_on(4)
            check(total(born(begin(program.pid)), "allocs") >= 16, "nothing is recorded")
            end(program.pid)


@row("G25", "a program that is traced already, or does not let itself be traced")
def not_traceable():
    with running("attach_threads", 2, "idle") as program:
        with subprocess.Popen([need("strace"), "-f", "-qq", "-o", "/dev/null", "-p", str(program.pid)],
                              stdin=subprocess.DEVNULL) as strace:
            try:
                wait_for(lambda: tracer(program.pid), "strace traces it")
                text = refused(program.pid, says=str(strace.pid))
                check("trace" in text, text)
            finally:
                strace.terminate()
        cycles(program, 1)


@row("G26", "a program that is not dumpable is refused to root, or to its user without the reason")
def not_dumpable():
    page_reachable()
    with as_nobody() as (nobody, folder), running("attach_sandbox", "private", prefix=nobody, HEAPTOP_DIR=folder) as program:
        same = Same(program.pid)
        refused(program.pid, says="not dumpable", prefix=nobody)
        for _ in range(times(2, 100)):
            begin(program.pid, HEAPTOP_DIR=folder)
            program.goes_on()
            end(program.pid, HEAPTOP_DIR=folder)
            same.check()


@row("G27", "the loader has a second libc, apart from the program (dlmopen): its dlopen or its malloc is taken for the program's")
def second_libc():
    with running("attach_strict", "apart") as program:
        libcs = run(["grep", "-c", "r-xp.*libc.so.6", "/proc/%d/maps" % program.pid]).stdout
        check_equal(int(libcs), 2, "libcs")
        is_recorded(program)


@row("G28", "what could be written may not become executable: the memory of the jumps cannot be made")
def write_or_execute():
    if ctypes.CDLL(None).prctl(PR_GET_MDWE, 0, 0, 0, 0) < 0:
        raise Skip("this kernel has no PR_SET_MDWE")
    with running("attach_strict", "written") as program:
        is_recorded(program)


@row("G29", "a limit of the program leaves no room: the refusal has another reason, or no remedy, or waits for its time to be over")
def limits():
    page_reachable()
    for what, says in (("space", "address space or data leaves no room; raise it (prlimit --as --data)"), ("locked", "(prlimit --memlock)"),
                       ("files", "open no more files; raise its limit (prlimit --pid ")):
        with running("attach_strict", what) as program:
            same = Same(program.pid)
            refused(program.pid, says=says)
            program.goes_on()
            same.check()


@row("G30", "no executable file may be made in memory (vm.memfd_noexec): the library cannot be handed over")
def not_executable():
    """A container's own setting, in a program that cannot see the library's file. Such a file can still be mapped."""
    can_mount()
    setting = "/proc/sys/vm/memfd_noexec"
    if not os.path.exists(setting):
        raise Skip("this kernel has no vm.memfd_noexec")
    script = 'echo 2 >%s; mount -t tmpfs none "$0"; exec "$@"' % setting
    hidden = ["unshare", "-m", "--pid", "--fork", "--mount-proc", "sh", "-ec", script, os.path.dirname(os.path.realpath(HEAPTOP))]
    copy = "/tmp/attach_threads-%d" % os.getpid()
    run(["cp", fault_target("attach_threads"), copy])
    try:
        with running("attach_threads", 2, "idle", prefix=hidden, instead=copy, is_forked=True) as program:
            cycles(program, times(2, 100))
    finally:
        os.unlink(copy)


def tracer(pid):
    with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as f:
        return int(next(line.split()[1] for line in f if line.startswith("TracerPid:")))


run_rows()
