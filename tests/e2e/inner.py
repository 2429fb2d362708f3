#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Allocators that a program brings along: linked statically, under names of their own, by a file of rules, in a
library that is loaded and unloaded. What the report says against what the program knows."""

import os

from proving import (HEAPTOP, ROOT, TARGETS, Failure, Skip, add_case, case, check, check_equal, check_truth, environment, frames_of,
                     report, run, run_cases, scratch, sites_named, target, truth_read)

RULES = os.path.join(ROOT, "tests/targets/inner_pool.rules")
# tcmalloc allocates for itself when it starts: in the program.
FOREIGN = ("truth_", "lib")


def inner_target(name):
    path = os.path.join(TARGETS, "inner", name)
    if not os.path.exists(path):
        raise Skip("the allocator is not installed")
    return path


def truth_with(command, options=(), **env):
    """As truth_of, with options. Also without heaptop: the program does the same."""
    account = os.path.join(scratch, "truth.json")
    plain = run(command, env=environment(**env))
    done, rep = report(command, options, env=environment(TRUTH=account, **env))
    check_equal(done.returncode, plain.returncode, "exit status (%s)" % done.stderr.decode(errors="replace"))
    check_equal(done.stdout, plain.stdout, "output")
    check_truth(rep, truth_read(account), FOREIGN)
    return rep


def states(rep):
    """Function -> (state, reason), of all modules."""
    return {a["function"]: (a["state"], a["reason"]) for a in rep.get("allocators", [])}


def check_recorded(rep, *functions):
    found = states(rep)
    for f in functions:
        check_equal(found.get(f), ("recorded", None), f)


def static_case(allocator, program, arguments):
    def try_it():
        path = inner_target(os.path.join("static", allocator, program))
        rep = truth_with([path, *arguments])
        check_recorded(rep, "malloc", "free", "realloc", "calloc")
        check_equal({a["module"] for a in rep["allocators"]}, {path}, "modules")
    return try_it


# No distribution has a static mimalloc: make soak builds it from its source.
HAS_MIMALLOC = os.path.isdir(os.path.join(TARGETS, "inner", "static", "mimalloc"))

# Where rustc is, as for make soak.
RUST = os.path.join(TARGETS, "inner", "rust")

for allocator in ("jemalloc", "tcmalloc_minimal", *(["mimalloc"] if HAS_MIMALLOC else [])):
    for program, arguments in (("truth_threads", ["8", "20000"]), ("truth_queue", ["20000"]), ("truth_fork", []),
                               ("truth_jumps", []), ("truth_cxx", [])):
        # tcmalloc has one code for new and new[], so one name; and blocks of its own in the program. mimalloc, as
        # C, ends the program where new fails.
        if (allocator, program) not in (("tcmalloc_minimal", "truth_cxx"), ("tcmalloc_minimal", "truth_jumps"),
                                        ("mimalloc", "truth_cxx")):
            add_case("linked statically: %s, %s" % (allocator, program), static_case(allocator, program, arguments))


@case("mimalloc by its own names, beside its malloc")
def mimalloc():
    check_recorded(truth_with([inner_target("mimalloc")]), "mi_malloc", "mi_free", "mi_realloc", "mi_heap_malloc")


@case("tcmalloc by its own names, beside its malloc")
def tcmalloc():
    check_recorded(truth_with([inner_target("tcmalloc")]), "tc_malloc", "tc_free", "tc_realloc")


@case("jemalloc's mallocx and its kind")
def jemalloc():
    check_recorded(truth_with([inner_target("jemalloc")]), "mallocx", "dallocx", "sdallocx", "rallocx")


@case("oneTBB's scalable allocator by its own names")
def tbb():
    check_recorded(truth_with([inner_target("tbb")]), "scalable_malloc", "scalable_free", "scalable_realloc",
                   "scalable_posix_memalign", "scalable_aligned_malloc")


def rust():
    done, rep = report([RUST])
    check_equal((done.returncode, done.stderr), (0, b""), "how it ended")
    check_recorded(rep, "_rjem_malloc", "_rjem_calloc", "_rjem_realloc", "_rjem_mallocx", "_rjem_sdallocx")
    own = [s for s in rep["sites"] if s["function"].startswith("_rjem_")]
    ours = [sum(s[field] for s in own) for field in ("allocs", "alloc_bytes", "frees", "live_bytes")]
    allocs, allocated, frees, freed = map(int, done.stdout.split())
    check_equal(ours, [allocs, allocated, frees, allocated - freed], "blocks and bytes")
    for name, blocks, size in (("site_strings", 500, 125250), ("site_aligned", 300, 300 * 64)):
        at = [(s["live_blocks"], s["live_bytes"]) for s in own if any(name in (f or "") for f in frames_of(s))]
        check((blocks, size) in at, "%s: %s" % (name, at))
    check_equal((rep["totals"]["unknown_frees"], rep["totals"]["wrong_frees_unlisted"], rep["wrong_frees"]), (0, 0, []), "frees")


if os.path.exists(RUST):
    add_case("a Rust program with jemalloc as its allocator", rust)


@case("pools by a file of rules")
def pools():
    rep = truth_with([target("inner_pool")], ["--allocators", RULES])
    check_recorded(rep, "pool_alloc", "pool_free", "pool_resize", "pool_array", "node_new", "pool_text", "over_malloc",
                   "over_free")
    check("no_such_function_of_the_program" not in states(rep), "a function that is not there")


@case("pools by a file of rules, shared by threads")
def pools_threads():
    truth_with([target("inner_pool"), "6", "300"], ["--allocators", RULES])


@case("pools by a file of rules that the environment names")
def pools_environment():
    truth_with([target("inner_pool")], HEAPTOP_ALLOCATORS=RULES)


@case("a stripped program: what it exports")
def stripped():
    path = inner_target("stripped")
    _, rep = report([path], ["--allocators", RULES])
    check_recorded(rep, "pool_alloc", "pool_free", "over_malloc")
    of_pool = [s for s in rep["sites"] if s["function"] == "pool_alloc"]
    check_equal(sum(s["allocs"] for s in of_pool), 400, "blocks of pool_alloc")


@case("without rules, a pool's malloc is what is recorded")
def pools_unknown():
    _, rep = report([target("inner_pool")])
    check_equal(rep.get("allocators"), None, "allocators")
    check_equal({s["function"] for s in sites_named(rep, "site_over_malloc")}, {"malloc"}, "functions")


@case("--allocators none changes no code")
def none():
    _, rep = report([inner_target("jemalloc")], ["--allocators", "none"])
    check_equal(rep.get("allocators"), None, "allocators")
    check("malloc of its own" in (rep["notice"] or ""), "notice: %s" % rep["notice"])


@case("operator new of the program, over malloc and with chunks; and when it throws")
def operator_new():
    rep = truth_with([target("inner_new")])
    check_recorded(rep, "_Znwm", "_ZdlPv")


@case("operator new of the program, over malloc at first, then with chunks of small blocks")
def operator_new_turns():
    rep = truth_with([target("inner_turns")])
    check_recorded(rep, "_Znwm", "_ZdlPv")


@case("all registers are kept")
def registers():
    path = target("inner_registers")
    done, rep = report([path], ["--allocators", path.replace(TARGETS, os.path.join(ROOT, "tests/targets")) + ".rules"])
    check_equal(done.returncode, 0, "exit status")
    check_equal([(s["function"], s["allocs"], s["frees"]) for s in rep["sites"]], [("keep_alloc", 1000, 900)], "sites")


@case("a library with an allocator, loaded and unloaded a thousand times")
def reload():
    plugins = os.path.join(TARGETS, "plugin")
    done, rep = report([target("inner_reload"), plugins, "1000"])
    check_equal(done.returncode, 0, "exit status (%s)" % done.stderr.decode())
    of_plugin = [s for s in rep["sites"] if s["function"] == "je_malloc"]
    check_equal(sum(s["allocs"] for s in of_plugin), int(done.stdout), "blocks")
    check_equal(sum(s["allocs"] - s["frees"] for s in of_plugin), 5, "live blocks")
    check_equal(rep["totals"]["unknown_frees"], 0, "unknown_frees")
    check_equal({a["function"]: a["state"] for a in rep["allocators"]}, {"je_malloc": "recorded", "je_free": "recorded"},
                "states")
    child = rep["children"][0]
    check_equal(sum(s["allocs"] for s in child["sites"] if s["function"] == "je_malloc"), 20, "blocks of the child")
    check_equal({a["state"] for a in child["allocators"]}, {"unloaded"}, "states in the child")


@case("a stack begins at the caller, and has the patched function nowhere")
def stack():
    _, rep = report([target("inner_pool")], ["--allocators", RULES])
    for site in rep["sites"]:
        if site["function"] == "node_new":
            check_equal(frames_of(site)[:2], ["site_fixed", "round_of"], "frames")
            return
    raise Failure("no site of node_new")


def rules_fail(text, *messages):
    path = os.path.join(scratch, "rules")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    marker = os.path.join(scratch, "started")
    done = run([HEAPTOP, "--report", "--allocators", path, "--", "touch", marker])
    errors = done.stderr.decode()
    check_equal(done.returncode, 125, "exit status (%s)" % errors)
    for m in messages:
        check("%s:%s" % (path, m) in errors, "no %r in %r" % (m, errors))
    check(not os.path.exists(marker), "the program was started")


@case("errors of a rule file name the line, before the program starts")
def errors():
    rules_fail("ok size=arg1 result=ret\nf size=arg7 result=ret\n# comment\ng sise=arg1\nh size=arg1\n",
               "2: size= takes", "4: unknown word", "5: size= without result=")
    done = run([HEAPTOP, "--report", "--allocators", "/nowhere", "--", "true"])
    check_equal(done.returncode, 125, "exit status")


@case("an error of a rule file without a viewer is in the report")
def errors_listed():
    path = os.path.join(scratch, "rules")
    with open(path, "w", encoding="utf-8") as f:
        f.write("over_malloc size=arg1 result=ret\nover_free free=block\n")
    _, rep = report([target("inner_pool")], env=environment(HEAPTOP_ALLOCATORS=path))
    found = states(rep)
    check_equal(found["line 2"][0], "refused", "the line")
    check("free= takes" in found["line 2"][1], "why: %s" % found["line 2"][1])
    check_equal(found["over_malloc"][0], "recorded", "over_malloc")


@case("sampled: the blocks' estimate, and no unknown frees")
def sampled():
    _, rep = report([inner_target("static/jemalloc/truth_queue"), "20000"], ["--sample", "1K"])
    check(rep["totals"]["allocs"] > 5000, "allocs: %d" % rep["totals"]["allocs"])
    check_equal(rep["totals"]["unknown_frees"], 0, "unknown_frees")


if __name__ == "__main__":
    run_cases()
