# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions that nothing calls. Links the objects of a build with -ffunction-sections and without inlining
(compilers.sh makes it and runs this) anew with --gc-sections, and reads which functions the linker drops.

    python3 tests/lint/uncalled.py BUILD"""

import glob
import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
BUILD = sys.argv[1]

# Called by tests alone, and what each is for there.
FOR_TESTS = {
    "demangle_name": "a name demangled without a module; the fuzzer's way in",
    "live_direct_count": "entries that pieces hold, which must be those that were put in",
    "entry_clear": "a patched entry as it was; the library's own stay until the process ends",
    "intern_count": "how many different texts are kept",
    "live_overflow_probe_length": "how far searches go, which bounds the cost of a full table",
    "read_events": "the reader of the rings, by which tests see the events that the library wrote",
    "ring_push": "an event of any slot, in one call",
    "stack_compare": "whether a site has the frames that it was made of",
    "sym_module_quality": "which of a module's tables its names came from",
}

ROOTS = ["-Wl,-u," + name for name in FOR_TESTS]
GC = ["-Wl,--gc-sections", "-Wl,--print-gc-sections"]
LIBRARY = ["-shared", "-Wl,-z,defs", "-Wl,--version-script=preload/exports.map"]
DROPPED = re.compile(r"removing unused section '\.text\.([^']+)' in file '([^']+)'")


def flags(*names):
    return subprocess.run(["pkg-config", *names, "ncursesw", "libdw", "libelf", "libzstd", "zlib", "json-c", "vterm"], capture_output=True, text=True,
                          check=True).stdout.split()


def libraries():
    return [*flags("--libs"), "-liberty", "-lm", "-lunwind-ptrace", "-lunwind-generic", "-lpthread"]


def fail(why):
    print("not ok - lint_uncalled: " + why)
    sys.exit(1)


def source_of(place, path):
    return os.path.splitext(os.path.relpath(path, place))[0] + ".c"


def dropped(part, options):
    """(source, function) of what the linker drops of one part, `so` or `view`."""
    place = os.path.join(BUILD, part)
    objects = glob.glob(os.path.join(place, "**", "*.o"), recursive=True)
    # Those of sources that are gone may have been left there.
    objects = [o for o in objects if os.path.exists(source_of(place, o))]
    if len(objects) < 30:
        fail("only %d objects in %s" % (len(objects), place))
    out = subprocess.run(["clang", *objects, *GC, *options, "-o", os.devnull], capture_output=True, text=True,
                         check=False)
    if out.returncode != 0:
        fail("%s does not link: %s" % (part, out.stderr[-300:]))
    return {(source_of(place, o), name) for name, o in DROPPED.findall(out.stderr) if o.startswith(place)}


def uncalled(roots):
    """What neither program calls; each has its own copy of shm/ and preload/patch/."""
    view = dropped("view", [*libraries(), *roots])
    so = dropped("so", LIBRARY)
    # The library's objects are linked without these roots, which are mostly the viewer's.
    return {(source, name) for source, name in view | so if not (roots and name in FOR_TESTS) and
            (not source.startswith(("shm/", "preload/patch/")) or (source, name) in view & so)}


def in_tests(name):
    return subprocess.run(["grep", "-rqw", name, "tests", "--include=*.[ch]"], check=False).returncode == 0


def wrong():
    for source, name in sorted(uncalled(ROOTS)):
        yield "nothing calls %s (%s)" % (name, source)
    alone = {name for _, name in uncalled([])}
    for name in FOR_TESTS:
        if name not in alone:
            yield "%s has a caller, or is gone: take it off the list in %s" % (name, "tests/lint/uncalled.py")
        elif not in_tests(name):
            yield "no test calls " + name


def main():
    found = list(wrong())
    print("%s - lint_uncalled%s" % ("not ok" if found else "ok", ": " + "; ".join(found) if found else ""))
    sys.exit(1 if found else 0)


main()
