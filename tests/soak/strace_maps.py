#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mapped memory of real programs against the kernel's own account: what strace -k logs of a program that is recorded,
replayed, gives the same maps and bytes by call site, to the byte. Arguments: words of the cases' names."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

from postgres import database
from proving import (HEAPTOP, LIBRARY, add_case, check, check_equal, environment, need, run, run_cases, scratch, target)

CALLS = "mmap,munmap,mremap,shmget,shmat,shmdt,clone,clone3"
LIBRARIES = os.path.realpath(LIBRARY)
CALL = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\w+)")
UNFINISHED = re.compile(r"^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. (\w+) resumed>(.*)$")
FRAME = re.compile(r"^ > (.+?)\((.*)\) \[0x([0-9a-f]+)\]$")


def calls(path):
    """(process or thread, name, arguments, result, frames) in the order in which they ended."""
    left, current = {}, None
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            line = line.rstrip("\n")
            frame = FRAME.match(line)
            if frame and current:
                current[4].append((frame.group(1), frame.group(2).split("+")[0], int(frame.group(3), 16)))
                continue
            begun, resumed = UNFINISHED.match(line), RESUMED.match(line)
            if begun:
                left[begun.group(1)] = line[:-len(" <unfinished ...>")]
                continue
            if resumed:
                line = left.pop(resumed.group(1)) + resumed.group(3)
            ended = CALL.match(line)
            if ended and current:
                yield current
            if ended:
                current = (int(ended.group(1)), ended.group(2), ended.group(3).split(", "), ended.group(4), [])
    if current:
        yield current


def pages(size):
    return (size + 4095) & ~4095


def number(word):
    return 0 if word == "NULL" else int(word, 0)


class Account:
    """A process's: by caller (module, offset in the file), and the pages that are mapped, each with its caller."""

    def __init__(self):
        self.by_caller, self.pages, self.attached = {}, {}, {}

    def unmap(self, start, size):
        for page in range(start >> 12, (start + pages(size)) >> 12) if size < 1 << 30 else [
                p for p in list(self.pages) if start >> 12 <= p < (start + pages(size)) >> 12]:
            caller = self.pages.pop(page, None)
            if caller:
                self.by_caller[caller][2] -= 4096

    def map(self, start, size, caller):
        self.unmap(start, size)
        if not caller:
            return
        own = self.by_caller.setdefault(caller, [0, 0, 0])
        own[0] += 1
        own[1] += pages(size)
        own[2] += pages(size)
        self.pages.update(dict.fromkeys(range(start >> 12, (start + pages(size)) >> 12), caller))

    def apply(self, name, words, result, caller, shared):
        if result.startswith("-") or result == "?":
            return
        if name == "shmget":
            shared[result] = number(words[1])
        elif name == "shmat":
            self.attached[number(result)] = shared[words[0]]
            self.map(number(result), shared[words[0]], caller)
        elif name == "shmdt" and number(words[0]) in self.attached:
            self.unmap(number(words[0]), self.attached.pop(number(words[0])))
        if name == "munmap":
            self.unmap(number(words[0]), number(words[1]))
        elif name == "mmap":
            self.map(number(result), number(words[1]), caller)
        elif name == "mremap":
            if "MREMAP_DONTUNMAP" not in words[3]:
                self.unmap(number(words[0]), number(words[1]))
            self.map(number(result), number(words[2]), caller)


def caller_of(frames):
    """Who makes a call, if the program does: it passes the library's hook and then libc's function."""
    if len(frames) > 2 and "libc.so" in frames[0][0] and os.path.realpath(frames[1][0]) == LIBRARIES and frames[1][1] in (
            "mmap", "mmap64", "mremap", "shmat"):
        return os.path.realpath(frames[2][0]), frames[2][2]
    return None


def replay(path):
    """Process: its account. A thread is one of the process that made it."""
    log, accounts, shared = list(calls(path)), {}, {}
    makers = {int(result): thread for thread, name, words, result, _ in log
              if name.startswith("clone") and "CLONE_THREAD" in ", ".join(words) and result.isdigit()}
    for thread, name, words, result, frames in log:
        while thread in makers:
            thread = makers[thread]
        accounts.setdefault(thread, Account()).apply(name, words, result, caller_of(frames), shared)
    return accounts


SEGMENTS = {}


def file_offset(module, address):
    """strace names places by their offsets in files."""
    if module not in SEGMENTS:
        text = run(["readelf", "-lW", module]).stdout.decode()
        SEGMENTS[module] = [tuple(int(n, 16) for n in row) for row in
                            re.findall(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)", text)]
    for offset, start, size in SEGMENTS[module]:
        if start <= address < start + size:
            return address - start + offset
    return address


def reported(rep):
    found = {}
    for site in rep["sites"]:
        if site["kind"] == "heap":
            continue
        place = site["stack"][0]
        module = os.path.realpath(place["module"])
        own = found.setdefault((module, file_offset(module, int(place["offset"], 16))), [0, 0, 0])
        for i, field in enumerate(("allocs", "alloc_bytes", "live_bytes")):
            own[i] += site[field]
    return found


def images(rep):
    yield rep
    for child in rep["children"]:
        yield from images(child)


def compared(command, exe, least, before=(), folder=scratch, at="/"):
    out, log = os.path.join(folder, "strace.json"), os.path.join(folder, "strace.log")
    done = run([*before, HEAPTOP, "--report", "--format", "json", "-o", out, "--", need("strace"), "-f", "-k", "-o", log, "-e",
                "trace=" + CALLS, *command], env=environment(HEAPTOP_DIR=folder), cwd=at, timeout=300)
    check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode()[-300:])
    with open(out, encoding="utf-8") as f:
        found = [r for r in images(json.load(f)) if os.path.basename(r["process"]["exe"]).startswith(exe)]
    accounts = replay(log)
    sites = 0
    for rep in found:
        truth = accounts.get(rep["process"]["pid"], Account()).by_caller
        check_equal(reported(rep), truth, "mappings of %s" % rep["process"]["exe"])
        sites += len(truth)
    maps = sum(r["totals"]["maps"] for r in found)
    print("# %d processes, %d call sites, %d maps, %d bytes mapped" % (
        len(found), sites, maps, sum(r["totals"]["map_bytes"] for r in found)))
    check(maps >= least, "only %d maps" % maps)


PYTHON = ("import mmap, json, threading\na = [str(i) * 3 for i in range(100000)]\n"
          "m = [mmap.mmap(-1, 5000 * i + 1) for i in range(1, 20)]; m[3].resize(1 << 22); del m[2]\n"
          "t = [threading.Thread(target=lambda: [bytearray(1 << 20) for _ in range(9)]) for _ in range(3)]\n"
          "[x.start() for x in t]; [x.join() for x in t]; [x.close() for x in m[::2]]")
NODE = "let a = []; for (let i = 0; i < 1e5; i++) a.push({i, s: 'x' + i}); a = null;"
GIT = ("g='git -c user.name=n -c user.email=e'; mkdir r && cd r && $g init -q . && seq 100000 >f && $g add f && "
       "$g commit -qm a && seq 100001 >f && $g commit -qam b && $g gc -q && exec $g log -p --stat")
POSTGRES = ("PATH=$PATH:$(echo /usr/lib/postgresql/*/bin); exec postgres --single -D data -c fsync=off -c dynamic_shared_memory_type=mmap "
            "postgres <<'END' >/dev/null\ncreate table t as select i, repeat('x', i % 100) from generate_series(1, 50000) i;\n"
            "create index on t (i); select count(*) from t a join t b using (i);\nEND\n")


def postgres():
    folder, owner = database()
    compared(["/bin/sh", "-c", POSTGRES], "postgres", 1, owner, folder, folder)


add_case("python3: as strace has it", lambda: compared([need("python3"), "-c", PYTHON], "python3", 20))
add_case("node: as strace has it", lambda: compared([need("node"), "-e", NODE], "node", 20))
add_case("git: as strace has it", lambda: compared(["/bin/sh", "-c", GIT], "git", 20, at=scratch))
add_case("postgres: as strace has it", postgres)
for seed in (1, 2):
    add_case("partial unmaps and remaps, seed %d: as strace has it" % seed, lambda number=seed: compared(
        [target("truth_maps"), os.path.join(scratch, "maps"), str(number), "2000"], "truth_maps", 500))

run_cases()
