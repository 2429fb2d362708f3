#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The structure that the design promises: who may include whom, what each room may use, and what a
file is called, how long it is and what it begins with."""

import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

# Room -> rooms that it may include, besides itself. A file directly in src/ is a room of its own.
MAY = {
    "shm": [],
    "preload": ["shm"],
    "src/util": [],
    "src/read": ["shm", "src/util"],
    "src/proc": ["src/util"],
    "src/leak": ["src/read", "src/proc", "src/util", "shm/layout.h", "shm/copy.h"],
    "src/sym": ["src/util"],
    "src/model": ["src/util", "shm/layout.h"],
    "src/target": ["src/read", "src/proc", "src/util", "shm"],
    "src/export": ["src/model", "src/util"],
    "tui": ["src/model", "src/util"],
    "src/steer": ["shm/poisson.h"],
    "src/sampler": ["shm/poisson.h", "src/steer", "src/read", "src/model", "src/proc"],
    "src/holder": ["src/read", "src/model", "src/proc", "src/util"],
    "src/list": ["src/target", "src/util"],
    "src/leakrows": ["src/leak", "src/model"],
    "src/leakcheck": ["src/leakrows", "src/leak", "src/read", "src/model", "src/util", "shm/layout.h"],
    "src/scanjob": ["src/leakcheck", "src/leak", "src/read", "src/util"],
    "src/scans": ["src/scanjob", "src/leakcheck", "src/leak", "src/read", "src/model", "src/proc", "src/util"],
    "src/shownleaks": ["src/run", "src/scans", "src/leakcheck", "src/watch", "src/session", "src/export", "src/leak", "src/proc", "src/model", "src/util"],
    "src/exitscan": ["src/util", "src/read", "src/run", "src/scans", "src/shownleaks", "src/watch", "src/session"],
    "src/leakkin": ["src/run", "src/scanjob", "src/leakcheck", "src/watch", "src/session", "src/leak", "src/read", "src/model", "src/util"],
    "src/leaklook": ["src/leakkin", "src/scanjob", "src/run", "src/scans", "src/shownleaks", "src/leakcheck", "src/options", "src/outfile", "src/watch", "src/session", "src/export", "src/leak", "src/read", "src/model", "src/util"],
    "src/verdict": ["src/options", "src/model", "src/util"],
    "src/report": ["src/options", "src/outfile", "src/picture", "src/export", "src/model", "src/util"],
    "src/allocator": ["src/leak", "src/read", "src/proc"],
    "src/mapping": ["src/allocator", "src/leak", "src/read", "src/proc", "src/model", "src/util", "shm/layout.h"],
    "src/resident": ["src/mapping", "src/model", "src/util"],
    "src/options": ["src/steer", "src/model", "src/util"],
    "src/outfile": ["src/options", "src/util"],
    "src/sourcefile": ["src/model", "src/util"],
    "src/sourcecache": ["src/sourcefile", "src/model", "src/util"],
    "src/ages": ["shm/poisson.h", "src/read", "src/model", "src/util"],
    "src/picture": ["src/options", "src/model"],
    "src/command": ["src/read", "src/util"],
    "src/config": ["src/model", "src/options", "src/sym", "src/util"],
    "src/naming": ["src/model", "src/sym", "src/util"],
    "src/intake": ["src/naming", "src/read", "src/model", "src/sym", "src/util", "shm/layout.h"],
    "src/threads": ["src/read", "src/model", "src/proc", "src/util"],
    "src/alive": ["shm/poisson.h", "src/model", "src/read", "src/util"],
    "src/births": ["shm/poisson.h", "src/model", "src/read", "src/util"],
    "src/lasting": ["shm/poisson.h", "src/model", "src/read", "src/util"],
    "src/survey": ["src/ages", "src/alive", "src/births", "src/threads", "src/lasting", "src/model", "src/read", "src/util"],
    "src/markfile": ["src/model", "src/read", "src/proc", "src/util"],
    "src/marks": ["src/markfile", "src/model", "src/read", "src/util"],
    "src/mark": ["src/marks", "src/markfile", "src/target", "src/model", "src/read", "src/util"],
    "src/session": ["src/totals", "src/survey", "src/lasting", "src/ages", "src/marks", "src/births", "src/markfile", "src/threads", "src/command", "src/holder", "src/intake", "src/sampler", "src/steer", "src/read", "src/model", "src/sym", "src/proc", "src/util"],
    "src/totals": ["src/read", "src/model"],
    "src/watch": ["src/session", "src/steer", "src/target", "src/read", "src/model"],
    "src/unrecorded": ["src/target", "src/model", "src/proc", "src/util"],
    "src/processes": ["src/unrecorded", "src/watch", "src/session", "src/target", "src/read", "src/model", "src/proc", "src/util"],
    "src/run": ["src/scans", "src/processes", "src/sourcecache", "src/sourcefile", "src/marks", "src/options", "src/steer", "src/target", "src/watch", "src/session", "src/leakcheck", "src/mapping", "src/resident", "src/leak", "src/read", "src/model", "src/util"],
    "src/shown": ["src/run", "src/sourcecache", "src/sourcefile", "src/processes", "src/marks", "src/watch", "src/session", "src/model"],
    "src/main": ["src", "tui"],
}
# What runs inside other programs' malloc has no stdio, no malloc, no locks.
BANNED = {"shm": ["stdio.h", "malloc.h", "pthread.h", "signal.h"],
          "preload": ["stdio.h", "malloc.h", "pthread.h"]}
LINES_MAX = 600
failures = {}


def room_of(path):
    parts = path.split("/")
    if parts[0] == "src" and len(parts) == 2:
        return os.path.splitext(path)[0]
    return "/".join(parts[:2]) if parts[0] == "src" else parts[0]


def fail(test, what):
    failures.setdefault(test, []).append(what)


def files():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], capture_output=True,
                         text=True, check=True).stdout.split("\n")
    return [f for f in out if f and os.path.exists(f)]


def allowed(room, target):
    if room_of(target) == room:
        return True
    return any(target == m or target.startswith(m + "/") or os.path.splitext(target)[0] == m
               for m in MAY[room])


def check_includes(path, text):
    room = room_of(path)
    if room not in MAY:
        return fail("rooms", "%s: no room of the design" % path)
    for line in re.findall(r'^#\s*include\s+"([^"]+)"', text, re.M):
        if not os.path.exists(line):
            fail("rooms", "%s includes \"%s\", which is not written from the root" % (path, line))
        elif not allowed(room, line):
            fail("rooms", "%s includes \"%s\": %s may not" % (path, line, room))
    for line in re.findall(r"^#\s*include\s+<([^>]+)>", text, re.M):
        if line in BANNED.get(room, []):
            fail("banned_headers", "%s includes <%s>" % (path, line))
        if "curses" in line and room != "tui":
            fail("banned_headers", "%s includes <%s>: only tui/ may" % (path, line))


def check_shape(path, text):
    if "SPDX-License-Identifier: GPL-3.0-or-later" not in text[:400]:
        fail("spdx", path)
    lines = text.count("\n")
    head = text[:2000]
    if lines > LINES_MAX and "long because" not in head.lower():
        fail("length", "%s: %d lines, and its head gives no reason (\"long because\")" % (path, lines))
    if re.search(r"(^|/)(misc|common|helpers?|utils?)\.[a-z]+$", path):
        fail("file_names", path)
    if re.search(r"\b(TODO|FIXME|XXX)\b", text) and path != "tests/lint/rooms.py":
        fail("unfinished", path)


def check_orders(path, text):
    if path.startswith(("shm/", "preload/")) and path != "shm/atomic.h" and "__ATOMIC_" in text:
        fail("memory_orders", "%s names a memory order; shm/atomic.h does that" % path)


for f in files():
    if not re.search(r"\.(c|h|cc|py|sh|mk)$", f):
        continue
    content = open(f, encoding="utf-8", errors="replace").read()
    check_shape(f, content)
    if re.search(r"\.[ch]$", f) and not f.startswith("tests/"):
        check_includes(f, content)
        check_orders(f, content)

for test in ("rooms", "banned_headers", "spdx", "length", "file_names", "unfinished", "memory_orders"):
    wrong = failures.get(test)
    for w in wrong or []:
        print("  " + w, file=sys.stderr)
    print("not ok - lint_%s: %d, the first: %s" % (test, len(wrong), wrong[0]) if wrong
          else "ok - lint_%s" % test)
sys.exit(1 if failures else 0)
