#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much stack is taken, by what the compiler says of each function (gcc's -fcallgraph-info=su). For the thread
that allocates, which may have little, the library's deepest call path; in the viewer, whose stacks a
limit may keep small (ulimit -s), that of each function, and the worst way, too."""

import glob
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
B = os.environ.get("B", "build")
RETURN_ADDRESS = 8

HOOKS = ("malloc", "calloc", "realloc", "reallocarray", "free", "posix_memalign", "aligned_alloc", "memalign",
         "valloc", "pvalloc", "_Znwm", "_Znam", "_ZnwmSt11align_val_t", "_ZdlPv", "_ZdaPv")
# Only when it is asked for (HEAPTOP_UNWINDER).
REFERENCE = {"compare", "compare_fresh", "unwind_libunwind"}
START = {"lifecycle_wake"}
ORDINARY = re.compile(r"(malloc|free)_recorded|realloc_|record_(alloc|free|realloc_(begin|done|failed))$")

FUNCTION_MOST = 8192
WAY_MOST = 32768  # half of 64 KB: the rest is for libraries

stack = {}  # of a function, in bytes
calls = {}


def read(path):
    """Adds what one object file has; names of static functions begin with their file's."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for name, label in re.findall(r'node: \{ title: "([^"]*)" label: "([^"]*)"', text):
        bytes_ = re.search(r"(\d+) bytes \(", label)
        if bytes_:
            stack[name] = int(bytes_.group(1))
    for name, callee in re.findall(r'edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)"', text):
        calls.setdefault(name, set()).add(callee)


def short(name):
    return name.split(":")[-1]


def deepest(name, follow, above=()):
    """The most bytes from this function on, by direct calls, and the way there."""
    if name in above:
        return 0, ["(again) " + short(name)]
    most, way = 0, []
    for callee in calls.get(name, ()):
        if callee in stack and follow(short(callee)):
            most, way = max((most, way), deepest(callee, follow, (*above, name)))
    own = stack[name] + RETURN_ADDRESS
    return own + most, ["%s %d" % (short(name), own), *way]


def judge(test, names, limit, follow):
    missing = [n for n in names if n not in stack]
    if missing:
        print("not ok - %s: nothing is said of %s" % (test, missing))
        return False
    most, way = max(deepest(n, follow) for n in names)
    print("%s - %s" % ("ok" if most <= limit else "not ok", test) +
          ("" if most <= limit else ": more than %d" % limit))
    print("# %d bytes: %s" % (most, ", ".join(way)))
    return most <= limit


def library():
    if "record_alloc_inline" in map(short, stack):
        print("skip - lint_stack: the library was built without optimisation")
        return []
    return [
        judge("lint_stack_of_an_ordinary_event", HOOKS, 512, ORDINARY.match),
        judge("lint_stack_of_the_unwinder", ["unwind_take", "unwind_cfi_is_clear"], 1536,
              lambda n: n not in REFERENCE),
        judge("lint_stack_of_any_event", HOOKS, 3584, lambda n: n not in REFERENCE | START),
        judge("lint_stack_of_the_start", sorted(START), 4096, lambda n: True),
        judge("lint_stack_of_attaching", ["lifecycle_attach", "inner_attach"], 3584, lambda n: True),
        # On any thread that is stopped, wherever it is.
        judge("lint_stack_of_detaching", ["heaptop_detach"], 1024, lambda n: True),
    ]


def sanitized():
    return any(short(callee).startswith(("__asan_", "__ubsan_", "__tsan_")) for each in calls.values()
               for callee in each)


def viewer():
    if sanitized() or "read_at" not in stack or "read_close" not in stack or "main" not in stack:
        print("skip - lint_stack: the viewer was built with a sanitizer")
        return []
    large = sorted((bytes_, name) for name, bytes_ in stack.items() if bytes_ > FUNCTION_MOST)
    print("%s - lint_stack_of_each_function_of_the_viewer" % ("not ok" if large else "ok") +
          (": more than %d bytes" % FUNCTION_MOST if large else ""))
    for bytes_, name in large:
        print("# %d bytes: %s" % (bytes_, name))
    called = {callee for each in calls.values() for callee in each}
    first = sorted(n for n in stack if n not in called)  # threads, callbacks, main
    return [not large, judge("lint_stack_of_any_way_through_the_viewer", first, WAY_MOST, lambda n: True)]


def results():
    for part, folder in ((library, "so"), (viewer, "view")):
        stack.clear()
        calls.clear()
        files = glob.glob(os.path.join(B, folder, "**", "*.ci"), recursive=True)
        for path in files:
            read(path)
        if files:
            yield from part()
        else:
            print("skip - lint_stack: %s was not built by a gcc that tells (-fcallgraph-info)" % folder)


def main():
    return 0 if all(list(results())) else 1


sys.exit(main())
