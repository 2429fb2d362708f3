#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The structure that the design promises: who may include whom, what each room may use, and what a
file is called, how long it is and what it begins with."""

import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

# Room -> what it may include, besides itself: rooms (with the rooms below them), or single headers.
MAY = {
    "shm": [],
    "preload": ["shm", "preload/patch", "preload/arch"],
    "preload/arch": [],
    "preload/patch": [],
    "src/util": [],
    "src/proc": ["src/util"],
    "src/read": ["shm", "src/util"],
    "src/sym": ["src/util"],
    "src/core": ["src/read", "src/proc", "src/util", "shm/layout.h", "shm/copy.h"],
    "src/model": ["src/util", "shm/layout.h"],
    "src/export": ["src/diff", "src/model", "src/util"],
    "src/record": ["src/model", "src/util"],
    "src/diff": ["src/model", "src/util"],
    "src/source": ["src/model", "src/util"],
    "src/trace": ["src/proc", "src/util"],
    "src/target": ["shm", "src/read", "src/proc", "src/util"],
    "src/far": ["src/read", "src/proc", "src/util", "shm/layout.h", "shm/directories.h"],
    "src/attach": ["src/trace", "src/target", "src/read", "src/proc", "src/sym", "src/util", "preload/patch", "shm"],
    "src/leak/access": ["src/core", "src/trace", "src/read", "src/proc", "src/util", "shm/copy.h"],
    "src/leak/analysis": ["src/leak/access", "src/core", "src/trace", "src/read", "src/proc", "src/util", "shm/layout.h"],
    "src/leak/names": ["src/leak/analysis", "src/leak/access", "src/sym", "src/proc", "src/util"],
    "src/leak": ["shm/before.h", "src/leak", "src/core", "src/sym", "src/trace", "src/read", "src/proc", "src/util"],
    "src/scan": ["src/far/order.h", "src/leak", "src/trace", "src/read", "src/model", "src/proc", "src/util", "shm/layout.h"],
    "src/memory": ["src/far/order.h", "src/leak", "src/core", "src/read", "src/model", "src/proc", "src/util", "shm/layout.h"],
    "src/marks": ["src/target", "src/read", "src/model", "src/proc", "src/util"],
    "src/session": ["src/far/moment.h", "src/far/order.h", "src/memory/map_ranges.h", "src/marks", "src/read", "src/sym", "src/model", "src/proc", "src/util",
                    "shm/layout.h", "shm/poisson.h"],
    "src/run": ["src/attach", "src/core", "src/far", "src/trace/stop.h", "src/session", "src/record", "src/diff", "src/scan", "src/memory", "src/marks", "src/source", "src/leak",
                "src/target", "src/export", "src/read", "src/sym", "src/model", "src/proc", "src/util", "shm/allocator_rule.h"],
    "src/show": ["src/run", "src/export", "src/model", "src/util", "tui"],
    "src/agent": ["src/run/agent_scans.h", "src/run/agent_maps.h", "src/run/agent_contents.h", "src/run/agent_images.h", "src/run/agent_children.h", "src/run/agent_processes.h", "src/run/agent_walks.h", "src/run/agent_events.h", "src/far", "src/target", "src/leak/names", "src/leak/access", "src/read", "src/util"],
    "tui": ["src/model", "src/util"],
    "src": ["src", "tui"],
}
# What runs inside other programs' malloc has no stdio, no malloc, no locks.
BANNED = {"shm": ["stdio.h", "malloc.h", "pthread.h", "signal.h"],
          "preload": ["stdio.h", "malloc.h", "pthread.h"]}
LINES_MAX = 600
failures = {}


def room_of(path):
    return os.path.dirname(path)


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


MADE = {"preload/inner_names.h"}  # by the build


def check_includes(path, text):
    room = room_of(path)
    if room not in MAY:
        return fail("rooms", "%s: no room of the design" % path)
    for line in re.findall(r'^#\s*include\s+"([^"]+)"', text, re.M):
        if not os.path.exists(line) and line not in MADE:
            fail("rooms", "%s includes \"%s\", which is not written from the root" % (path, line))
        elif not allowed(room, line):
            fail("rooms", "%s includes \"%s\": %s may not" % (path, line, room))
    for line in re.findall(r"^#\s*include\s+<([^>]+)>", text, re.M):
        if line in BANNED.get(room, []):
            fail("banned_headers", "%s includes <%s>" % (path, line))
        if "curses" in line and room != "tui":
            fail("banned_headers", "%s includes <%s>: only tui/ may" % (path, line))


def module(path):
    return os.path.splitext(path)[0]


def graph_of(paths):
    """Module -> the modules that it includes."""
    graph = {}
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in re.findall(r'^#\s*include\s+"([^"]+)"', f.read(), re.M):
                if module(line) != module(path):
                    graph.setdefault(module(path), set()).add(module(line))
    return graph


def circles(graph):
    """The sets of nodes that reach each other (Tarjan's strongly connected components)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            circle = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(circle) > 1:
                found.append(sorted(circle))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def check_circles(paths):
    for circle in circles(graph_of(paths)):
        fail("circles", "modules include each other: " + ", ".join(circle))
    rooms = {room: {m for m in may if m in MAY and m != room} for room, may in MAY.items()
             if room not in ("src", "src/leak")}
    for circle in circles(rooms):
        fail("circles", "the table of rooms allows a circle: " + ", ".join(circle))


# The header that becomes part of other programs.
LICENCE_OF = {"preload/heaptop.h": "0BSD"}


def check_shape(path, text):
    if "SPDX-License-Identifier: " + LICENCE_OF.get(path, "GPL-3.0-or-later") not in text[:400]:
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


def is_ours(path):
    return re.search(r"\.[ch]$", path) and not path.startswith("tests/")


check_circles([f for f in files() if is_ours(f)])
for f in files():
    if not re.search(r"\.(c|h|cc|py|sh|mk)$", f):
        continue
    content = open(f, encoding="utf-8", errors="replace").read()
    check_shape(f, content)
    if is_ours(f):
        check_includes(f, content)
        check_orders(f, content)

for test in ("rooms", "banned_headers", "spdx", "length", "file_names", "unfinished", "memory_orders",
             "circles"):
    wrong = failures.get(test)
    for w in wrong or []:
        print("  " + w, file=sys.stderr)
    print("not ok - lint_%s: %d, the first: %s" % (test, len(wrong), wrong[0]) if wrong
          else "ok - lint_%s" % test)
sys.exit(1 if failures else 0)
