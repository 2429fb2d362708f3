#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that keep an exact account of their own heap, against the report: to the byte, in total
and by call site. See tests/targets/truth.h."""

import os

from proving import (B, Failure, add_case, case, check, check_equal, environment, frames_of, report,
                     run, run_cases, scratch, sites_named, target, truth_of)

PROGRAMS = [
    ("every function of the C interface, one thread", ["truth_apis"], 0),
    ("8 threads that free each other's blocks", ["truth_threads", "8", "100000"], 0),
    ("64 threads on few processors", ["truth_threads", "64", "4000"], 0),
    ("producers allocate, consumers free", ["truth_queue", "100000"], 0),
    ("constructors, atexit handlers and destructors", ["truth_exit"], 0),
    ("end by _exit", ["truth_exit", "_exit"], 7),
    ("end by quick_exit", ["truth_exit", "quick_exit"], 7),
    ("end by exit in another thread", ["truth_exit", "thread"], 7),
    ("end by abort", ["truth_exit", "abort"], 134),
    ("C++: all forms of new and delete, containers, exceptions", ["truth_cxx"], 0),
    ("C++: new-handlers that move blocks, and that leave by longjmp", ["truth_handler"], 0),
    ("threads that allocate while they are taken down", ["truth_teardown", "2000"], 0),
    ("children by fork, clone and posix_spawn", ["truth_fork"], 0),
    ("longjmp, siglongjmp, swapcontext", ["truth_jumps"], 0),
    ("plugins loaded and unloaded", ["dlopen_loop", os.path.join(B, "tests/targets/plugin")], 0),
    ("killed by SIGSEGV", ["crash", "segv"], 139),
    ("killed by SIGKILL", ["crash", "kill"], 137),
]


def truth_case(command, status):
    def try_it():
        truth_of([target(command[0]), *command[1:]], status)
    return try_it


for title, command_line, ends in PROGRAMS:
    add_case(title, truth_case(command_line, ends))


@case("a block is its allocating thread's, whoever frees it")
def whose():
    rep = truth_of([target("truth_queue"), "100000"])
    threads = rep["threads"]
    check_equal(sum(t["live_bytes"] for t in threads), rep["totals"]["live_bytes"], "of all")
    check_equal(sum(t["live_blocks"] for t in threads), rep["totals"]["live_blocks"], "of all")
    producers = [t for t in threads if t["allocs"] >= 25000]
    consumers = [t for t in threads if t["frees"] > 1000]
    check_equal(len(producers), 4, "producers")
    check(consumers and not [t for t in consumers if t in producers], "consumers")
    check_equal(sum(t["live_blocks"] for t in producers), 100, "what is left of theirs")
    check_equal(sum(t["foreign_frees"] for t in consumers), sum(t["frees"] for t in consumers),
                "what consumers free was others'")
    check_equal([t["foreign_frees"] for t in producers], [0] * 4, "producers free nothing")


@case("freed at once counts as temporary")
def temporary():
    rep = truth_of([target("truth_apis")])
    check_equal(sum(s["temporary"] for s in sites_named(rep, "site_temporary")), 100, "temporary")


@case("a stack has all its frames, innermost first")
def stack_whole():
    rep = truth_of([target("stack_depth"), "50"])
    names = frames_of(sites_named(rep, "site_bottom")[0])
    check_equal(names[:52], ["site_bottom"] + ["descend"] * 50 + ["main"], "the stack")


@case("a stack deeper than the limit keeps its inner frames")
def stack_deep():
    rep = truth_of([target("stack_depth"), "3000"])
    names = frames_of(sites_named(rep, "site_bottom")[0])
    check_equal(names, ["site_bottom"] + ["descend"] * 127, "the stack")


def depth_report(depth):
    done, rep = report([target("stack_depth"), "20"], options=["-D", str(depth)])
    check_equal(done.returncode, 0, "exit status")
    return rep


@case("-D 1 groups by immediate caller")
def depth_one():
    rep = depth_report(1)
    check_equal([len(s["stack"]) for s in rep["sites"] if s["allocs"]], [1], "lengths of the stacks")
    check_equal(frames_of(sites_named(rep, "site_bottom")[0]), ["site_bottom"], "the stack")


@case("-D 1024 keeps 1024 frames")
def depth_most():
    done, rep = report([target("stack_depth"), "3000"], options=["-D", "1024"])
    check_equal(done.returncode, 0, "exit status")
    check_equal(len(sites_named(rep, "site_bottom")[0]["stack"]), 1024, "frames")


@case("blocks of unloaded plugins keep the plugin's name")
def plugin_names():
    rep = truth_of([target("dlopen_loop"), os.path.join(B, "tests/targets/plugin"), "50"])
    bytes_of = {}
    for site in sites_named(rep, "plugin_inner"):
        module = os.path.basename(site["stack"][0]["module"])
        bytes_of[module] = bytes_of.get(module, 0) + site["live_bytes"]
    check_equal(bytes_of, {"one.so": 50 * 1000, "two.so": 50 * 3000}, "live bytes by plugin")


@case("10,000 stacks, 100,000 live blocks")
def many_sites():
    done, rep = report([target("many_sites"), "100000", "idle", "1"])
    check_equal(done.returncode, 0, "exit status")
    sites = [s for s in rep["sites"] if any(n and n.startswith("digit_") for n in frames_of(s))]
    check_equal(len(sites), 10000, "sites")
    check_equal({s["live_blocks"] for s in sites}, {10}, "live blocks of each")


def groups_of(by):
    done, rep = report([target("many_sites"), "100000", "idle", "1"], options=["--group", by])
    check_equal(done.returncode, 0, "exit status")
    check_equal(rep["group"], by, "the grouping")
    for field in ("live_bytes", "live_blocks", "allocs", "frees", "alloc_bytes", "temporary"):
        check_equal(sum(g[field] for g in rep["groups"]), rep["totals"][field], "sum of the groups' " + field)
    check_equal(sum(g["sites"] for g in rep["groups"]), len(rep["sites"]), "sites in all groups")
    return rep["groups"]


@case("10,000 stacks by function, file and module")
def groups():
    digits = [g for g in groups_of("function") if g["name"].startswith("digit_")]
    check_equal(sum(g["sites"] for g in digits), 10000, "sites")
    check_equal(sum(g["live_blocks"] for g in digits), 100000, "live blocks")
    check(len(digits) <= 10, "%d functions" % len(digits))
    files = {os.path.basename(g["name"]): g for g in groups_of("file")}
    check(files["digits.h"]["sites"] >= 10000, "sites of digits.h")
    modules = {os.path.basename(g["name"]): g for g in groups_of("module")}
    check(modules["many_sites"]["live_blocks"] >= 100000, "live blocks of many_sites")


@case("no system allocator's answer changes: usable size and alignment")
def usable():
    plain = run([target("usable_size")])
    done, _ = report([target("usable_size")])
    check_equal(done.returncode, plain.returncode, "exit status")
    check(done.stdout == plain.stdout, "malloc_usable_size differs under heaptop")


@case("the report's frames have file and line")
def lines():
    _, rep = report([target("stack_depth"), "3"], env=environment(TRUTH=os.path.join(scratch, "t")))
    frame = sites_named(rep, "site_bottom")[0]["stack"][0]
    if os.path.basename(frame["file"] or "") != "stack_depth.c" or not frame["line"]:
        raise Failure("site_bottom is at %s:%s" % (frame["file"], frame["line"]))


@case("a program that is started by a link goes by the link's name")
def linked():
    link = os.path.join(scratch, "another-name")
    os.symlink(target("stack_depth"), link)
    _, rep = report([link, "3"], env=environment(TRUTH=os.path.join(scratch, "t")))
    check_equal(sites_named(rep, "site_bottom")[0]["stack"][0]["module"], link, "the module")


run_cases()
