#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the library must not do in the program: system calls in a steady loop, another errno, threads,
signal handlers, open files, large or dynamic TLS, symbols that drag in the rest of libc."""

import os
import re

from proving import (B, HEAPTOP, LIBRARY, ROOT, add_case, case, check, check_equal, environment, need,
                     report, run, run_cases, scratch, target)

TLS_BYTES_MAX = 64
NEWEST_GLIBC = (2, 17)  # whatever it is built with: containers have older ones


def preloaded():
    return environment(LD_PRELOAD=LIBRARY)


def calls_between_marks(threads, preload):
    """Names of the system calls of all threads between the two marks, in order."""
    log = os.path.join(scratch, "strace.log")
    command = [need("strace"), "-f", "-qq", "-o", log]
    if preload:
        command += ["-E", "LD_PRELOAD=" + LIBRARY]
    done = run(command + [target("quiet_loop"), str(threads)], timeout=120)
    check_equal(done.returncode, 0, "exit status (%s)" % done.stderr.decode())
    with open(log, encoding="utf-8", errors="replace") as f:
        text = f.read()
    inside = re.search(r"getpriority\(PRIO_USER, 4242.*?\n(.*)\n[^\n]*getpriority\(PRIO_USER, 4243",
                       text, re.S)
    check(inside, "the marks are not in the trace")
    names = re.findall(r"^\d+ +(?:<\.\.\. )?(\w+)", inside.group(1), re.M)
    return [n for n in names if n not in ("getpriority",)]


@case("no system call in the steady loop of one thread")
def quiet_one():
    check_equal(calls_between_marks(1, True), calls_between_marks(1, False), "the calls")


@case("no system call in the steady loop of 4 threads")
def quiet_threads():
    # The barrier's own futex calls depend on who comes first.
    extra = set(calls_between_marks(4, True)) - set(calls_between_marks(4, False)) - {"futex"}
    check_equal(extra, set(), "calls that are not made without the library")


def same_output(command, how):
    plain = run(command)
    watched = run(how[0] + command, env=how[1])
    check_equal(watched.returncode, plain.returncode, "exit status")
    if watched.stdout != plain.stdout:
        lines = zip(plain.stdout.decode().splitlines(), watched.stdout.decode().splitlines())
        differ = [pair for pair in lines if pair[0] != pair[1]]
        check(False, "without and with: %s" % (differ[:3],))


def ways():
    out = os.path.join(scratch, "report")
    return {"preloaded alone": ([], preloaded()),
            "under heaptop": ([HEAPTOP, "--report", "-o", out, "--"], environment())}


def unchanged(program, *arguments):
    def try_it(way):
        return lambda: same_output([target(program), *arguments], ways()[way])
    return try_it


@case("allocations that fail are counted, and are no blocks")
def failing():
    done, rep = report([target("errno_kept")])
    check_equal(done.returncode, 0, "exit status")
    totals = rep["totals"]
    check_equal([totals[name] for name in ("failed", "live_blocks", "unknown_frees", "untracked_blocks")],
                [22, totals["allocs"] - totals["frees"], 0, 0], "failed, live, unknown, untracked")


for way_name in ways():
    add_case("errno after every call is the same, " + way_name, unchanged("errno_kept")(way_name))
    add_case("threads, signals and open files are the same, " + way_name,
             unchanged("quiet_loop", "state")(way_name))

    add_case("wrong call frame information does no harm, " + way_name,
             unchanged("rbp_borrowed")(way_name))
    add_case("a program with its own malloc gets its own from a plugin's operator new, " + way_name,
             unchanged("own_malloc", os.path.join(B, "tests/targets/plugin/waits.so"))(way_name))
    add_case("the first allocation may be made under a lock of libc's, " + way_name,
             unchanged("locale_early")(way_name))
    add_case("a plugin's constructor may wait for a thread, " + way_name,
             unchanged("plugin_waits", os.path.join(B, "tests/targets/plugin/waits.so"))(way_name))


def thread_memory(env):
    done = run([target("thread_memory")], env=env)
    check_equal(done.returncode, 0, "exit status")
    return {line.split()[0]: int(line.split()[1]) for line in done.stdout.decode().splitlines()}


@case("a thread takes less than 300 KB, and leaves nothing")
def threads_memory():
    plain, watched = thread_memory(environment()), thread_memory(preloaded())
    check(watched["each"] - plain["each"] < 300, "a thread takes %d KB" % (watched["each"] - plain["each"]))
    check(watched["left"] - plain["left"] < 500, "400 threads left %d KB" % (watched["left"] - plain["left"]))


@case("TLS is small and at a fixed offset")
def tls():
    headers = run([need("readelf"), "-lW", LIBRARY]).stdout.decode()
    size = [int(line.split()[5], 16) for line in headers.splitlines() if line.split()[:1] == ["TLS"]]
    check(sum(size) <= TLS_BYTES_MAX, "TLS takes %d bytes" % sum(size))
    relocations = run([need("readelf"), "-rW", LIBRARY]).stdout.decode()
    dynamic = re.findall(r"R_X86_64_(?:DTP\w+|TLSDESC\w*)", relocations)
    check_equal(dynamic, [], "relocations of dynamic TLS")
    check("TPOFF64" in relocations or not size, "no TPOFF64 relocation, but there is TLS")


@case("undefined symbols stay inside the list")
def symbols():
    with open(os.path.join(ROOT, "tests/e2e/allowed-symbols.txt"), encoding="utf-8") as f:
        allowed = {line.strip() for line in f if line.strip() and not line.startswith("#")}
    listing = run([need("nm"), "-D", "-u", LIBRARY]).stdout.decode()
    used = {line.split()[-1].split("@")[0] for line in listing.splitlines() if line.strip()}
    check(used, "nm lists no undefined symbol at all")
    check_equal(used - allowed, set(), "symbols outside the list")
    versions = {tuple(map(int, v.split("."))) for v in re.findall(r"@GLIBC_([\d.]+)", listing)}
    check(max(v[:2] for v in versions) <= NEWEST_GLIBC, "needs GLIBC %s" % (max(versions),))


@case("needs no library but libc")
def needed():
    dynamic = run([need("readelf"), "-dW", LIBRARY]).stdout.decode()
    libraries = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
    check_equal([l for l in libraries if not l.startswith(("libc.so", "ld-linux"))], [], "NEEDED")


@case("exports nothing but the allocation functions, and what programs call through headers")
def exports():
    listing = run([need("nm"), "-D", "--defined-only", LIBRARY]).stdout.decode()
    names = {line.split()[-1].split("@")[0] for line in listing.splitlines() if line.strip()}
    known = {"malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "posix_memalign",
             "aligned_alloc", "memalign", "valloc", "pvalloc", "free_sized", "free_aligned_sized",
             # the ends of a program that run no destructor
             "_exit", "_Exit", "quick_exit",
             # what comes back in a child
             "fork", "__fork", "_Fork", "daemon", "forkpty",
             # what lends memory to a child, and what may forbid reading the clock
             "vfork", "clone", "prctl",
             # what may open a library that finds libc before us
             "dlopen",
             # what maps memory
             "mmap", "mmap64", "munmap", "mremap", "brk", "sbrk", "shmat", "shmdt"}
    interface = r"_Zn[aw]|_Zd[al]|heaptop_api_|heaptop_(attach|attached|detach)$|__lsan_"
    other = {n for n in names - known if not re.match(interface, n)} - {"HEAPTOP", "GLIBC_2.2.5", "GLIBC_2.34"}
    check_equal(other, set(), "other exported names")
    # With a version that is no default, which only what means glibc's is bound to.
    versioned = {line.split()[-1] for line in listing.splitlines() if "@" in line}
    check_equal(versioned, {"brk@GLIBC_2.2.5", "daemon@GLIBC_2.2.5", "forkpty@GLIBC_2.2.5", "forkpty@GLIBC_2.34",
                            "sbrk@GLIBC_2.2.5", "vfork@GLIBC_2.2.5", "clone@GLIBC_2.2.5", "prctl@GLIBC_2.2.5",
                            "dlopen@GLIBC_2.2.5", "dlopen@GLIBC_2.34"},
                "names with versions")


run_cases()
