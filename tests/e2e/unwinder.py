#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every stack of real programs, taken or remembered, compared with libunwind's: none may be wrong.
Shorter is allowed (code without call frame information ends a stack, and is counted); so is longer."""

import json
import os
import shutil

from proving import (HEAPTOP, Skip, add_case, check, check_equal, environment, need, run, run_cases,
                     scratch)

B = os.path.dirname(HEAPTOP)
TARGETS = os.path.join(B, "tests/targets")
SOURCE = os.path.join(scratch, "source.cc")
JS = "let a=[]; for (let i=0;i<2000;i++) a.push(Buffer.from('x'+i)); console.log(JSON.stringify(a).length)"
PERL = "%h = map { $_ => [$_] } 1..5000; for (sort keys %h) { $x .= $_ } print length $x"
PYTHON = "import json, re; print(len(json.dumps([str(i) for i in range(5000)])), re.sub('a', 'b', 'cab'))"
RUBY = "x = (1..500).map { |i| i.to_s * 3 }; puts x.size"

CALLS = 20  # of a plugin each time that it is loaded (tests/targets/unloading.c),
ALLOCS = 10 * CALLS  # and in all

PROGRAMS = {
    "ls": ["ls", "-l", "/usr/bin"],
    "git log -p": ["git", "-C", os.path.dirname(os.path.abspath(__file__)), "log", "-p", "-2"],
    "python3": ["/usr/bin/python3", "-c", PYTHON],
    "perl": ["perl", "-e", PERL],
    "ruby": ["ruby", "-e", RUBY],
    "node": ["node", "-e", JS],
    "g++ and its children": ["g++", "-O2", "-c", SOURCE, "-o", "/dev/null"],
    "clang": ["clang", "-O1", "-c", SOURCE, "-o", os.path.join(scratch, "o")],
    "gdb": ["gdb", "-batch", "-nx", "-ex", "info line main", os.path.join(B, "demo")],
    "sqlite3": ["sqlite3", ":memory:", "create table t(a); insert into t values (1); select * from t;"],
    "every C API": [os.path.join(TARGETS, "truth_apis")],
    "C++ with exceptions": [os.path.join(TARGETS, "truth_cxx")],
    "longjmp, swapcontext, signal stacks": [os.path.join(TARGETS, "truth_jumps")],
    "handlers on a stack above the interrupted one": [os.path.join(TARGETS, "handler_higher")],
    "8 threads": [os.path.join(TARGETS, "truth_threads")],
    "libraries loaded and unloaded": [os.path.join(TARGETS, "dlopen_loop"),
                                      os.path.join(TARGETS, "plugin"), "20"],
}


def processes(report):
    yield report
    for child in report.get("children", []):
        yield from processes(child)


def compared(command):
    if not shutil.which(command[0]):
        raise Skip("%s is not installed" % command[0])
    out = os.path.join(scratch, "report.json")
    run([HEAPTOP, "--report", "--format", "json", "-o", out, "--", *command],
        env=environment(HEAPTOP_UNWINDER="check", DEBUGINFOD_URLS=""))
    with open(out, encoding="utf-8") as f:
        found = [(p["process"]["command"][0], p["unwinds"], p["totals"]["allocs"])
                 for p in processes(json.load(f)) if "unwinds" in p]
    check(found, "no process compared its stacks (libunwind is not installed?)")
    for name, unwinds, allocs in found:
        check_equal(unwinds["wrong"], 0, "wrong stacks of %s, of %d" % (name, unwinds["checked"]))
        check(unwinds["checked"] >= allocs, "%s: stacks that were not compared" % name)


with open(SOURCE, "w", encoding="utf-8") as f:
    f.write("template <int N> struct f { static int g(int a) { return a * f<N - 1>::g(a + N); } };\n"
            "template <> struct f<0> { static int g(int a) { return a; } };\n"
            "int h(int a) { try { return f<200>::g(a); } catch (int b) { return b; } }\n")

def reloaded():
    """A plugin without build-id, rebuilt with other frames, at the same place and of the same name: not
    by comparison, since the reference keeps the old one's rules."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../targets/plugin/frame.c")
    files = []
    for frame in ("1024", "2048"):
        files.append(os.path.join(scratch, frame + ".so"))
        done = run([need("gcc"), "-O1", "-fno-stack-protector", "-shared", "-fPIC", "-Wl,--build-id=none",
                    "-DFRAME=" + frame, "-o", files[-1], source])
        check_equal(done.returncode, 0, "gcc: " + done.stderr.decode())
    out = os.path.join(scratch, "reloaded.json")
    run([HEAPTOP, "--report", "--format", "json", "-o", out, "--", os.path.join(TARGETS, "reloaded"),
         os.path.join(scratch, "plugin.so"), *files], env=environment())
    with open(out, encoding="utf-8") as f:
        sites = [s for s in json.load(f)["sites"]
                 if s["stack"][0]["module"].endswith("plugin.so") and s["allocs"] >= 20]
    check(sites, "no site in the plugin")
    check_equal(sum(s["allocs"] for s in sites), 400, "allocations in the plugin")
    for s in sites:
        check(not s["truncated"], "a stack ends early")
        check("main" in [f["function"] for f in s["stack"]], "a stack does not reach main")


def one_place_two_plugins(names, command, env):
    """Each has its own stacks, though their code and its place are the same."""
    out = os.path.join(scratch, "unloading.json")
    done = run([HEAPTOP, "--report", "--format", "json", "--top", "0", "-o", out, "--",
                os.path.join(TARGETS, "unloading"), *command], env=env)
    check_equal(done.stdout, b"done\n", "output")
    with open(out, encoding="utf-8") as f:
        sites = json.load(f)["sites"]
    places = []
    for name in names:
        own = [s for s in sites if s["stack"][0]["module"].endswith(name) and s["allocs"] >= CALLS]
        check_equal(sum(s["allocs"] for s in own), ALLOCS, "allocations in " + name)
        places.append({s["stack"][0]["pc"] for s in own})
    check(places[0] & places[1], "the two were never at one place")


def unloaded():
    names = ["one.so", "two.so"]
    one_place_two_plugins(names, [os.path.join(TARGETS, "plugin", n) for n in names], environment())


def unloaded_by_libc():
    names = ["charset_%s.so" % n for n in "abc"]
    for name in names:
        shutil.copy(os.path.join(TARGETS, "plugin", name), scratch)
    with open(os.path.join(scratch, "gconv-modules"), "w", encoding="utf-8") as f:
        for n in "abc":
            f.write("module HEAPTOP-%s// INTERNAL charset_%s 1\n" % (n.upper(), n))
    one_place_two_plugins(names[:2], ["iconv"], environment(GCONV_PATH=scratch))


add_case("stacks of two plugins at one place", unloaded)
add_case("stacks of two plugins that libc itself loads and unloads", unloaded_by_libc)
add_case("stacks of a plugin rebuilt and loaded again", reloaded)
for name, command in PROGRAMS.items():
    add_case("stacks of " + name, lambda command=command: compared(command))
run_cases()
