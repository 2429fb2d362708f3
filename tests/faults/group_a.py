#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group A of the fault matrix: start-up, symbol resolution, thread-local storage."""

import os
import re
import shutil

from rows import fault_target, row, run_rows, times
from proving import (HEAPTOP, LIBRARY, Skip, check, check_consistent, check_equal, environment, frames_of,
                     narrow_runs, need, run, scratch, sites_named, total)
from sides import (check_same, check_sides, held, launched, plain, preloaded, proved_by)

ALLOCATORS = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2")
EARLY = "plugin/early.so"  # allocates before anything is ready
PROGRAM = """#include <stdio.h>
#include <stdlib.h>
int main(void) { for (int i = 0; i < 100; i++) free(malloc(100)); puts("hello"); return 3; }
"""


def built(name, *flags, compiler="gcc", source=PROGRAM):
    """A small program, built with other flags than the targets are. Its path."""
    path = os.path.join(scratch, name)
    if not os.path.exists(path):
        with open(path + ".c", "w", encoding="utf-8") as f:
            f.write(source)
        done = run([need(compiler), "-O1", "-g", "-o", path, path + ".c", *flags])
        check_equal(done.returncode, 0, "%s %s (%s)" % (compiler, flags, done.stderr[-300:].decode()))
    return path


def refused(command, why):
    """heaptop says in one line why it cannot watch the command, and runs nothing."""
    done = run([HEAPTOP, "--report", "--", command])
    said = done.stderr.decode()
    check_equal((done.returncode, done.stdout, said.count("\n")), (125, b"", 1), "end of heaptop: " + said)
    check(why in said, "no %r in: %s" % (why, said))


@row("A1", "dlsym allocates before our pointers exist, and calls us again without end")
def dlsym_at_start():
    rep = check_sides([fault_target("constructor_dlsym")])
    check(rep["totals"]["allocs"] >= 500, "few allocations: %s" % rep["totals"])
    check_equal(rep["totals"]["unknown_frees"], 0, "unknown frees")


@row("A1a", "our start runs the program's malloc, or leaves what dlerror says, or needs its dlsym")
def nothing_at_start():
    """A program's own allocator, a preloaded one in either place, and the usual ones."""
    calls = fault_target("plugin/calls.so")
    own, other = [fault_target("calls_own")], [fault_target("calls_before")]
    for command, env in ((own, {}), (other, {"LD_PRELOAD": calls}),
                         (other, {"LD_PRELOAD": calls, "LD_AUDIT": fault_target("plugin/audit.so")})):
        check(plain(command, env).stdout.endswith(b" calls before main, no error\n" if command is own
                                                  else b"y\n"), "the program says nothing")
        check_sides(command, env)
        first = ":".join(filter(None, (env.get("LD_PRELOAD"), LIBRARY)))
        check_same(plain(command, env), run(command, env=environment(**{**env, "LD_PRELOAD": first})), "preloaded last")
    check(not plain(other, {"LD_PRELOAD": calls}).stdout.startswith(b"0 "), "its runtime allocated nothing")
    for allocator in ALLOCATORS:
        for command in (own, other):
            check_sides(command, {"LD_PRELOAD": allocator})
            check_same(plain(command, {"LD_PRELOAD": allocator}),
                       run(command, env=environment(LD_PRELOAD=allocator + ":" + LIBRARY)), allocator + " first")


@row("A2", "the memory for the time before the allocator is found is too small")
def much_at_start():
    """Twenty libraries that allocate before we are ready, an auditor, a large environment."""
    copies = [os.path.join(scratch, "early%d.so" % i) for i in range(20)]
    for path in copies:
        shutil.copy(fault_target(EARLY), path)
    env = {"VARIABLE_%d" % i: "x" * 1000 for i in range(200)}
    env.update(LD_PRELOAD=":".join(copies), LD_AUDIT=fault_target("plugin/audit.so"))
    rep = check_sides([fault_target("bootstrap")], env=env)
    check_equal(rep["totals"]["unknown_frees"], 0, "unknown frees")


def early(order, **env):
    """The output of a program whose blocks from before the start are read, moved and freed."""
    return run([fault_target("bootstrap"), "freeres"], env=environment(LD_PRELOAD=":".join(order), **env))


@row("A3", "memory of before the start is freed, or moved, by the real allocator")
@row("A4", "malloc is called before our constructor: by an IFUNC resolver, another preload")
def before_start():
    library = fault_target(EARLY)
    alone = early([library])
    check(alone.stdout.startswith(b"8 early blocks\n"), "the program says: %s" % alone.stdout)
    check_same(alone, early([library, LIBRARY]), "preloaded last")
    check_same(alone, early([LIBRARY, library]), "preloaded first")
    check_same(alone, early([LIBRARY, library], LD_BIND_NOW="1"), "preloaded first, bound at once")
    rep = check_sides([fault_target("bootstrap"), "freeres"], env={"LD_PRELOAD": library})
    check_equal(rep["totals"]["unknown_frees"], 0, "unknown frees")
    check(sites_named(rep, "begin"), "nothing of the constructor was recorded")
    for site in sites_named(rep, "begin"):
        check(not site["truncated"], "the stack of a constructor ends early: %s" % frames_of(site))


@row("A5", "stdio, getenv or the like inside a hook: endless calls, or a lock")
@row("A12", "a symbol newer than the program's libc, or one of _FORTIFY_SOURCE")
def few_symbols():
    proved_by("hotpath.py", "undefined symbols stay inside the list")
    names = run([need("nm"), "-D", "-u", LIBRARY]).stdout.decode()
    check_equal(re.findall(r"\S+_chk\b", names), [], "checked functions")


@row("A6", "exit handlers registered under a lock, while we register our own")
def exit_handlers():
    rep = check_sides([fault_target("exit_handlers")], status=4)
    check_consistent(rep)
    held_at_exit = sites_named(rep, "handler")
    check_equal(sum(s["allocs"] for s in held_at_exit), 320, "allocations of the handlers")
    check_equal(sum(s["live_blocks"] for s in held_at_exit), 160, "their live blocks")


@row("A7", "thread-local storage found by a call that allocates, or under the loader's lock")
def local_storage():
    proved_by("hotpath.py", "TLS is small and at a fixed offset", "a plugin's constructor may wait for a thread")


@row("A8", "no room left for the program's libraries in static thread-local storage")
def static_storage():
    """As many libraries that need it can be loaded as without us, and no more."""
    copies = [os.path.join(scratch, "tls%d.so" % i) for i in range(40)]
    for path in copies:
        shutil.copy(fault_target("plugin/tls.so"), path)
    for env in ({}, {"LD_AUDIT": fault_target("plugin/audit.so")}):
        check_sides([fault_target("loads"), *copies], env=env)
    last = plain([fault_target("loads"), *copies]).stdout
    check(b"\n40 of" not in last and b"\n0 of" not in last, "no limit was met: %s" % last)


@row("A8a", "the library is opened instead of preloaded, and closed while threads depend on it")
def opened():
    done = plain([fault_target("opened_late"), LIBRARY])
    check_equal((done.returncode, done.stdout), (0, b"done\n"), "status and output")


@row("A9", "a musl program, whose loader cannot take our thread-local storage")
def musl():
    program = built("musl", compiler="musl-gcc")
    refused(program, "musl")
    rep = check_sides(["sh", "-c", program + "; echo $?"])
    check_equal(rep["process"]["exit_status"], 0, "status of the shell")


def tide(threads, *late):
    """Threads that come and go. With "late" the program's key is newer than ours, whose destructor runs first then."""
    command = [fault_target("thread_tide"), str(threads), *late]
    with held(command, "preloaded", says=b"fd 2 /dev/null\n", timeout=120) as program:
        inside, rep = program.inside(), program.report()
    check_equal(inside["threads_used"], 1, "slots in use when one thread is left")
    check(inside["threads_owners"] >= threads, "threads seen: %d" % inside["threads_owners"])
    check_consistent(rep)
    unnamed = threads if late else 0
    for name, each, less in (("site_thread", 2, 0), ("site_thread_local", 2, 0), ("site_specific", 5, unnamed)):
        sites = sites_named(rep, name)
        check_equal(total(sites, "allocs"), each * threads - less, "allocs of " + name)
        check_equal(total(sites, "live_blocks"), 0, "live blocks of " + name)
    rest = sites_named(rep, "(stack not recorded)")
    check_equal(total(rest, "allocs"), unnamed, "allocs after the last moment of a thread")
    check_equal(total(rest, "live_blocks"), 0, "their live blocks")


@row("A10", "allocations after a thread's own data is gone; slots of threads that ended")
def threads_end():
    tide(times(10000, 100000), "late")
    tide(times(1000, 100000))


@row("A10a", "the program has fewer thread-specific keys than without us")
def all_keys():
    rep = check_sides([fault_target("all_keys"), "100"])
    check_consistent(rep)
    check_equal(total(sites_named(rep, "run"), "allocs"), 100, "allocs of threads without a key of ours")


@row("A11", "asking for a thread's stack bounds inside a hook: its lock, and realloc")
def stack_bounds():
    rep = check_sides([fault_target("attributes"), str(times(2000, 50000))])
    check_consistent(rep)
    check_equal(rep["totals"]["failed"], 0, "failed")


@row("A13", "the library drags libstdc++ or libgcc into programs written in C")
def only_libc():
    done = run(["ldd", LIBRARY], env=environment())
    check_equal(done.returncode, 0, "status of ldd")
    names = {line.split()[0].decode() for line in done.stdout.splitlines()}
    others = {n for n in names if not n.startswith(("linux-vdso", "libc.so", "/lib64/ld-linux"))}
    check(not others, "needs %s" % sorted(others))


LOADER_LINE = rb"ERROR: ld.so: object '[^']*' from LD_PRELOAD cannot be preloaded \(%s\): ignored.\n"


@row("A14", "a 32-bit program or child, which cannot take a 64-bit library")
def narrow():
    """In a launch it gets the library of its class. With the other one preloaded by hand, the loader says so in
    a line of its own; nothing else changes."""
    program = built("narrow", "-m32")
    if not os.path.exists(os.path.join(os.path.dirname(LIBRARY), "32", "libheaptop.so")):
        refused(program, "32-bit")
    if not narrow_runs(program):
        raise Skip("this kernel runs no 32-bit programs")
    command = ["sh", "-c", program + "; echo $?"]
    alone, done = plain(command), preloaded(command)
    check_same(alone, launched(command)[0], "launched")
    rest = re.sub(LOADER_LINE % rb"wrong ELF class: ELFCLASS64", b"", done.stderr)
    check_equal(rest, alone.stderr, "stderr, preloaded")
    check_same(alone, done, "preloaded", stderr=False)


@row("A15", "a static program, static-pie, or without libc (Go): no events at all")
def static():
    bare = "void _start(void) { __asm__(\"mov $60, %eax; mov $3, %edi; syscall\"); }"
    programs = [built("static", "-static"), built("static-pie", "-static-pie"),
                built("bare", "-static", "-nostdlib", source=bare)]
    for program in programs:
        refused(program, "statically linked")
        check_sides(["sh", "-c", program + "; echo $?"])


AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@row("A16", "a setuid program, or one with capabilities, drops the preload in silence")
def privileged():
    """Told before the start; a child of that kind is only not recorded."""
    place = os.path.join("/var/tmp", os.path.basename(scratch))
    shutil.copytree(os.path.dirname(HEAPTOP), place, ignore=lambda d, names: [
        n for n in names if n not in ("heaptop", "libheaptop.so")])
    try:
        os.chmod(place, 0o777)
        privileged_in(place)
    finally:
        shutil.rmtree(place)


def privileged_in(place):
    raised, able = os.path.join(place, "raised"), os.path.join(place, "able")
    for path in (raised, able):
        shutil.copy(built("program"), path)
    os.chmod(raised, 0o4755)
    check_equal(run([need("setcap"), "cap_net_raw+ep", able]).returncode, 0, "status of setcap")
    heaptop = [*AS_NOBODY, os.path.join(place, "heaptop"), "--report", "-o", "/dev/null", "--"]
    env = environment(HEAPTOP_DIR=place)
    for path, kind in ((raised, "setuid"), (able, "capabilities")):
        done = run([*heaptop, path], env=env)
        check_equal((done.returncode, done.stdout), (125, b""), "end of heaptop")
        check(kind in done.stderr.decode(), "no %r in: %s" % (kind, done.stderr))
        command = ["sh", "-c", path + "; echo $?"]
        check_same(run([*AS_NOBODY, *command], env=env), run([*heaptop, *command], env=env), "child")


@row("A17", "the library's path is not there in a chroot: the loader complains, nothing is seen")
def other_root():
    root = os.path.join(scratch, "root")
    program = built("program")
    for path in ("/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6", program):
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)
    command = ["unshare", "-m", "chroot", root, program]
    alone = plain(command)
    check_equal(alone.returncode, 3, "status without heaptop")
    done, rep = launched(command)
    check_same(alone, done, "launched", stderr=False)
    check_equal(re.sub(LOADER_LINE % b"cannot open shared object file", b"", done.stderr), b"", "stderr")
    check_equal(rep["process"]["exit_status"], 3, "exit status told")
    check_said(rep)


def check_said(rep):
    """That the program that was run in the end is not in the report."""
    check("executed a program that cannot be recorded" in (rep["notice"] or ""), "notice: %s" % rep["notice"])


OVERFLOW = """#include <stdlib.h>
int main(void) { volatile char *p = malloc(10); p[10] = 1; return 0; }
"""


@row("A18", "a program with AddressSanitizer ends because something was preloaded before it")
def sanitized():
    """Told before the start; a child of that kind works as it would without heaptop, and still finds
    what it is there to find."""
    for compiler in ("gcc", "clang"):
        program = built(compiler + "-asan", "-fsanitize=address", compiler=compiler)
        refused(program, "sanitizer")
        command = ["sh", "-c", program + "; echo $?"]
        check_same(plain(command), launched(command)[0], compiler)
        broken = built(compiler + "-overflow", "-fsanitize=address", compiler=compiler, source=OVERFLOW)
        done = launched(["sh", "-c", broken + "; echo $?"])[0]
        check_equal(done.stdout, b"1\n", "status of a child that is wrong (%s)" % compiler)
        check(b"heap-buffer-overflow" in done.stderr, "not found: %s" % done.stderr)
    first = run([built("gcc-asan")], env=environment(LD_PRELOAD=asan_runtime() + ":" + LIBRARY))
    check_equal((first.returncode, first.stdout), (3, b"hello\n"), "with the sanitizer's library first")


def asan_runtime():
    done = run([need("gcc"), "-print-file-name=libasan.so"])
    return os.path.realpath(done.stdout.decode().strip())


@row("A19", "wrappers (ldd, env, timeout, a script) get the library, and the program perhaps not")
def wrapped():
    """The wrapper does what it does alone; the program in it is a child of the report, but where its
    environment was emptied."""
    program = built("program")
    script = os.path.join(scratch, "wrapper")
    with open(script, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\n%s\nexit $?\n" % program)
    os.chmod(script, 0o755)
    for command, seen in ((["timeout", "60", program], True), ([script], True), (["setsid", "-w", program], True),
                          (["script", "-qec", program, "/dev/null"], True), (["env", "-i", program], False)):
        rep = check_sides(command, status=3)
        images = [rep, *rep["children"]]
        check_equal(program in [i["process"]["command"][0] for i in images], seen, "%s seen" % command)
        if not seen:
            check_said(rep)
    listed = launched(["ldd", program])[0]
    names = [line.split(b" (")[0] for line in listed.stdout.splitlines()]
    ours = [name for name in names if name.endswith(b"/libheaptop.so")]
    check(len(ours) == 1 and os.path.samefile(ours[0].split()[-1], LIBRARY), "ldd lists the library: %s" % names)
    names.remove(ours[0])
    check_equal(names, [l.split(b" (")[0] for l in plain(["ldd", program]).stdout.splitlines()], "ldd")


run_rows()
