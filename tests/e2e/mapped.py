#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mapped memory: programs that keep an account of every mapping of their own (tests/targets/truth_maps.c), and real ones
whose calls a second library logs (tests/targets/plugin/map_logger.c), against the report: to the byte, by call site."""

import bisect
import json
import os
import re
import shutil
import struct

from proving import (ALLOCATORS, B, HEAPTOP, add_case, allocator, behind, case, check, check_equal, environment, frames_of, narrow, need,
                     report, report_of_segment, run, run_cases, scratch, segment_files, target)

FIELDS = ("allocs", "alloc_bytes", "live_bytes", "live_blocks")


def mapped(rep):
    return [s for s in rep["sites"] if s["kind"] != "heap"]


def consistent(rep):
    """The totals are the sums of the sites."""
    t, sites = rep["totals"], mapped(rep)
    check_equal(sum(s["allocs"] for s in sites), t["maps"], "sum of the sites' maps")
    check_equal(sum(s["frees"] for s in sites), t["unmaps"], "sum of the sites' unmaps")
    check_equal(sum(s["alloc_bytes"] for s in sites), t["map_bytes"], "sum of the sites' mapped bytes")
    check_equal(sum(s["live_bytes"] for s in sites), t["mapped_bytes"], "sum of the sites' live bytes")
    check_equal(t["map_bytes"] - t["unmap_bytes"], t["mapped_bytes"], "mapped less unmapped")
    check(t["mapped_peak_bytes"] >= t["mapped_bytes"], "the peak")


def truth_read(path):
    with open(path, encoding="ascii") as f:
        rows = [line.split() for line in f]
    return {name: [int(maps), int(mapped), int(mapped) - int(unmapped), int(blocks)]
            for name, maps, mapped, unmapped, blocks in rows}


def sums(rep):
    """By the function that maps, as truth_maps has it."""
    found = {}
    for site in mapped(rep):
        name = next((f for f in frames_of(site) if f and f.startswith("map_")), "elsewhere")
        own = found.setdefault(name, [0] * len(FIELDS))
        for i, field in enumerate(FIELDS):
            own[i] += site[field]
    return found


def lossless(rep):
    for field in ("untracked_maps", "untracked_unmap_bytes", "missed_unmap_bytes"):
        check_equal(rep["totals"][field], 0, field)


def compare(rep, path):
    consistent(rep)
    truth = {name: row for name, row in truth_read(path).items() if row[0]}
    check_equal(sums(rep), truth, "what was mapped, by function")


def maps(*arguments, options=(), program=None):
    path = os.path.join(scratch, "maps")
    done, rep = report([program or target("truth_maps"), path, *map(str, arguments)], options)
    check_equal(done.returncode, 0, "exit status (%s)" % done.stderr.decode()[-300:])
    return path, rep


for seed in (1, 2, 3):
    def fuzzed(number=seed):
        path, rep = maps(number, 3000)
        lossless(rep)
        compare(rep, path)
    add_case("random calls, seed %d" % seed, fuzzed)


@case("8 threads")
def threads():
    path, rep = maps(7, 2000, 8)
    lossless(rep)
    compare(rep, path)


@case("brk, sbrk and shared memory, by their kinds")
def breaks():
    path, rep = maps("breaks")
    lossless(rep)
    compare(rep, path)
    check_equal({s["function"]: s["kind"] for s in mapped(rep)},
                {"sbrk": "brk", "brk": "brk", "shmat": "shm"}, "kinds")


@case("32-bit: random calls, 8 threads; brk, sbrk and shared memory")
def narrow_maps():
    for arguments in ((1, 2000), (7, 1000, 8), ("breaks",)):
        path, rep = maps(*arguments, program=narrow("truth_maps"))
        lossless(rep)
        compare(rep, path)


@case("a signal handler that maps, too")
def handler():
    path, rep = maps("signal")
    consistent(rep)
    lossless(rep)
    # A handler that interrupted another hook's recording has no stack.
    own, truth = list(sums(rep).values()), list(truth_read(path).values())
    check_equal([sum(row[i] for row in own) for i in range(4)], [sum(row[i] for row in truth) for i in range(4)],
                "what was mapped")


@case("a forked child: what it maps itself")
def forked():
    path, rep = maps("forked")
    lossless(rep)
    compare(rep, path)
    child = rep["children"][0]
    lossless(child)
    compare(child, path + ".child")
    check_equal(child["totals"]["unknown_unmap_bytes"], 5 * 4096, "bytes of its parent's that it has unmapped")


@case("a vfork child maps for its parent")
def vforked():
    path, rep = maps("vforked")
    lossless(rep)
    compare(rep, path)


@case("killed: the segment has all")
def killed():
    path = os.path.join(scratch, "maps")
    code = ("import mmap, os, signal\nm = [mmap.mmap(-1, 1 << 20) for _ in range(5)]\ndel m[0]\n"
            "os.kill(os.getpid(), signal.SIGKILL)")
    before = set(segment_files())
    done = run([need("python3"), "-c", code], env=environment(LD_PRELOAD=os.path.join(B, "libheaptop.so")))
    check_equal(done.returncode, -9, "status")
    left = [f for f in segment_files() if f not in before]
    check_equal(len(left), 1, "segments left behind")
    rep = report_of_segment(left[0])
    os.unlink(left[0])
    consistent(rep)
    own = [s for s in mapped(rep) if s["stack"][0]["function"] == "new_mmap_object"]
    check_equal([sum(s[f] for s in own) for f in FIELDS], [5, 5 << 20, 4 << 20, 4], "mappings of the script")


# ---- real programs, logged by a second library ----

RECORD = struct.Struct("6Q")
UNMAPS, MAPS, FAILED, DETACHES = 1, 2, 3, 4


def logger(folder=scratch):
    return behind(folder, "map_logger.so", MAP_LOG=os.path.join(folder, "log"))


def records(path):
    with open(path, "rb") as f:
        while True:
            piece = f.read(RECORD.size << 10)
            for record in RECORD.iter_unpack(piece[:len(piece) // RECORD.size * RECORD.size]):
                if record[0] == 0:
                    return
                yield record
            if not piece:
                return


class Replay:
    """What is mapped, by ranges (start: (end, caller, block)), and what each caller has mapped."""

    def __init__(self, path):
        self.starts, self.ranges, self.blocks, self.by_caller = [], {}, 0, {}
        log = list(records(path))
        failed = {number for kind, _, _, _, number, _ in log if kind == FAILED}
        for kind, start, end, caller, number, _ in log:
            if kind == UNMAPS and number not in failed:
                self.unmap(start, end)
            elif kind == DETACHES and number not in failed and start in self.ranges:
                block = self.ranges[start][2]
                for low, (high, _, other) in list(self.ranges.items()):
                    if other == block:
                        self.unmap(low, high)
            elif kind == MAPS:
                self.unmap(start, end)
                self.blocks += 1
                self.add(start, end, caller, self.blocks)
                own = self.by_caller.setdefault(caller, [0, 0, 0, 0])
                own[0] += 1
                own[1] += end - start

    def add(self, start, end, caller, block):
        bisect.insort(self.starts, start)
        self.ranges[start] = (end, caller, block)

    def unmap(self, start, end):
        at = max(bisect.bisect_right(self.starts, start) - 1, 0)
        while at < len(self.starts) and self.starts[at] < end:
            low = self.starts[at]
            high, caller, block = self.ranges[low]
            if high <= start:
                at += 1
                continue
            del self.starts[at], self.ranges[low]
            if low < start:
                self.add(low, start, caller, block)
                at += 1
            if high > end:
                self.add(end, high, caller, block)
                at += 1

    def sums(self):
        blocks = {}
        for start, (end, caller, block) in self.ranges.items():
            self.by_caller[caller][2] += end - start
            blocks.setdefault(caller, set()).add(block)
        for caller, own in blocks.items():
            self.by_caller[caller][3] = len(own)
        return self.by_caller


def by_caller(rep):
    found = {}
    for site in mapped(rep):
        own = found.setdefault(int(site["stack"][0]["pc"], 16), [0, 0, 0, 0])
        for i, field in enumerate(FIELDS):
            own[i] += site[field]
    return found


def agrees(*command, processes=1, **how):
    """Each process's account is that of the logger, by caller."""
    done, rep = report([logger(), *command], **how)
    check_equal(done.returncode, 0, "exit status (%s)" % done.stderr.decode()[-300:])
    compare_all(rep, processes, scratch)
    return rep


def compare_all(rep, processes, folder):
    compared = 0
    for one in [rep, *rep["children"]]:
        log = os.path.join(folder, "log.%d" % one["process"]["pid"])
        consistent(one)
        if not os.path.exists(log) or one["process"]["exe"].endswith(("/sh", "/dash")):
            continue
        lossless(one)
        check_equal(by_caller(one), Replay(log).sums(), "what %s has mapped, by caller" % one["process"]["exe"])
        compared += one["totals"]["maps"] > 0
        os.unlink(log)
    check(compared >= processes, "only %d processes with mappings" % compared)


@case("python3: as a logger has it, by caller")
def python():
    code = ("import mmap, threading, json, re, decimal\n"
            "a = [str(i) * 3 for i in range(200000)]; m = [mmap.mmap(-1, 5000 * i + 1) for i in range(1, 50)]\n"
            "t = [threading.Thread(target=lambda: [bytearray(1 << 20) for _ in range(50)]) for _ in range(4)]\n"
            "[x.start() for x in t]; [x.join() for x in t]; del a; m[3].resize(1 << 22); [x.close() for x in m[::2]]")
    rep = agrees(need("python3"), "-c", code)
    check(any("_PyObject_ArenaMmap" in frames_of(s) or "new_arena" in frames_of(s) for s in mapped(rep)),
          "no site is that of Python's arenas")


@case("node: as a logger has it, by caller")
def node():
    agrees(need("node"), "-e", "let a = []; for (let i = 0; i < 2e5; i++) a.push({i, s: 'x' + i}); "
           "let b = []; for (let i = 0; i < 40; i++) b.push(Buffer.alloc(1 << 20)); a = null;", timeout=120)


@case("git: as a logger has it, by caller")
def git():
    here = os.path.join(scratch, "repository")
    script = ("g='%s -c user.name=n -c user.email=e'; mkdir %s && cd %s && $g init -q . && seq 100000 >f && $g add f && "
              "$g commit -qm a && seq 100001 >f && $g commit -qam b && $g gc -q && exec $g log -p --stat"
              % (need("git"), here, here))
    agrees("/bin/sh", "-c", script)


POSTGRES = r"""PATH=$PATH:$(echo /usr/lib/postgresql/*/bin) && initdb -D data -U postgres --no-sync >/dev/null && exec postgres \
--single -D data -c fsync=off postgres <<'END' >/dev/null
create table t as select i, repeat('x', i % 100) from generate_series(1, 50000) i;
create index on t (i); select count(*) from t a join t b using (i);
END"""


@case("postgres: as a logger has it, by caller")
def postgres():
    need("postgres")
    folder = os.path.join(scratch, "postgres")
    os.mkdir(folder)
    other = os.geteuid() == 0  # it refuses to run as root
    command = [need("setpriv"), "--reuid=postgres", "--regid=postgres", "--clear-groups"] if other else []
    if other:
        shutil.chown(folder, "postgres")
        os.chmod(scratch, 0o711)
    out = os.path.join(folder, "report.json")
    command += [HEAPTOP, "--report", "--format", "json", "-o", out, "--", logger(folder), "/bin/sh", "-c", POSTGRES]
    done = run(command, env=environment(HEAPTOP_DIR=folder), cwd=folder, timeout=180)
    os.chmod(scratch, 0o700)
    check_equal(done.returncode, 0, "exit status (%s)" % done.stderr.decode()[-300:])
    with open(out, encoding="utf-8") as f:
        rep = json.load(f)
    compare_all(rep, 2, folder)
    check({s["kind"] for one in [rep, *rep["children"]] for s in mapped(one)} >= {"mmap", "shm"}, "no shared memory")


for library in ALLOCATORS:
    def allocators_own(name=library):
        env = environment(LD_PRELOAD=allocator(name), PYTHONMALLOC="malloc")
        done, rep = report([need("python3"), "-c", "a = [str(i) for i in range(300000)]"], env=env)
        check_equal(done.returncode, 0, "exit status (%s)" % done.stderr.decode()[-300:])
        consistent(rep)
        if "jemalloc" in name:  # others map before the recording begins, or by an sbrk of their own
            check(rep["totals"]["allocator_mapped_bytes"] > 0, "nothing is its own")
        check(not [s for s in mapped(rep) if name.split(".")[0] in s["stack"][0]["module"]], "it is a call site")
    add_case("%s: what it maps is no call site" % library, allocators_own)


@case("text has totals and sites")
def text():
    done = run([HEAPTOP, "--report", "--", target("truth_maps"), os.path.join(scratch, "maps"), "breaks"])
    said = done.stderr.decode()
    check("mapped    " in said and "mappings, by live bytes" in said and "map_attached" in said, said[-2000:])


@case("the report of a program that maps nothing is as before")
def nothing():
    done = run([HEAPTOP, "--report", "--", target("malloc_loop"), "0.01"])
    check(not re.search("^mapp", done.stderr.decode(), re.M), done.stderr.decode()[-500:])


run_cases()
