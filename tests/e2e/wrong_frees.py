#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wrong frees: the kinds and both places of tests/targets/wrong_frees.cc, and that they are memcheck's;
that the program ends as it does alone; what a child of fork may not be accused of."""

import os
import xml.etree.ElementTree as ET

from proving import (HEAPTOP, Failure, case, check, check_equal, environment, narrow, need, report, run,
                     run_cases, scratch, target, truth_of)

SOURCE = "wrong_frees.cc"
FITS = ["malloc_delete", "malloc_delete_array", "calloc_delete", "new_free", "new_array_free", "new_array_delete",
        "new_delete_array", "memalign_delete", "posix_memalign_delete_array", "new_realloc", "new_nothrow_free",
        "strdup_delete", "new_aligned_free"]
ALIGNED = ["new_aligned_delete", "new_delete_aligned"]
SIZED = {"sized_small": (24, 32), "sized_large": (5000, 500)}
BAD = {"double_small": ("double", 40), "double_large": ("double", 0), "double_delete": ("double", 60),
       "double_huge": ("double", 0), "double_mapped": ("double", 0),
       "inside_small": ("inside", 100), "inside_large": ("inside", 200000), "inside_misaligned": ("inside", 70),
       "unknown_data": ("unknown", 0), "unknown_stack": ("unknown", 0)}
OFFSETS = {"inside_small": 32, "inside_large": 100000, "inside_misaligned": 20}


def place(frames):
    """(function, line) of the innermost frame in the program's source."""
    for name, file, line in frames:
        if file and os.path.basename(file) == SOURCE:
            return name.split("::")[-1].split("(")[0], int(line)
    return None


def stack_place(stack):
    return place([(f["function"], f["file"], f["line"] or 0) for f in stack])


def wrong_frees(*cases, options=(), program=None):
    done, rep = report([program or target("wrong_frees"), *cases], options)
    return done, rep, [(f["kind"], stack_place(f["stack"]), stack_place(f["alloc_stack"]))
                       for f in rep["wrong_frees"]]


def memcheck(*cases):
    """What valgrind says of the same, as wrong_frees(); of a double free also where the first one was."""
    need("valgrind")
    out = os.path.join(scratch, "memcheck.xml")
    run(["valgrind", "--xml=yes", "--xml-file=" + out, "--leak-check=no", "--", target("wrong_frees"), *cases],
        timeout=200)
    found = []
    for error in ET.parse(out).getroot().iter("error"):
        kind, about = error.findtext("kind"), error.findtext("auxwhat") or ""
        stacks = [place([(f.findtext("fn", ""), f.findtext("file"), f.findtext("line", "0"))
                         for f in stack.iter("frame")]) for stack in error.iter("stack")]
        if kind.startswith("Leak_"):
            continue
        if kind == "MismatchedFree":
            kind = "mismatched"
        elif kind != "InvalidFree":
            raise Failure("memcheck says " + str(kind))
        elif "block of size" in about:
            kind = "double" if about.startswith("Address") and "free'd" in about else "inside"
        else:
            kind, stacks = "unknown", stacks[:1]
        found.append((kind, stacks[0], stacks[-1] if len(stacks) > 1 else None, stacks[1:-1]))
    return found


@case("mismatched families and sizes are found, with both places, and nothing else")
def finds_mismatches():
    done, rep, found = wrong_frees("fits")
    check_equal(done.returncode, 0, "status")
    check_equal(sorted(at[0] for kind, at, _ in found if kind == "mismatched"), sorted(FITS + ALIGNED), "mismatched")
    check_equal({at[0] for kind, at, _ in found if kind == "sized"}, set(SIZED), "sized")
    check_equal(len(found), len(FITS) + len(ALIGNED) + len(SIZED), "rows")
    for kind, freed, allocated in found:
        check_equal(freed[0], allocated[0], "the function that allocates")
        check(allocated[1] < freed[1] or freed[0] == "new_realloc", "lines of " + freed[0])
    for f in rep["wrong_frees"]:
        if f["kind"] == "sized":
            check_equal((f["bytes"], f["freed_as_bytes"]), SIZED[stack_place(f["stack"])[0]], "sizes")
        check_equal(f["count"], 1, "count")
        check(f["site"] and f["alloc_site"] in [s["id"] for s in rep["sites"]], "no site")
        check(f["site"] not in [s["id"] for s in rep["sites"]] or f["freed_by"] == "realloc", "a site that frees")
    check_equal(rep["totals"]["wrong_frees_unlisted"], 0, "unlisted")


@case("frees of no block: their kind, and what is known of the block; the program ends as it does alone")
def finds_bad_frees():
    for name, (kind, size) in BAD.items():
        alone = run([target("wrong_frees"), name])
        done, rep, found = wrong_frees(name)
        check_equal(done.returncode, alone.returncode if alone.returncode >= 0 else 128 - alone.returncode,
                    name + ": status")
        check(done.stderr.startswith(alone.stderr), name + ": stderr " + done.stderr.decode())
        check_equal([(k, at and at[0]) for k, at, _ in found], [(kind, name)], name)
        f = rep["wrong_frees"][0]
        check_equal(f["bytes"], size, name + ": size")
        check_equal(f.get("offset"), OFFSETS.get(name), name + ": offset")
        check_equal(stack_place(f["alloc_stack"]) and stack_place(f["alloc_stack"])[0],
                    None if kind == "unknown" else name, name + ": where it was allocated")


@case("32-bit: the same, at the same places")
def narrow_frees():
    program = narrow("wrong_frees", of_cxx=True)
    check_equal(sorted(wrong_frees("fits", program=program)[2]), sorted(wrong_frees("fits")[2]), "mismatches")
    for name in ("double_small", "inside_large", "unknown_data"):
        alone = run([program, name])
        done, _, found = wrong_frees(name, program=program)
        check_equal(done.returncode, alone.returncode if alone.returncode >= 0 else 128 - alone.returncode,
                    name + ": status")
        check_equal(found, wrong_frees(name)[2], name)


@case("the same, at the same places, as memcheck")
def agrees_with_memcheck():
    theirs = memcheck("all")
    ours = wrong_frees("fits")[2]
    for name in BAD:
        ours += wrong_frees(name)[2]
    newer = set(ALIGNED) | set(SIZED)  # memcheck reports these from 3.22 on
    ours = sorted((o for o in ours if o[1][0] not in newer), key=str)
    # For a block freed before, memcheck's second place is the free.
    theirs = sorted((t for t in theirs if t[1][0] not in newer), key=str)
    check_equal([o[:2] for o in ours], [t[:2] for t in theirs], "kinds and places")
    check_equal([o[2] for o in ours if o[0] in ("mismatched", "inside")],
                [t[2] for t in theirs if t[0] in ("mismatched", "inside")], "where blocks were allocated")


@case("with --free-stacks, a double free has the first free's stack, which is memcheck's")
def first_frees():
    doubles = [name for name, (kind, _) in BAD.items() if kind == "double"]
    theirs = {t[1][0]: t[3][0] for t in memcheck("all") if t[0] == "double"}
    for name in doubles:
        alone, (done, rep, found) = run([target("wrong_frees"), name]), wrong_frees(name, options=["--free-stacks"])
        check_equal(done.returncode, 128 - alone.returncode if alone.returncode < 0 else alone.returncode, name)
        check_equal([kind for kind, _, _ in found], ["double"], name)
        row = rep["wrong_frees"][0]
        check_equal(stack_place(row["first_stack"]), theirs[name], name + ": the first free")
        check_equal(row["first_freed_by"], "operator delete" if name == "double_delete" else "free", name)
    row = wrong_frees(doubles[0])[1]["wrong_frees"][0]
    check_equal((row["first_site"], row["first_stack"]), (None, []), "without the option")


@case("with --free-stacks all counts are the same, of threads that free each other's blocks too")
def free_stacks_counts():
    for command in ([target("truth_queue"), "20000"], [target("truth_threads"), "4", "20000"]):
        rep = truth_of(command, HEAPTOP_FREES="1")
        check_equal(rep["wrong_frees"], [], "wrong frees")


@case("the text report has both stacks")
def text():
    done = run([HEAPTOP, "--report", "--", target("wrong_frees"), "new_free", "sized_small"])
    said = done.stderr.decode()
    check("2 wrong frees\n" in said, said[:3000])
    check("mismatched: a block of 14 bytes of operator new freed by free\n      at free\n      by "
          in said, said[:3000])
    check("sized: a block of 24 bytes freed by operator delete as one of 32 bytes" in said, said[:3000])
    check("     the block was allocated\n      at operator new\n" in said, said[:3000])


@case("--fail-on badfree and mismatched")
def verdicts():
    for option, name, status in (("mismatched", "new_free", 1), ("mismatched", "sized_large", 1),
                                 ("badfree", "new_free", 0), ("mismatched", "right", 0), ("badfree", "right", 0),
                                 ("badfree", "unknown_data", 1)):
        done, rep = report([target("wrong_frees"), name], ["--fail-on", option])
        check_equal(done.returncode, status, "%s of %s: status" % (option, name))
        check_equal(rep["verdict"].startswith("failed: 1 " if status else "passed: no "), True, rep["verdict"])


FORK = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	void *p = malloc(100), *q = malloc(200);
	free(q);
	if (fork() == 0) {
		free(p);
		for (int i = 0; i < 100; i++)
			free(malloc(100));
		_exit(0);
	}
	wait(NULL);
	free(p);
	return 0;
}
"""


@case("a child of fork frees its parent's blocks without being accused")
def forked():
    program = os.path.join(scratch, "forks")
    with open(program + ".c", "w", encoding="utf-8") as f:
        f.write(FORK)
    check_equal(run([need("gcc"), "-O0", "-o", program, program + ".c"]).returncode, 0, "gcc")
    _, rep = report([program], ["--follow"])
    for image in [rep, *rep["children"]]:
        check_equal(image["wrong_frees"], [], "wrong frees of " + str(image["process"]["pid"]))
    check_equal([c["totals"]["unknown_frees"] for c in rep["children"]], [1], "the child's frees of its parent's")


@case("blocks that inlined code of the program's own malloc makes are not freed twice")
def inlined():
    done, rep, found = wrong_frees(program=target("malloc_inside"))
    check_equal((done.returncode, found), (0, []), "status, wrong frees")
    check_equal((rep["totals"]["allocs"], rep["totals"]["unknown_frees"]), (10, 10), "allocations, unknown frees")


run_cases()
