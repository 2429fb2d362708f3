#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The smallest program that leaks, built by each compiler at each level, its functions found at the first call or
at its start, ended by exit and by return: whatever is left on the stack, three blocks are lost."""

import os

from proving import add_case, check, check_equal, need, report, run, run_cases, scratch

WANT = {"blocks": 3, "bytes": 456}
NOTHING = {"blocks": 0, "bytes": 0}
COMPILERS = {"gcc": "c", "clang": "c", "g++": "c++", "clang++": "c++"}
LEVELS = ("-O0", "-O1", "-O2")
BINDINGS = {"lazily": "-Wl,-z,lazy", "at once": "-Wl,-z,now"}
ENDS = {"exit": "exit(0);", "return": "return 0;"}
# The compilers would leave out calls whose result is not used: -fno-builtin, and in C++ new is called by its name.
SOURCES = {
    "c": "#include <stdlib.h>\nint main(void)\n{\n\tmalloc(100);\n\tmalloc(100);\n\tcalloc(16, 16);\n\t%s\n}\n",
    "c++": "#include <cstdlib>\n#include <new>\nint main()\n{\n\t::operator new(100);\n\t(void)malloc(100);\n"
           "\t(void)calloc(16, 16);\n\t%s\n}\n",
}


def build(compiler, level, binding, end):
    language = COMPILERS[compiler]
    source, program = (os.path.join(scratch, "seed" + suffix) for suffix in ("." + language.replace("+", "p"), ""))
    with open(source, "w", encoding="ascii") as f:
        f.write(SOURCES[language] % ENDS[end])
    done = run([need(compiler), level, "-g", "-w", "-fno-builtin", BINDINGS[binding], "-o", program, source])
    check_equal(done.returncode, 0, "status of %s (%s)" % (compiler, done.stderr.decode()))
    return program


def lost(leaks):
    """libstdc++ keeps a block of its own, which is reachable."""
    return {kind: leaks[kind] for kind in ("definite", "indirect", "possible")}


def lost_wrong(*how):
    done, rep = report([build(*how)], ["--leak-check", "--fail-on", "definite"])
    check_equal(rep["leaks"]["failed"], None, "failure")
    found = lost(rep["leaks"])
    want = {"definite": WANT, "indirect": NOTHING, "possible": NOTHING}
    return [] if (found, done.returncode) == (want, 1) else ["%s: %s, status %d" % (how, found, done.returncode)]


def try_it(compiler, end):
    wrong = [w for level in LEVELS for binding in BINDINGS for w in lost_wrong(compiler, level, binding, end)]
    check(not wrong, "%d of %d: %s" % (len(wrong), len(LEVELS) * len(BINDINGS), "; ".join(wrong)))


for by in COMPILERS:
    for last in ENDS:
        add_case("by %s, ended by %s: 456 bytes in 3 blocks are definitely lost" % (by, last),
                 lambda args=(by, last): try_it(*args))
run_cases()
