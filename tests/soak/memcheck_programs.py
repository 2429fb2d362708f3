#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wrong frees in memcheck's own test programs: the same kinds at the same places as memcheck says. Under memcheck a
program survives a bad free; here an allocator that never reuses memory lets it go on as far. Argument: Valgrind's
source; without it, it is fetched (sources.py). make soak passes VALGRIND_SOURCE."""

import os
import re
import sys
import xml.etree.ElementTree as ET

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

from proving import case, check, check_equal, environment, need, report, run, run_cases, scratch
from sources import unpacked

GIVEN = os.path.realpath(sys.argv.pop(1)) if sys.argv[1:] else None

# Those whose expected output has invalid or mismatched frees, and some that free in every way and are right.
WRONG = ["badfree.c", "doublefree.c", "fprw.c", "malloc2.c", "memalign_test.c", "mismatches.cpp", "suppfree.c", "xml1.c"]
# What memcheck reports from 3.22 on: an aligned delete of a plain new.
NEWER = {"cxx17_aligned_new.cpp": [("mismatched", ("main", 40), ("main", 36))]}
RIGHT = ["big_blocks_freed_list.c", "cxx17_aligned_new.cpp", "malloc_free_fill.c", "memalign2.c", "realloc1.c",
         "realloc2.c", "realloc3.c", "sized_delete.cpp"]

FORGIVING = r"""
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ROOM (1ul << 30)

static char room[ROOM] __attribute__((aligned(4096)));
static size_t used;

struct head {
	size_t bytes;
	const char *block; /* it is one */
};

void *memalign(size_t align, size_t bytes)
{
	size_t at, end;
	struct head *h;

	align = align < 16 ? 16 : align;
	at = __atomic_fetch_add(&used, bytes + align + sizeof(*h) + 64, __ATOMIC_RELAXED) + sizeof(*h);
	at = (at + align - 1) & ~(align - 1);
	if (bytes > ROOM || __builtin_add_overflow(at, bytes, &end) || end > ROOM) {
		errno = ENOMEM;
		return NULL;
	}
	h = (struct head *)(void *)(room + at) - 1;
	*h = (struct head){ bytes, room + at };
	return room + at;
}

static struct head *head_of(char *p)
{
	struct head *h = (struct head *)(void *)p - 1;

	return (uintptr_t)p % 16 == 0 && p > room && p < room + ROOM && h->block == p ? h : NULL;
}

void *malloc(size_t bytes) { return memalign(16, bytes); }
void *calloc(size_t n, size_t each)
{
	size_t bytes;

	return __builtin_mul_overflow(n, each, &bytes) ? NULL : memalign(16, bytes);
}
void *realloc(void *p, size_t bytes)
{
	struct head *h = head_of(p);
	void *q = p && !h ? NULL : malloc(bytes);

	if (q && h)
		memcpy(q, p, h->bytes < bytes ? h->bytes : bytes);
	return q;
}
void free(void *p) { (void)p; }
void *aligned_alloc(size_t align, size_t bytes) { return memalign(align, bytes); }
void *valloc(size_t bytes) { return memalign(4096, bytes); }
void *pvalloc(size_t bytes) { return memalign(4096, (bytes + 4095) & ~4095ul); }
int posix_memalign(void **out, size_t align, size_t bytes)
{
	void *p;

	if (align < sizeof(p) || (align & (align - 1)))
		return EINVAL;
	p = memalign(align, bytes);
	if (p)
		*out = p;
	return p ? 0 : ENOMEM;
}
size_t malloc_usable_size(void *p) { return p && head_of(p) ? head_of(p)->bytes : 0; }
"""


def forgiving():
    path = os.path.join(scratch, "forgiving.so")
    if not os.path.exists(path):
        with open(path + ".c", "w", encoding="utf-8") as f:
            f.write(FORGIVING)
        check_equal(run([need("gcc"), "-O1", "-fno-builtin", "-shared", "-fPIC", "-o", path, path + ".c"]).returncode, 0,
                    "the allocator")
    return path


def built(name):
    source = GIVEN or unpacked("valgrind")
    out = os.path.join(scratch, name.split(".")[0])
    compiler = [need("g++"), "-std=c++17"] if name.endswith("pp") else [need("gcc")]
    done = run([*compiler, "-w", "-g", "-O0", "-fno-builtin", "-I" + source, "-I" + os.path.join(source, "include"), "-o",
                out, os.path.join(source, "memcheck", "tests", name), "-lpthread"])
    check_equal(done.returncode, 0, "%s: %s" % (name, done.stderr.decode()[-500:]))
    return out


# Programs that make client requests, with an argument; the second: all pools are of MALLOCLIKE blocks.
REQUESTS = [("custom_alloc.c", False, "0"), ("mempool.c", False, "0"), ("mempool2.c", False, "0"),
            ("leak-pool.c", False, "0"), ("leak-pool.c", False, "1"), ("leak-pool.c", False, "2"),
            ("leak-autofreepool.c", True, "0"), ("leak-autofreepool.c", True, "1")]


def place(name, frames):
    """(function, line) of the innermost frame in the program's source."""
    for function, file, line in frames:
        if file and os.path.basename(file) == name:
            return function.split("(")[0], int(line)
    return None


def memcheck(name, program):
    """(kind, where it was freed, and where allocated, unless it was freed before) of each wrong free."""
    out, found = os.path.join(scratch, "memcheck.xml"), []
    run([need("valgrind"), "--xml=yes", "--xml-file=" + out, "--leak-check=no", "--", program], timeout=200)
    for error in ET.parse(out).getroot().iter("error"):
        kind, about = error.findtext("kind"), error.findtext("auxwhat") or ""
        stacks = [place(name, [(f.findtext("fn", ""), f.findtext("file"), f.findtext("line", "0"))
                               for f in stack.iter("frame")]) for stack in error.iter("stack")]
        if kind not in ("InvalidFree", "MismatchedFree"):
            continue
        if kind == "MismatchedFree":
            found.append(("mismatched", stacks[0], stacks[-1]))
        elif "block of size" not in about:
            found.append(("unknown", stacks[0], None))
        elif "free'd" in about:
            found.append(("double", stacks[0], None))
        else:
            found.append(("inside", stacks[0], stacks[-1]))
    return found


def heaptop(name, program):
    _, rep = report([program], env=environment(LD_PRELOAD=forgiving()))
    check_equal(rep["totals"]["wrong_frees_unlisted"], 0, "unlisted")

    def at(stack):
        return place(name, [(f["function"], f["file"], f["line"] or 0) for f in stack])
    return [(f["kind"], at(f["stack"]), at(f["alloc_stack"]) if f["kind"] in ("mismatched", "inside") else None)
            for f in rep["wrong_frees"]]


def compared(name):
    program = built(name)
    theirs, ours = memcheck(name, program), heaptop(name, program)
    print("# %s: %d wrong frees" % (name, len(theirs)))
    ours = [row for row in ours if row in theirs or row not in NEWER.get(name, [])]
    check_equal(sorted(ours, key=str), sorted(theirs, key=str), name)
    return theirs


@case("memcheck's programs with wrong frees")
def wrong():
    for name in WRONG:
        check(compared(name), name + ": memcheck says nothing")


@case("memcheck's programs without any")
def right():
    for name in RIGHT:
        check_equal([row for row in compared(name) if row not in NEWER.get(name, [])], [], name)


@case("memcheck's programs that make client requests: what is in use at the end, and nothing changed")
def requests():
    for name, counted, argument in REQUESTS:
        program = built(name)
        alone = run([program, argument])
        done, rep = report([program, argument], ["--client-requests"])
        check_equal((done.returncode, done.stdout), (alone.returncode, alone.stdout), name)
        theirs = run([need("valgrind"), program, argument], timeout=200).stderr.decode()
        theirs = re.search(r"in use at exit: ([\d,]+) bytes in ([\d,]+) blocks", theirs)
        totals = rep["totals"]
        ours = [totals["live_bytes"] + counted * totals["pool_bytes"],
                totals["live_blocks"] + counted * totals["pool_blocks"]]
        check_equal(ours, [int(n.replace(",", "")) for n in theirs.groups()], name + ": in use")
        print("# %s %s: %d blocks in pools" % (name, argument, totals["pool_blocks"]))


run_cases()
