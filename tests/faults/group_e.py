#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group E of the fault matrix, limits: no room for the segment, no calls that make it, a sandbox."""

import errno
import os
import resource
import signal

from rows import fault_target, row, run_rows, times
from proving import (HEAPTOP, LIBRARY, WATCH, Skip, check, check_equal, environment, one_line, report, report_of_segment, run,
                     scratch, segment_files, target)
from sides import check_same, check_sides, held, launched, plain, preloaded, proved_by
from tight import (REFUSED, SHM, as_nobody, check_account, in_cgroup, injected, launched_same, limited,
                   memory_cgroup, mounted, preloaded_same, said, worker)

CANNOT_RUN = 126
NO_ROOM = "no shared memory for the recording"


def clear_segments():
    for path in segment_files():
        os.unlink(path)


# ---- the place ---------------------------------------------------------------------------------

def place_holds(place, blocks):
    """The program runs as ever; the report is right, or says how much is missing, or why there is none."""
    def wrap(command):
        return mounted(SHM[place], command)
    plain = preloaded_same(worker(blocks, 2), wrap)
    check_equal(plain.returncode, 5, "exit status")
    rep, line = launched_same(worker(blocks, 2), plain, wrap)
    if rep:
        check_account(rep, said(plain))
    else:
        check(NO_ROOM in line and "/dev/shm" in line, "refused with: " + line)
    return rep, line


@row("E1", "/dev/shm is full, or has 64 KB, 1 MB, 64 MB: SIGBUS in the program")
def shm_small():
    for place, room in (("full", ", 0 free"), ("without inodes", ", no inode is free"), ("of 64 KB", ", 64.0k free")):
        rep, line = place_holds(place, 1000)
        check_equal(rep, None, "report with /dev/shm " + place)
        check("No space left on device" in line and room in line and "HEAPTOP_DIR" in line, "says only: " + line)
    rep, _ = place_holds("of 1 MB", 20000)
    check(rep and rep["totals"]["untracked_blocks"] > 0, "1 MB is enough for 5 MB of heap")
    for part in ("/dev/shm is full", "1.0M", "HEAPTOP_DIR"):
        check(part in (rep["notice"] or ""), "the report says of it: %r" % rep["notice"])
    rep, _ = place_holds("of 64 MB", 20000)
    check_equal(rep["totals"]["untracked_blocks"], 0, "untracked blocks in 64 MB")
    place_holds("of 64 MB", times(200000, 2000000))


@row("E1a", "while there is no memory, each allocation asks the kernel for it")
def asks_seldom():
    # The start makes some thirty of these calls.
    done, count = injected(["env", "LD_PRELOAD=" + LIBRARY, *worker(20000, 2)], "libheaptop.so", "madvise",
                           40, True)
    check_equal(said(done)["allocs"], 50000, "allocs")
    check(50 < count < 1000, "%d system calls for 50,000 allocations" % count)


@row("E2", "no /dev/shm, or it cannot be written: no segment, and nobody says why")
def shm_absent():
    for place in ("read-only", "absent"):
        rep, line = place_holds(place, 1000)
        check_equal(rep, None, "report with /dev/shm " + place)
        check("HEAPTOP_DIR" in line, "no way out of it: " + line)
    # Library and heaptop find the same other place by themselves.
    clear_segments()
    script, other = SHM["read-only"], os.path.join(scratch, "other")
    os.mkdir(other)
    plain = run(worker(1000))
    for none in ("unset HEAPTOP_DIR", "export HEAPTOP_DIR="):
        variables = "%s; export XDG_RUNTIME_DIR=%s" % (none, other)
        run(mounted(script, ["env", "LD_PRELOAD=" + LIBRARY, *worker("-k", 9, 1000)], variables))
        check_equal(len(os.listdir(other)), 1, "segments in XDG_RUNTIME_DIR after " + none)
        os.unlink(os.path.join(other, os.listdir(other)[0]))
        rep, line = launched_same(worker(1000), plain, lambda c, v=variables: mounted(script, c, v))
        check(rep, "heaptop does not use XDG_RUNTIME_DIR: " + line)
        check_account(rep, said(plain), lost=False)
        check_equal(os.listdir(other), [], "segments left in XDG_RUNTIME_DIR")
    rep, line = launched_same(worker(1000), plain, lambda c: mounted(
        script, c, "export HEAPTOP_DIR=" + other))
    check(rep, "HEAPTOP_DIR does not help: " + line)
    check_account(rep, said(plain), lost=False)


@row("E2a", "/dev/shm may not be used, or not by this user: whoever is launched goes elsewhere than its viewer")
def family_together():
    """All of a launch lies beside its first segment, also what comes by exec where /dev/shm has room by then."""
    other = os.path.join(scratch, "together")
    os.mkdir(other)
    script = "mount -t tmpfs -o size=4k none /dev/shm; echo >/dev/shm/filler"
    later = 'mount -o remount,size=64m /dev/shm; "$@"; exec "$@"'
    rep, line = launched_same(["sh", "-c", later, "sh", *worker(1000)], run(["sh", "-c", '"$@"; exec "$@"', "sh",
                                                                          *worker(1000)]),
                              lambda c: mounted(script, c, "unset HEAPTOP_DIR; export XDG_RUNTIME_DIR=" + other))
    check(rep, "heaptop refused: " + line)
    images = [rep, *rep["children"]]
    check_equal(sum(os.path.realpath(worker()[0]) == i["process"]["exe"] for i in images), 2, "recorded workers")
    with as_nobody() as (prefix, folder):
        os.chmod(folder, 0)
        done = run([*prefix, HEAPTOP, "--report", "--", "true"], env=environment(HEAPTOP_DIR=folder))
        line = done.stderr.decode()
        check_equal(done.returncode, REFUSED, "status in a folder without rights (%s)" % line)
        check(folder in line and "Permission denied" in line and "HEAPTOP_DIR" in line, "says only: " + line)
        os.chmod(folder, 0o700)


# ---- limits ------------------------------------------------------------------------------------

def limit_holds(command, **limits):
    """Set for the program before it begins: it is right, or it is said that it is missing."""
    plain = preloaded_same(command, preexec=limited(**limits))
    shell = ["sh", "-c", "ulimit %s && exec \"$@\"" % " && ulimit ".join(
        {"fsize": "-f %d" % (v // 512), "as": "-v %d" % (v // 1024), "nofile": "-n %d" % v}[k]
        for k, v in limits.items()), "sh", *command]
    rep, line = launched_same(shell, plain)
    check(rep, "heaptop refused: " + line)
    if rep["process"]["exe"] == os.path.realpath(command[0]):
        check_account(rep, said(plain), lost=False)
    else:
        check("cannot be recorded" in (rep["notice"] or ""), "no word of what is missing: %s" % rep["notice"])
    return plain


def own_limits(name, value, *more):
    """The program limits itself when it has long begun."""
    command = worker("-l", "%s=%d" % (name, value), *more, 3000, 2)
    plain = preloaded_same(command)
    rep, line = launched_same(command, plain)
    check(rep, "heaptop refused: " + line)
    if not more:
        check_account(rep, said(plain), lost=False)


@row("E3", "limits on files, memory, descriptors, processes, locked memory: SIGXFSZ, ENOMEM, EAGAIN")
def limits_hold():
    for size in (0, 4096, 1 << 20, 64 << 20):
        limit_holds(worker(3000, 2), fsize=size)
    for size in (20 << 20, 64 << 20, 256 << 20, 1 << 30):
        plain = limit_holds(worker(3000, 2), **{"as": size})
        check_equal(said(plain)["failed"], 0, "failed allocations")
    limit_holds(worker(3000, 2), nofile=4)
    for name, value in (("fsize", 0), ("nofile", 3), ("as", 256 << 20)):
        own_limits(name, value)
    with as_nobody() as (prefix, folder):
        for command, limits in ((worker("-t", 4, 1000), {"nproc": 1}),
                                (worker("-m", 1000, 2), {"memlock": 8 << 20})):
            preloaded_same(command, lambda c: [*prefix, *c], env={"HEAPTOP_DIR": folder},
                           preexec=limited(**limits))
            own_limits("nproc", 1, "-t", 4)


SMALL_PROGRAMS = (["grep", "-E", "VmSize", "/proc/self/status"],
                  ["bash", "-c", "while read -r line; do case $line in VmSize*) echo \"$line\"; esac; done </proc/$$/status"],
                  ["python3", "-Ic", "print(*[line for line in open('/proc/self/status') if 'VmSize' in line])"])
MOST_MEGABYTES = 64


def address_space(done):
    check_equal(done.returncode, 0, "exit status (%s)" % one_line(done.stderr.decode(errors="replace")))
    return int(done.stdout.split()[1]) / 1024


@row("E3k", "address space is reserved for all that might be recorded: the program's limits count it")
def small_reservation():
    for command in SMALL_PROGRAMS:
        alone = address_space(plain(command))
        for way, done in (("preloaded", preloaded(command)), ("launched", launched(command)[0])):
            more = address_space(done) - alone
            check(0 < more < MOST_MEGABYTES, "%s, %s: %d MB more" % (command[0], way, more))


# What a shell of two gigabytes has room for, in children and theirs; the sums say that all of it was done.
UNDER_LIMIT = """ulimit -v 2000000
ls / >/dev/null && x=$(seq 1 200000) && echo ${#x}
for i in 1 2 3; do (bash -c 'ulimit -v 1000000; seq 1 1000 | sort | tail -n 1; exec expr 6 \\* 7'); done
python3 -Ic 'print(len([str(i) for i in range(100000)]))'
"""


@row("E3l", "a shell limits its own address space, and that of all that it starts: nothing runs any more")
def limit_of_a_shell():
    rep = check_sides(["bash", "-c", UNDER_LIMIT])
    images = [rep, *rep["children"]]
    check(len(images) > 15, "only %d processes are in the report" % len(images))
    check_equal([i["notice"] for i in images if i["notice"] and "address space" in i["notice"]], [], "notices")
    check_equal(sum(i["totals"]["untracked_blocks"] for i in images), 0, "untracked blocks")


@row("E3m", "no address space is left for the tables: the program's allocations fail, or blocks go unseen")
def tables_have_no_space():
    command = [fault_target("cramped"), "-l", "1", "16"]
    rep = check_sides(command, status=5)
    t = rep["totals"]
    check_equal(t["allocs"] + t["untracked_blocks"] >= (1 << 17) - 1 + 65536, True, "all blocks are counted")
    check(len(rep["sites"]) < 1 << 16, "%d stacks have found room in 1 MB" % len(rep["sites"]))
    check("address space" in (rep["notice"] or ""), "no word of what is missing: %s" % rep["notice"])
    check_equal(sum(s["allocs"] for s in rep["sites"]), t["allocs"], "sum of the sites' allocs")
    check_equal(t["allocs"] - t["frees"], t["live_blocks"], "live blocks")


@row("E3n", "threads that need the next part of a table at the same time: one of them goes without")
def tables_grow():
    depth, threads = times(13, 17), 4
    rep = check_sides([fault_target("cramped"), "-t", str(threads), str(depth)], status=5)
    count = threads * ((2 << depth) - 1)
    # Each thread's stacks allocate one size; all other sites are libc's.
    own = [s for s in rep["sites"] if s["alloc_bytes"] == 24 * s["allocs"]]
    check_equal(rep["totals"]["untracked_blocks"], 0, "untracked blocks")
    check_equal((sum(s["allocs"] for s in own), sum(s["frees"] for s in own)), (count, count), "allocs and frees")
    check_equal(len(own), (2 << depth) - 1, "call stacks")
    check_equal(rep["notice"], None, "notice")


@row("E3a", "a system call of the library fails, any one, or all from there on")
def library_calls():
    clear_segments()
    plain = run(worker(20000, 2))
    tried = 0
    for call in ("mmap", "openat", "ftruncate", "fallocate", "memfd_create", "madvise", "mprotect", "mremap"):
        _, count = injected(worker(20000, 2), "libheaptop.so", call, env=environment(LD_PRELOAD=LIBRARY))
        step = max(1, count // times(4, 400))
        for nth in range(1, count + 1, step):
            for keep_on in (False, True):
                done, _ = injected(worker(20000, 2), "libheaptop.so", call, nth, keep_on,
                                   env=environment(LD_PRELOAD=LIBRARY))
                tried += 1
                where = "%s %d%s" % (call, nth, " and on" if keep_on else "")
                check_equal((done.returncode, done.stdout, done.stderr),
                            (plain.returncode, plain.stdout, plain.stderr), "the run with %s failing" % where)
    check(tried > 30, "only %d calls were made to fail" % tried)
    clear_segments()  # one that cannot be opened at the end stays


def viewer_survives(plain, done, where):
    """It did its work, or says on one line what it could not do; the program ran to its end, or was not begun."""
    errors = done.stderr.decode(errors="replace")
    check(done.returncode in (plain.returncode, REFUSED, CANNOT_RUN), "%s: status %d: %s" % (
        where, done.returncode, errors))
    check(done.stdout in (plain.stdout, b""), "%s: the output is %r" % (where, done.stdout))
    check(done.stdout or errors.startswith("heaptop: "), "%s: no word: %r" % (where, errors))


def reader_survives(done, where):
    errors = done.stderr.decode(errors="replace")
    check(done.returncode in (0, REFUSED), "%s: status %d: %s" % (where, done.returncode, errors))
    check(done.returncode == 0 or errors.startswith("heaptop: "), "%s: no word: %r" % (where, errors))


def each_call(command, survives, few):
    """Runs COMMAND with each of its calls failing, in check mode with `few` of each kind."""
    tried = 0
    for call in ("mmap", "openat", "ftruncate", "fallocate", "memfd_create", "madvise", "mprotect",
                 "pread64", "pwrite64", "read", "newfstatat", "getdents64", "flock", "prlimit64", "readlink", "clone3"):
        _, count = injected(command, call=call)
        for nth in range(1, count + 1, max(1, count // times(few, 30))):
            for keep_on in (False, True):
                done, _ = injected(command, call=call, nth=nth, keep_on=keep_on)
                tried += 1
                survives(done, "%s %d%s" % (call, nth, " and on" if keep_on else ""))
    check(tried > 20, "only %d calls were made to fail" % tried)


@row("E3b", "a system call of the viewer fails: it crashes, or takes the program with it")
def viewer_calls():
    plain = run(worker(3000))
    each_call([HEAPTOP, "--report", "-o", "/dev/null", "--", *worker(3000)],
              lambda done, where: viewer_survives(plain, done, where), 2)
    clear_segments()
    with held([target("crash"), "wait"], "preloaded", says=b"ready\n") as program:
        each_call([HEAPTOP, "-b", "-n", "1", "-a", str(program.pid)], reader_survives, 1)
        check_equal(program.report()["totals"]["live_bytes"], 500500, "the program's live bytes after it")
    clear_segments()


@row("E3c", "heaptop's own limits: it fails half-way, and leaves a process, a zombie or a segment behind")
def viewer_limits():
    proved_by("limits.py", "with 64 KB of stack: a report", "few descriptors", "little memory", "little address space",
              "small files", "the stack", "with few descriptors nobody")


# ---- a memory cgroup ---------------------------------------------------------------------------

@row("E4", "the segment is charged to the program's memory cgroup, and the program is killed")
def cgroup_holds():
    with memory_cgroup(64) as procs:
        command = worker(100000, 2)  # 26 MB of heap
        plain = run(in_cgroup(procs, command))
        check_equal(plain.returncode, 5, "status without heaptop")
        rep, line = launched_same(in_cgroup(procs, command), plain)
        check(rep, "heaptop refused: " + line)
        check_account(rep, said(plain), lost=False)
        check(rep["self"]["segment_bytes"] < 16 << 20, "the segment takes %d bytes" % rep["self"]["segment_bytes"])


@row("E4a", "killed for want of memory: nobody knows what the heap was")
def oom_shown():
    clear_segments()
    with memory_cgroup(32) as procs:
        done, rep = report(in_cgroup(procs, worker(1000000)))
        check_equal(done.returncode, 128 + signal.SIGKILL, "exit status")
        check_equal((rep["process"]["state"], rep["process"]["signal"]), ("exited", "SIGKILL"), "the end")
        files = segment_files()
        check_equal(len(files), 1, "segments left")
        after = report_of_segment(files[0])
        check_equal(after["process"]["state"], "gone", "state, after it")
        for one in (rep, after):
            live = one["totals"]["live_bytes"]
            check(16 << 20 < live < 32 << 20, "%d live bytes in a cgroup of 32 MB" % live)
            site = max(one["sites"], key=lambda s: s["live_bytes"])
            check("worker_block" in [f.get("function") for f in site["stack"]], "no site: %s" % site["stack"])
    clear_segments()


# ---- other things that the segment depends on -------------------------------------------------

@row("E5", "a file system that cannot map files shared and writable (FUSE, 9p, NFS)")
def no_shared_maps():
    """As such one answers: mmap fails with ENODEV or EINVAL."""
    plain = run(worker(1000))
    for error in (errno.ENODEV, errno.EINVAL):
        done, _ = injected(worker(1000), "libheaptop.so", "mmap", 1, True, error,
                           env=environment(LD_PRELOAD=LIBRARY))
        check_equal((done.returncode, done.stdout), (plain.returncode, plain.stdout), "the run")
        check_equal(segment_files(), [], "segments left")
    done, _ = injected([HEAPTOP, "--report", "--", *worker(1000)], HEAPTOP, "mmap", 1, True, errno.ENODEV)
    check_equal(done.returncode, REFUSED, "status of heaptop")
    check(NO_ROOM in done.stderr.decode(), "says: %r" % done.stderr)
    check_equal(segment_files(), [], "segments left")


@row("E6", "the program closes every descriptor, or puts its own where ours were")
def descriptors_closed():
    plain = preloaded_same(worker("-c", times(100000, 1000000)))
    rep, line = launched_same(worker("-c", times(100000, 1000000)), plain)
    check(rep, "heaptop refused: " + line)
    check_account(rep, said(plain), lost=False)


@row("E18", "the segment swells core dumps and looks like the program's memory")
def core_size():
    with open("/proc/sys/kernel/core_pattern", encoding="ascii") as f:
        pattern = f.read().strip()
    if pattern.startswith("|") or "/" in pattern:
        raise Skip("core dumps go elsewhere: /proc/sys/kernel/core_pattern is " + pattern)
    sizes = []
    for name, variables in (("plain", {}), ("watched", {"LD_PRELOAD": LIBRARY})):
        folder = os.path.join(scratch, "core-" + name)
        os.mkdir(folder)
        done = run(worker("-k", signal.SIGABRT.value, 200000), cwd=folder, env=environment(**variables),
                   preexec=limited(core=resource.RLIM_INFINITY))
        check_equal(done.returncode, -signal.SIGABRT, "exit status")
        cores = [os.path.join(folder, f) for f in os.listdir(folder)]
        check_equal(len(cores), 1, "core files")
        sizes.append(os.path.getsize(cores[0]))
        os.unlink(cores[0])
    clear_segments()
    check(sizes[1] < sizes[0] * 1.01, "a core of %d bytes became one of %d" % tuple(sizes))


@row("E19", "no time without a system call: one for each event, or death in a sandbox")
def clock_forbidden():
    command = worker("-s", "clock", 3000, 3)
    check_account(check_sides(command, status=5), said(run(command)), lost=False)


@row("E19a", "the processor's clock is forbidden, and a hook that reads it crashes")
def cycles_forbidden():
    for what in ("clock", "strict"):
        rep = check_sides([fault_target("forbids"), what], status=5)
        check_equal((rep["totals"]["allocs"], rep["totals"]["live_blocks"]), (40002, 2), what)
    check_equal(rep["process"]["state"], "exited", "state")


@row("E20", "a sandbox that kills on any further system call")
def sandbox_holds():
    if "--lossless" in WATCH:
        raise Skip("a thread that waits makes a system call")
    # Killed: a heap that does not grow. Refused: one that does, in threads that come later.
    for how, more in (("kill", ()), ("errno", ("-t", 2))):
        command = worker("-s", how, *more, 3000, times(10, 200))
        plain = run(command)
        check_equal(plain.returncode, 5, "exit status without heaptop")
        rep, line = launched_same(command, plain)
        check(rep, "heaptop refused: " + line)
        check_account(rep, said(plain), lost=how == "errno")


@row("E20a", "a sandbox that kills on any system call but the end, at an end without destructors")
def sandbox_ends():
    for way in ("_exit", "quick_exit"):
        alone = plain([fault_target("forbids"), way])
        check_equal(alone.returncode, 5, way + ": exit status without heaptop")
        done, rep = launched([fault_target("forbids"), way])
        check_same(alone, done, way)
        check_equal((rep["process"]["state"], rep["totals"]["allocs"], rep["totals"]["live_blocks"]),
                    ("exited", 40002, 2), way)


run_rows()
