#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group B of the fault matrix: locks, unwinding, code that comes and goes."""

import json
import os
import random
import re
import shutil
import signal
import socket
import struct

from rows import fault_target, fault_tool, limit, row, run_rows, times
from proving import (LIBRARY, TARGETS, check, check_consistent, check_equal, check_truth, frames_of, need, run,
                     scratch, sites_named, target, total, truth_read)
from sides import (WAYS, check_same, check_sides, held, launched, plain, preloaded, proved_by, seen)

ACCOUNT = os.path.join(scratch, "account.json")
PLUGIN = os.path.join(TARGETS, "plugin/one.so")
REENTRANT = "plugin/reentrant.so"  # an allocator that may be left anywhere


def truth_sides(command, foreign=(), **how):
    """A truth program on both sides; the report agrees with its account. Returns the report."""
    rep = check_sides(command, env={"TRUTH": ACCOUNT}, **how)
    check_truth(rep, truth_read(ACCOUNT), foreign)
    return rep


def compiled(name, text, *flags, compiler="gcc", ending=".c"):
    path = os.path.join(scratch, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ending, "w", encoding="utf-8") as f:
        f.write(text)
    done = run([need(compiler), "-O1", "-g", "-o", path, path + ending, *flags])
    check_equal(done.returncode, 0, "%s (%s)" % (compiler, done.stderr[-300:].decode()))
    return path


def copies(count, file=PLUGIN):
    paths = [os.path.join(scratch, "copy%d.so" % i) for i in range(count)]
    for path in paths:
        shutil.copy(file, path)
    return paths


@row("B1", "our lock and the loader's, taken in both orders, while code comes and goes")
@row("B2", "a stack taken inside the loader's own callback, under its lock")
def loading():
    rep = truth_sides([fault_target("loading"), str(times(300, 60000)), *copies(4)], foreign=("copy",), timeout=300)
    check(sites_named(rep, "site_callback"), "no allocation in a callback")


@row("B3", "a pipe to learn what may be read: shared by all threads, SIGPIPE when it is closed")
def walks_under_signals():
    rep = check_sides([fault_target("interrupted_walks"), str(times(3000, 300000))], timeout=300)
    check_consistent(rep)
    check_sides([fault_target("interrupted_walks"), "20"], env={"HEAPTOP_UNWINDER": "check"})


@row("B4", "libgcc's lock for frames that were registered, in a walk while others register")
def registered_frames():
    rep = check_sides([fault_target("register_frames"), str(times(100000, 10000000))], timeout=300)
    check_consistent(rep)
    check(total(sites_named(rep, "allocate()"), "allocs") >= 200000, "allocations below code made at run time")


@row("B5", "the first backtrace() loads libgcc_s, in the middle of a malloc")
def no_unwinder_loaded():
    names = run([need("nm"), "-D", "-u", LIBRARY]).stdout.decode()
    check_equal(re.findall(r"U (\S*backtrace\S*|_Unwind\S*)", names), [], "what is needed of an unwinder")
    for way in WAYS:
        with held([target("crash"), "wait"], way, says=b"ready\n") as program:
            with open("/proc/%d/maps" % program.pid, encoding="utf-8") as f:
                maps = f.read()
            check("libheaptop" in maps, "the library is not there, " + way)
            check("libgcc_s" not in maps and "libunwind" not in maps, "an unwinder was loaded, " + way)


@row("B6", "unloaded code: its addresses get the name of what was loaded there later")
def unloaded():
    proved_by("unwinder.py", "stacks of two plugins at one place", "stacks of a plugin rebuilt and loaded again")
    proved_by("truth.py", "blocks of unloaded plugins keep the plugin's name")


HIDDEN = "#include <stdlib.h>\nvoid *hidden(void) { return malloc(4321); }\n"
SEEKER = """#include <dlfcn.h>
void *seek(void) { void *h = dlopen("libhidden.so", RTLD_NOW);
void *(*f)(void) = h ? (void *(*)(void))dlsym(h, "hidden") : 0; return f ? f() : 0; }
"""
ASKER = "#include <stdio.h>\nvoid *seek(void);\nint main(void) { puts(seek() ? \"found\" : \"not found\"); return 0; }\n"


@row("B7", "an interposed dlopen looks along our RUNPATH instead of its caller's")
def runpath():
    folder = os.path.join(scratch, "runpath")
    compiled("runpath/deep/libhidden.so", HIDDEN, "-shared", "-fPIC")
    compiled("runpath/libseeker.so", SEEKER, "-shared", "-fPIC", "-Wl,-rpath,$ORIGIN/deep")
    program = compiled("runpath/asker", ASKER, "-L" + folder, "-lseeker", "-Wl,-rpath,$ORIGIN")
    rep = check_sides([program])
    check_equal(plain([program]).stdout, b"found\n", "output")
    check_equal(total(sites_named(rep, "hidden"), "live_bytes"), 4321, "bytes of the hidden library")


@row("B8", "RTLD_DEEPBIND: a library's malloc and free pass us by")
def deep_binding():
    command = [fault_target("deep_binding"), "bound", fault_target("plugin/deep.so")]
    rep = check_sides(command)
    check_consistent(rep)
    check_equal(plain(command).stdout.split(b"\n")[0], b"100 blocks came back", "the program says")
    for site, allocs in (("site_program", 100), ("site_again", 100), ("deep_malloc", 200)):
        check_equal(total(sites_named(rep, site), "allocs"), allocs, "allocs of " + site)
        check_equal(total(sites_named(rep, site), "live_blocks"), 0, "live blocks of " + site)
    check_equal((rep["totals"]["missed_frees"], rep.get("allocators")), (0, None), "missed frees; patched functions")


@row("B8a", "the same beside other threads, where libc is not patched")
def deep_binding_late():
    """What was freed unseen is noticed when its address comes back; what was made unseen is no loss."""
    command = [fault_target("deep_binding"), "threads", fault_target("plugin/deep.so")]
    rep = check_sides(command)
    for site in ("site_program", "site_again"):
        check_equal(total(sites_named(rep, site), "allocs"), 100, "allocs of " + site)
        check_equal(total(sites_named(rep, site), "live_blocks"), 0, "live blocks of " + site)
    check_equal(rep["totals"]["missed_frees"], 100, "frees that were noticed late")
    check_equal(rep["totals"]["unknown_frees"], 100, "frees of what nobody saw come")
    check_equal(sites_named(rep, "deep_malloc"), [], "sites in the library")
    check_equal([(a["function"], a["state"]) for a in rep["allocators"]], [("malloc", "refused")], "what is listed")
    # With another allocator preloaded, libc is handed blocks that are not its own, and says so.
    command[1] = "bound"
    done = check_sides(command, env={"LD_PRELOAD": "libjemalloc.so.2"}, status=128 + signal.SIGABRT,
                       stderr=False)
    check_equal(done["process"]["signal"], "SIGABRT", "its end")


DEEP_PLUGIN = """#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <string>
static void *kept[8];
extern "C" int *deep_new() { return new int[100]; }
extern "C" void deep_delete(char *p) { delete[] p; }
extern "C" void deep_keep() {
    void *aligned; volatile size_t none = 0;
    kept[0] = malloc(1000); kept[1] = calloc(10, 101); kept[2] = realloc((void *)none, 1020);
    kept[2] = realloc(kept[2], 1030); kept[3] = reallocarray((void *)none, 4, 260);
    if (posix_memalign(&aligned, 64, 1050) == 0) kept[4] = aligned;
    kept[5] = aligned_alloc(64, 1088); kept[6] = memalign(64, 1070); kept[7] = valloc(1080);
    free(strdup("of libc, and by our hooks: its own calls find them"));
    std::string long_one(500, 'x'); delete new std::string(long_one);
}
extern "C" void deep_drop() { for (void *p : kept) free(p); }
"""
DEEP_HOST = """#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <thread>
template <class F> static F *find(void *h, const char *name) { return (F *)dlsym(h, name); }
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        void *h = dlopen(argv[i], RTLD_NOW | RTLD_DEEPBIND);
        if (!h) { puts(dlerror()); return 1; }
        for (int k = 0; k < 50; k++) delete[] find<int *()>(h, "deep_new")();
        for (int k = 0; k < 50; k++) find<void(char *)>(h, "deep_delete")(new char[70]);
        find<void()>(h, "deep_keep")();
        std::thread([h] { for (int k = 0; k < 30; k++) free(malloc(40)); find<void()>(h, "deep_drop")(); }).join();
        find<void()>(h, "deep_keep")();
    }
    pid_t child = fork();
    if (child == 0) { delete[] find<int *()>(dlopen(argv[1], RTLD_NOW), "deep_new")(); _exit(3); }
    int status; waitpid(child, &status, 0);
    printf("%d\\n", WEXITSTATUS(status));
}
"""


@row("B8b", "libc and the C++ runtime are patched for it: calls count twice, or in another family")
def deep_binding_cxx():
    plugins = [compiled("deep/%s.so" % name, DEEP_PLUGIN, "-shared", "-fPIC", compiler="g++", ending=".cc")
               for name in ("one", "two")]
    host = compiled("deep/host", DEEP_HOST, "-pthread", "-ldl", compiler="g++", ending=".cc")
    rep = check_sides([host, *plugins])
    check_consistent(rep)
    check_equal(rep["wrong_frees"], [], "wrong frees, as by another family")
    made = sites_named(rep, "deep_new")
    check_equal((total(made, "allocs"), total(made, "alloc_bytes"), total(made, "live_blocks")),
                (100, 40000, 0), "what is made there and deleted here")
    check_equal({s["function"] for s in made}, {"operator new[]"}, "function")
    kept = sites_named(rep, "deep_keep")
    sizes = [1000, 1010, 1030, 1040, 1050, 1088, 1070, 1080]
    check_equal((total(kept, "live_blocks"), total(kept, "live_bytes")), (16, 2 * sum(sizes)), "what is kept")


@row("B9", "dlmopen: a second libc with its own malloc")
def other_namespace():
    rep = check_sides([fault_target("deep_binding"), "namespace", fault_target("plugin/deep.so")])
    check_equal(rep["totals"]["unknown_frees"], 5, "blocks of the other libc that were freed here")
    for site, live in (("site_program", 5), ("site_again", 0)):
        check_equal(total(sites_named(rep, site), "allocs"), 5, "allocs of " + site)
        check_equal(total(sites_named(rep, site), "live_blocks"), live, "live blocks of " + site)
    called = sites_named(rep, "site_called_back")
    check_equal(total(called, "allocs"), 100, "allocations in calls from there")
    check(all("main" in [f["function"] for f in s["stack"]] for s in called), "a stack ends in the other namespace")


@row("B10", "rbp with other data in it: a walk into nothing, PROT_NONE, a stack that is gone")
def odd_frames():
    check_sides([target("rbp_borrowed")])
    check_consistent(check_sides([fault_target("odd_frames")]))


@row("B10a", "every kind of frame at once: a stack that comes out otherwise than the reference's")
def compared():
    """Two libraries take each other's place; of those the reference remembers the rules, so their stacks
    may be longer than its own, and must be whole."""
    for seed in range(times(1, 10)):
        compare_stacks(seed, [fault_target("plugin/hazard_%s.so" % n) for n in ("one", "two")])


def compare_stacks(seed, files):
    command = [fault_target("unwind_hazards"), "6300", str(seed), *files]
    done, rep = launched(command, env={"HEAPTOP_UNWINDER": "check"}, timeout=120)
    check_same(plain(command), done, "compared")
    check("unwinds" in rep, "no stacks were compared (libunwind is not installed?)")
    check(rep["unwinds"]["checked"] >= 10 ** 5, "few stacks: %s" % rep["unwinds"])
    check_equal((rep["unwinds"]["wrong"], rep["unwinds"]["shorter"]), (0, 0), "wrong, shorter stacks")
    places = []
    for file in files:
        inside = [s for s in rep["sites"] if file in (f["module"] for f in s["stack"])]
        check(all(not s["truncated"] and "start_thread" in frames_of(s) for s in inside), "a stack ends early")
        places.append({f["pc"] for s in inside for f in s["stack"] if f["module"] == file})
    check(places[0] & places[1], "the libraries were never at one place")


LUAJIT = """local ffi = require('ffi')
ffi.cdef 'void *malloc(size_t); void free(void *);'
for i = 1, 200000 do local p = ffi.C.malloc(i % 500 + 1); ffi.C.free(p) end
print('ready'); io.flush(); io.read('a')
"""
NODE = """let kept = []; for (let i = 0; i < 30000; i++) { kept.push(Buffer.alloc(i % 9000)); if (i % 3) kept.pop(); }
require('zlib').gzipSync(Buffer.alloc(300000)); console.log('ready'); process.stdin.resume();
"""
JAVA = """import java.util.zip.*; import java.nio.*;
public class Work { static int pack(byte[] from, byte[] to) { Deflater d = new Deflater(); d.setInput(from); d.finish();
int n = d.deflate(to); d.end(); return n; }
public static void main(String[] a) throws Exception { byte[] from = new byte[300], to = new byte[400]; int n = 0;
for (int i = 0; i < 2000; i++) { from[i % 300]++; n += pack(from, to); ByteBuffer.allocateDirect(100 + i % 100); }
System.out.println("ready"); System.in.read(); } }
"""


def made_at_run_time():
    """Programs of code made at run time, and the call by which their allocations are known."""
    java = os.path.join(scratch, "java")
    os.makedirs(java, exist_ok=True)
    with open(os.path.join(java, "Work.java"), "w", encoding="utf-8") as f:
        f.write(JAVA)
    check_equal(run([need("javac"), "-d", java, os.path.join(java, "Work.java")]).returncode, 0, "status of javac")
    return {"luajit": ([need("luajit"), "-e", LUAJIT], 200000), "node": ([need("node"), "-e", NODE], 1000),
            "java": ([need("java"), "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", java, "Work"], 2000)}


@row("B11", "code made at run time: a walk without end, or a crash; signal handlers of its own")
def run_time_code():
    for name, (command, least) in made_at_run_time().items():
        states = {}
        for way in ("plain", *WAYS):
            with held(command, way, says=b"ready\n") as program:
                states[way] = {k: v for k, v in seen(program.pid).items() if k.startswith("Sig")}
                if way != "plain":
                    rep = program.report()
                    check(rep["totals"]["allocs"] >= least, "%s: %d allocations" % (name, rep["totals"]["allocs"]))
                    check_equal(rep["totals"]["untracked_blocks"], 0, name + ": untracked blocks")
        for way in WAYS:
            check_equal(states[way], states["plain"], "%s, %s: signals" % (name, way))


@row("B12", "return addresses that were changed: longjmp, throw and swapcontext go astray")
def returns():
    rep = truth_sides([target("truth_jumps")])
    truth_sides([target("truth_cxx")])
    for site in sites_named(rep, "site_coroutine"):
        check(not site["truncated"], "the stack of a context ends early: %s" % frames_of(site))


@row("B13", "an exception that passes one of our frames ends the program")
def throws():
    count = times(3000, 300000)
    rep = check_sides([fault_target("throws"), str(count)], timeout=300)
    check_consistent(rep)
    thrown = [s for s in sites_named(rep, "__cxa_allocate_exception") if "dive" in str(s["stack"])]
    check_equal(total(thrown, "allocs"), count, "exceptions")
    check_equal(total(thrown, "live_blocks"), 0, "exceptions left")


@row("B13a", "a C++ library in a program written in C: what it cannot get ends the program")
def refused():
    command = [fault_target("loads"), fault_target("plugin/refused.so")]
    check_equal(plain(command).stdout.count(b": an exception"), 8, "exceptions without heaptop")
    check_consistent(check_sides(command))
    check_consistent(check_sides([fault_target("loads"), fault_target("plugin/refused_inside.so")]))
    check_consistent(check_sides(command, env={"LD_PRELOAD": "libstdc++.so.6"}))


def reentrant(command, **how):
    """Under an allocator that may be left in the middle, in both orders."""
    library = fault_target(REENTRANT)
    rep = check_sides(command, env={"LD_PRELOAD": library}, **how)
    check_same(run(command, env=dict(os.environ, LD_PRELOAD=library)),
               run(command, env=dict(os.environ, LD_PRELOAD=library + ":" + LIBRARY)), "the other way round")
    return rep


@row("B14", "longjmp out of a handler that interrupted a hook: its thread is never recorded again")
def leaves_hooks():
    jumps = times(2000, 50000)
    rep = reentrant([fault_target("leaves_hooks"), str(jumps)], timeout=600)
    after = sites_named(rep, "site_after")
    check_equal(total(after, "allocs"), jumps // 100 * 1000, "allocations between the jumps")
    check_equal(total(after, "live_blocks"), 0, "blocks of theirs left")


# What the recorder does, and after how many of its instructions each is left in make check.
OPERATIONS = {"known": 60, "realloc": 60, "first": 30, "settle": 200, "piece": 40, "overflow": 30, "module": 60,
              "history": 60, "grow": 60, "new": 60, "thread": 40, "slots": 30}


@row("B14b", "longjmp out of a hook at each of its instructions: what it was at stays half done")
def left_at_each():
    """The history, modules, sites, thread slots and remembered stacks serve on. What may be lost is one
    event, and what one share of the live bytes gathers."""
    plugins = [os.path.join(TARGETS, "plugin", name + ".so") for name in ("one", "two")]
    libraries = ":".join((LIBRARY, fault_target(REENTRANT), "libstdc++.so.6"))
    wrong = []
    for operation, points in OPERATIONS.items():
        done = run([fault_tool("step"), libraries, str(times(points, 0)), fault_target("leaves_at"), operation,
                    *plugins], timeout=limit(300, 36000))
        check(done.stdout, "%s: %s" % (operation, done.stderr.decode()))
        found = json.loads(done.stdout)
        check(found["points"] >= min(times(points, 100), 20), "few instructions: %s" % found)
        wrong += ["%s: %s" % (operation, failure) for failure in found["failures"]]
    check(not wrong, "; ".join(wrong))


@row("B14a", "the stack overflows inside a hook, and a handler goes on elsewhere")
def overflows():
    often = times(60, 5000)
    rep = reentrant([fault_target("overflow_caught"), str(often)], timeout=600)
    after = sites_named(rep, "site_after")
    check_equal(total(after, "allocs"), 3 * 10 * often, "allocations between the overflows")
    check_equal(total(after, "live_blocks"), 0, "blocks of theirs left")


@row("B15", "a thread is cancelled inside a hook")
def cancels():
    rep = check_sides([fault_target("cancels"), "deferred", str(times(40, 8000))], timeout=300)
    check_consistent(rep)
    check_equal(total(sites_named(rep, "site_loop"), "live_blocks"), 0, "blocks of the loop left")
    threads = times(40, 400)  # that allocator takes nothing back
    rep = reentrant([fault_target("cancels"), "async", str(threads)], timeout=300)
    left = total(sites_named(rep, "site_loop"), "live_blocks")
    check(0 <= left <= threads, "%d blocks of %d threads left" % (left, threads))


def damaged(path, at, count, seed):
    """Other bytes in a file where the loader does not look."""
    dice = random.Random(seed)
    with open(path, "r+b") as f:
        for _ in range(count):
            f.seek(at + dice.randrange(max(1, os.path.getsize(path) - at)))
            f.write(bytes([dice.randrange(256)]))


def loaded_end(path):
    """Where the part of an ELF file ends that the loader maps."""
    with open(path, "rb") as f:
        data = f.read()
    offset, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    headers = [struct.unpack_from("<IIQQQQQQ", data, offset + i * size) for i in range(count)]
    return max(h[2] + h[5] for h in headers if h[0] == 1)


@row("B16", "a damaged ELF file or debug information: the viewer crashes, or never ends")
def damaged_files():
    """A report of a program whose libraries' symbols and debug information are garbage."""
    for seed in range(times(12, 500)):
        path = copies(1)[0]
        damaged(path, loaded_end(path), (5, 50, 1000)[seed % 3], seed)
        if seed % 4 == 3:
            os.truncate(path, loaded_end(path) + seed * 7)
        done, rep = launched([fault_target("loading"), "2", *[path] * 4])
        check_equal(done.returncode, 0, "status with damage %d (%s)" % (seed, done.stderr[-200:]))
        inside = [s for s in rep["sites"] if s["stack"] and s["stack"][0]["module"] == path]
        check_equal(total(inside, "allocs"), 16, "allocations in the damaged library")


@row("B17", "debug information is asked for over the network, and the screen waits")
def no_network():
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = "http://127.0.0.1:%d" % server.getsockname()[1]
        cache = os.path.join(scratch, "cache")
        launched([target("truth_jumps")], env={"DEBUGINFOD_URLS": url, "DEBUGINFOD_CACHE_PATH": cache}, timeout=30)
        server.setblocking(False)
        try:
            server.accept()
        except BlockingIOError:
            return
    check(False, "somebody asked")


run_rows()
