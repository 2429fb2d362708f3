#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The leak scan from outside: programs whose blocks are known class by class (their functions are
named for it, tests/targets/leaks.c), at their end and while they run, beside memcheck on the same
program. What scans leave behind, which is nothing: tests/faults/group_f_scan.py. Long because each rule and each
form of suppression is compared with memcheck by the same few functions."""

import itertools
import json
import os
import re
import signal
import subprocess
import xml.etree.ElementTree as ElementTree

from proving import (HEAPTOP, case, check, check_equal, environment, need, report, run, run_cases, scratch,
                     segment_files, target, wait_for)
from scanning import Waiting, account, attached, relatives

CHURN_SCANS = 4
ALL_ROOTS = ("registers", "vectors", "stacks", "globals", "maps", "tls")
# What is lost when a kind of root is left out, and how.
BY_ROOT = {
    "registers": {"reachable_register": "definite"},
    "vectors": {"reachable_vector": "definite"},
    "stacks": {"reachable_thread_stack": "definite"},
    "tls": {"reachable_tls": "definite", "reachable_thread_tls": "definite",
            "reachable_start_argument": "definite"},
    "globals": {"reachable_global": "definite", "reachable_by_block": "indirect",
                "reachable_by_end": "definite", "possible_inside": "definite",
                "possible_unlinked": "definite"},
    "maps": {"reachable_pool": "definite", "reachable_shared_pool": "definite",
             "reachable_unforked_pool": "definite", "reachable_wiped_pool": "definite",
             "reachable_brk_pool": "definite", "reachable_brk_end": "definite",
             "reachable_coroutine": "definite"},
}


def found(leaks):
    """The report's (function, class) -> (blocks, bytes)."""
    sums = {}
    for site in leaks["sites"]:
        name = site["stack"][0]["function"] if site["stack"] else "?"
        blocks, size = sums.get((name, site["class"]), (0, 0))
        sums[name, site["class"]] = (blocks + site["blocks"], size + site["bytes"])
    return sums


def as_named(name):
    return name.split("_")[0]


def check_classes(got, want, but=None):
    """Every block has the class that its function is named for; `but` says otherwise of some."""
    for name, sums in want.items():
        right = (but or {}).get(name, as_named(name))
        classes = {c: blocks for (n, c), blocks in got.items() if n == name}
        check_equal(classes, {right: sums}, "%s %s" % (right, name))


def leaks_of(command, *options):
    done, rep = report(command, ["--leak-check", *options])
    check_equal(done.returncode, 0, "status (%s)" % done.stderr.decode())
    leaks = rep["leaks"]
    check(leaks["failed"] is None, "no scan: %s" % leaks["failed"])
    return leaks, account(done.stdout.decode())


@case("every class, root, heuristic and odd case, at the end of a program")
def at_end():
    leaks, want = leaks_of([target("leaks")])
    check(len(want) > 30, "the program's account is short")
    check_classes(found(leaks), want)
    for name, (blocks, _) in {"reachable_string": (1, 0)}.items():
        check_equal(leaks["heuristics"]["stdstring"]["blocks"], blocks, name)
    for name in ("length64", "newarray", "multipleinheritance"):
        check_equal(leaks["heuristics"][name]["blocks"], 1, name)
    backlink = leaks["heuristics"]["backlink"]
    check_equal(backlink["behind"]["blocks"], want["reachable_behind_link"][0], "behind backlink")
    check_equal(backlink["blocks"] - backlink["behind"]["blocks"], want["reachable_linked"][0] + 1, "backlink")
    for kind in ("definite", "indirect", "possible"):
        check_equal(leaks[kind]["blocks"],
                    sum(b for n, (b, _) in want.items() if as_named(n) == kind), kind)


@case("the recorder's own memory is no root where it lies behind the data of a file")
def private():
    leaks, want = leaks_of([target("leak_private")])
    check_classes(found(leaks), want)


@case("the blocks behind a lost one are reported with it")
def cliques():
    leaks, want = leaks_of([target("leaks")])
    behind = {}
    for site in leaks["sites"]:
        if site["class"] == "definite" and site["indirect"]["blocks"]:
            behind[site["stack"][0]["function"]] = site["indirect"]["blocks"]
    check_equal(behind, {"definite_tree": want["indirect_tree"][0],
                         "definite_cycle": want["indirect_cycle"][0]}, "blocks behind")


def root_case(kind):
    def try_it():
        leaks, want = leaks_of([target("leaks")], "--leak-roots",
                               ",".join(r for r in ALL_ROOTS if r != kind))
        got = found(leaks)
        for name, lost in BY_ROOT[kind].items():
            check_equal(got.get((name, lost)), want[name], "without %s, %s" % (kind, name))
        others = [n for r, names in BY_ROOT.items() if r != kind for n in names]
        for name in others:
            check((name, as_named(name)) in got, "without %s, %s is lost, too" % (kind, name))
    return try_it


for root in ALL_ROOTS:
    case("a root alone keeps what is in it: " + root)(root_case(root))


def memcheck_says(program, *options):
    """(function, class) -> blocks, and the program's account."""
    out = os.path.join(scratch, "memcheck.xml")
    done = run([need("valgrind"), "--leak-check=full", "--show-leak-kinds=all", "--xml=yes",
                "--xml-file=" + out, *options, program], timeout=120)
    kinds = {"Leak_DefinitelyLost": "definite", "Leak_IndirectlyLost": "indirect",
             "Leak_PossiblyLost": "possible", "Leak_StillReachable": "reachable"}
    memcheck = {}
    for error in ElementTree.parse(out).getroot().findall("error"):
        if error.findtext("kind") not in kinds:
            continue
        name = error.find("stack").findall("frame")[1].findtext("fn")
        key = (name, kinds[error.findtext("kind")])
        blocks = int(error.find("xwhat").findtext("leakedblocks"))
        memcheck[key] = memcheck.get(key, 0) + blocks
    return memcheck, account(done.stdout.decode())


MEMCHECK_RULES = ("stdstring", "length64", "newarray", "multipleinheritance")


def rules_case(name, *rules):
    """With these rules alone, each shape has the class that memcheck gives it with them."""
    def try_it():
        ours, want = leaks_of([target("leak_rules")], "--leak-heuristics", name)
        theirs, _ = memcheck_says(target("leak_rules"), "--leak-check-heuristics=" + (",".join(rules) or "none"))
        check_equal(len(want), 15, "shapes")
        check_equal({k: v[0] for k, v in found(ours).items() if k[0] in want},
                    {k: v for k, v in theirs.items() if k[0] in want}, "classes by " + name)
    return try_it


for some in [()] + [(r,) for r in MEMCHECK_RULES] + list(itertools.combinations(MEMCHECK_RULES, 2)):
    case("rules that count: as memcheck's: " + (" and ".join(some) or "none"))(
        rules_case(",".join(some) or "none", *some))
case("rules that count: as memcheck's: all four")(rules_case("memcheck", *MEMCHECK_RULES))


SHAPES = {"gobject": ("reachable_instance", "reachable_closure"), "slab": ("reachable_operators",),
          "backlink": ("reachable_ring",)}


@case("shapes that libraries give their blocks: what they keep is reachable, what they lose is lost")
def shapes():
    leaks, want = leaks_of([target("leak_shapes")])
    check_classes(found(leaks), want)
    for rule, names in SHAPES.items():
        found_by = leaks["heuristics"][rule]
        check_equal(found_by["blocks"] - found_by["behind"]["blocks"], sum(want[n][0] for n in names), rule)
        others, _ = leaks_of([target("leak_shapes")], "--leak-heuristics",
                             ",".join(r for r in leaks["heuristics"] if r not in (rule, "header")))
        check_classes(found(others), {n: want[n] for n in names}, {n: "possible" for n in names})
    check_equal(leaks["heuristics"]["gobject"]["behind"]["blocks"], 1, "behind an instance")
    check(leaks["heuristics"]["marked"]["blocks"] > 1, "no marked pointers in tsearch's tree")
    ours, want = leaks_of([target("leak_shapes")], "--leak-heuristics", "memcheck")
    theirs, _ = memcheck_says(target("leak_shapes"))
    check_equal({k: v[0] for k, v in found(ours).items() if k[0] in want},
                {k: v for k, v in theirs.items() if k[0] in want}, "classes by memcheck's rules")


def rules_sum(leaks):
    return sum(rule["blocks"] for rule in leaks["heuristics"].values())


@case("what rules make reachable is counted, whole and by rule")
def moved():
    for program in ("leaks", "leak_rules", "leak_shapes"):
        by = {rules: leaks_of([target(program)], "--leak-heuristics", rules)[0]
              for rules in ("none", "memcheck", "all")}
        blocks = {rules: leaks["reachable"]["blocks"] for rules, leaks in by.items()}
        check_equal(rules_sum(by["none"]), 0, program + ": by none")
        for rules in ("memcheck", "all"):
            check_equal(rules_sum(by[rules]), blocks[rules] - blocks["none"], program + ": by " + rules)
        check_equal(by["all"]["moved"]["blocks"], blocks["all"] - blocks["memcheck"], program + ": moved")
        check_equal(by["all"]["moved"]["bytes"], by["all"]["reachable"]["bytes"] - by["memcheck"]["reachable"]["bytes"],
                    program + ": bytes moved")
    done = run([HEAPTOP, "--leak-check", "--", target("leaks")])
    said = re.search(r"^ +by rule    (.*)$", done.stderr.decode(), re.M)
    check(said, "the report has no line of rules")
    check(all(name in said[1] for name in (*MEMCHECK_RULES, "backlink", "loader")), said[1])
    check(re.search(r"; \d+ of these by rules that memcheck does not have$", said[1]), said[1])


@case("the same as memcheck says of the same program")
def beside_memcheck():
    memcheck, want = memcheck_says(target("leaks"))
    leaks, _ = leaks_of([target("leaks")])
    ours = {k: v[0] for k, v in found(leaks).items() if k[0] in want}
    theirs = {k: v for k, v in memcheck.items() if k[0] in want}
    # It does not know what points back.
    for name in ("reachable_linked", "reachable_behind_link", "reachable_by_head_behind"):
        check_equal(theirs.pop((name, "possible"), None), want[name][0], "memcheck's " + name)
        check_equal(ours.pop((name, "reachable"), None), want[name][0], "our " + name)
    # It does not look into vector registers.
    check_equal(theirs.pop(("reachable_vector", "definite"), None), 1, "memcheck's vectors")
    check_equal(ours.pop(("reachable_vector", "reachable"), None), 1, "our vectors")
    check_equal(ours, theirs, "classes")


@case("a running program, again and again, and it does not notice")
def running():
    with Waiting(target("leaks"), "wait") as program:
        want = account("".join(program.said))
        pid = program.process.pid
        for i in range(10):
            copied = i % 2 == 1
            _, leaks = attached(pid, "--leak-copy", "always" if copied else "never")
            check(leaks["failed"] is None, "no scan: %s" % leaks["failed"])
            check_equal(leaks["how"], "copy on write" if copied else "stop and read", "how")
            check_classes(found(leaks), want)
        check_equal(relatives(program.process), [], "processes left behind")
        with open("/proc/%d/status" % pid, encoding="ascii") as f:
            check("TracerPid:\t0" in f.read(), "it is still traced")
        check_equal(program.end(), (0, ""), "the program's end")


@case("without process_vm_readv all is read by another way")
def readless():
    with Waiting(target("leaks"), "wait") as program:
        want = account("".join(program.said))
        for copied in ("always", "never"):
            _, leaks = attached(program.process.pid, "--leak-copy", copied, under=[target("readless")])
            check_equal((leaks["failed"], leaks["unread_bytes"]), (None, 0), "failure; bytes not read")
            check_classes(found(leaks), want)


@case("a damaged count of blocks costs the viewer no memory")
def damaged():
    with Waiting(target("leaks"), "wait") as program:
        want = account("".join(program.said))
        segment, = (s for s in segment_files() if "-%d-" % program.process.pid in s)
        check_equal(run([target("damage"), segment, "10000000"]).returncode, 0, "damage")
        out = os.path.join(scratch, "damaged.json")
        with subprocess.Popen([HEAPTOP, "--leak-check", "--format", "json", "-o", out, "-a", str(program.process.pid)],
                              env=environment()) as viewer:
            _, status, usage = os.wait4(viewer.pid, 0)
            viewer.returncode = status
        check_equal(status, 0, "status")
        with open(out, encoding="utf-8") as f:
            check_classes(found(json.load(f)["leaks"]), want)
        check(usage.ru_maxrss < 150 << 10, "the viewer took %d KB" % usage.ru_maxrss)


@case("of a program in a sandbox no copy is made, and that is said")
def sandboxed():
    with Waiting(target("leaks"), "wait", "sandboxed") as program:
        want = account("".join(program.said))
        done = run([HEAPTOP, "--leak-check", "--leak-copy", "always", "-a", str(program.process.pid)])
        said = done.stdout.decode()
        check("stop and read" in said, said)
        check("no copy could be read instead: it has a seccomp filter" in said, said)
        _, leaks = attached(program.process.pid, "--leak-copy", "always")
        check_classes(found(leaks), want)
        check_equal(program.end(), (0, ""), "the program's end")


def resident(pid):
    """Pages, as they are counted when one asks: those of status come late."""
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as f:
        return next(line for line in f if line.startswith("Rss:"))


@case("blocks over 4 GB: pointers at their end count, and what nobody touched stays untouched")
def large():
    with Waiting(target("leaks"), "large") as program:
        want = account("".join(program.said))
        before = resident(program.process.pid)
        for copying in ("never", "always"):
            _, leaks = attached(program.process.pid, "--leak-copy", copying)
            check_classes(found(leaks), want)
            check(leaks["scanned_bytes"] < 16 << 20, "it read %d bytes" % leaks["scanned_bytes"])
        check_equal(resident(program.process.pid), before, "resident set")
        check_equal(program.end(), (0, ""), "the program's end")


@case("a large table that threads change all the time: what changed between a short stop and a long one is known")
def churned():
    with Waiting(target("leak_churn")) as program:
        for i in range(CHURN_SCANS):
            _, leaks = attached(program.process.pid, "--leak-copy", "always" if i % 2 else "never")
            check(leaks["failed"] is None, "no scan: %s" % leaks["failed"])
            check_equal({c: leaks[c]["blocks"] for c in ("definite", "indirect", "possible")},
                        {"definite": 100, "indirect": 0, "possible": 0}, "classes in scan %d" % i)
        check_equal(program.end(), (0, ""), "the program's end")


@case("--fail-on")
def fail_on():
    for options, program, status in (
            (["definite"], [target("leaks")], 1), (["indirect"], [target("leaks")], 1),
            (["possible"], [target("leaks")], 1), (["definite"], ["true"], 0),
            (["possible"], [target("leaks"), "list", "10"], 0)):
        out = os.path.join(scratch, "fail.txt")
        done = run([HEAPTOP, "--fail-on", *options, "-o", out, "--", *program])
        check_equal(done.returncode, status, "status of --fail-on %s -- %s" % (options[0], program))


@case("--fail-on says in one line what it found, wherever the report goes")
def fail_on_says():
    out = os.path.join(scratch, "fail.txt")
    figures = {}
    for fmt in ("text", "json", "junit"):
        done = run([HEAPTOP, "--fail-on", "definite", "--fail-on", "unfreed", "--format", fmt, "-o", out, "--",
                    target("leaks"), "list", "10"])
        check_equal(done.returncode, 1, "status")
        line = re.findall(r"^heaptop: exit status 1 because of --fail-on: (.*)$", done.stderr.decode(), re.MULTILINE)
        check_equal(len(line), 1, "lines on stderr of " + fmt)
        with open(out, encoding="utf-8") as f:
            figures[fmt] = line[0], f.read()
    report = json.loads(figures["json"][1])
    want = "%s bytes in %s unfreed blocks" % tuple(
        "{:,}".format(report["totals"][n]) for n in ("live_bytes", "live_blocks"))
    check(figures["text"][0].endswith(want), "%s: not %s" % (figures["text"][0], want))
    check_equal({figure for figure, _ in figures.values()}, {figures["text"][0]}, "figures")
    check_equal(figures["text"][1].splitlines()[-1], "verdict   failed: " + figures["text"][0], "the last line")
    check_equal(report["verdict"], "failed: " + figures["json"][0], "JSON's verdict")
    # On stderr it is said once, at the end.
    done = run([HEAPTOP, "--fail-on", "unfreed", "--", target("leaks"), "list", "10"])
    check_equal(done.stderr.decode().splitlines()[-1], "heaptop: exit status 1 because of --fail-on: " + want, "the last line of stderr")
    check("verdict" not in done.stderr.decode(), "the verdict is said twice")
    done = run([HEAPTOP, "--fail-on", "definite", "--", "true"])
    check_equal(done.stderr.decode().splitlines()[-1], "verdict   passed: no definite block", "the last line of one that passes")
    done = run([HEAPTOP, "--fail-on", "unfreed", "--report", "--", "sh", "-c", '"$0" list 10; true',
                target("leaks")])
    check(done.returncode == 1 and b"unfreed blocks of 2 processes" in done.stderr, "of a child: %s" % done.stderr)
    done = run([HEAPTOP, "--fail-on", "mismatched", "--fail-on", "peak>1", "--format", "junit", "--",
                target("leaks"), "list", "10"])
    check(done.returncode == 1 and b'tests="2" failures="1"' in done.stderr, "junit: %s" % done.stderr)
    done = run([HEAPTOP, "--fail-on", "unfreed", "-b", "--", target("leaks"), "list", "10"])
    check_equal(done.stderr.decode().splitlines()[-1], "heaptop: exit status 1 because of --fail-on: " + want, "the line with frames")
    # A document on stderr stays one.
    done = run([HEAPTOP, "--fail-on", "unfreed", "--format", "json", "--", target("leaks"), "list", "10"])
    check_equal(json.loads(done.stderr)["verdict"], "failed: " + want, "JSON on stderr")


@case("a report of a running program says what it waits for, and a signal gives it")
def report_waits():
    with Waiting(target("leaks"), "wait") as program:
        pid = program.process.pid
        for number, ignored in ((signal.SIGINT, False), (signal.SIGTERM, True)):
            viewer = subprocess.Popen(
                [HEAPTOP, "--report", "-a", str(pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=environment(), restore_signals=False,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.SIG_DFL))
            line = viewer.stderr.readline()
            check("process %d is still running" % pid in line and ("kill -INT %d" % viewer.pid in line) != ignored, line)
            viewer.send_signal(number)
            out, err = viewer.communicate(timeout=60)
            check_equal(viewer.returncode, 0, "status")
            check("running after" in out and err == "", "the report of now: " + out[:300] + err)
        now = run(line.split(" or ")[1].replace("heaptop", HEAPTOP, 1).split())
        check("running after" in now.stdout.decode(), "what the line proposes: %s" % now.stdout)
        # With -n it does not wait for the end.
        done = run([HEAPTOP, "--report", "-n", "2", "-d", "0.1", "-a", str(pid)])
        check(b"running after" in done.stdout, "the report after two frames: %s" % done.stdout)
        check_equal(done.stderr, b"", "nothing to wait for")


@case("each leak's own suppression takes it out, here and in memcheck")
def gen_suppressions():
    out, rules = os.path.join(scratch, "leaks.txt"), os.path.join(scratch, "generated.supp")
    done = run([HEAPTOP, "--gen-suppressions", "--top", "0", "-o", out, "--", target("leaks")])
    check_equal(done.returncode, 0, "status")
    with open(out, encoding="utf-8") as f:
        text = f.read()
    with open(rules, "w", encoding="utf-8") as f:
        f.write("\n".join(re.findall(r"^\{\n.*?^\}$", text, re.DOTALL | re.MULTILINE)))
    plain, _ = leaks_of([target("leaks")])
    leaks, _ = leaks_of([target("leaks")], "--suppressions", rules)
    check(plain["definite"]["blocks"] > 0 and plain["possible"]["blocks"] > 0, "nothing to suppress")
    for kind in ("definite", "possible"):
        check_equal(leaks[kind], {"blocks": 0, "bytes": 0}, kind)
    need("valgrind")
    done = run(["valgrind", "--leak-check=full", "--suppressions=" + rules, target("leaks")])
    said = done.stderr.decode()
    lost = re.findall(r"definitely lost in loss record.*?\n.*? malloc .*?\n.*?: (\w+) ", said)
    suppressed = re.search(r"suppressed: ([\d,]+) bytes", said)[1].replace(",", "")
    check(int(suppressed) > plain["definite"]["bytes"] // 2, "memcheck suppressed %s" % suppressed)
    # It does not look into vector registers: what they keep is lost for it, and not for us.
    check(all(name.startswith("reachable_") for name in lost), "memcheck still reports %s" % lost)


@case("JUnit XML: a test that fails for each leak, and passes without")
def junit():
    out = os.path.join(scratch, "leaks.xml")
    done = run([HEAPTOP, "--format", "junit", "--fail-on", "definite", "-o", out, "--", target("leaks")])
    check_equal(done.returncode, 1, "status")
    suite = ElementTree.parse(out).getroot().find("testsuite")
    failed = [t.get("name") for t in suite.findall("testcase") if t.find("failure") is not None]
    leaks, _ = leaks_of([target("leaks")])
    want = [s for s in leaks["sites"] if s["class"] == "definite"]
    check_equal(len(failed), len(want), "failures")
    check_equal(suite.get("failures"), str(len(want)), "their sum")
    check(any("definite_plain" in name for name in failed), failed)
    done = run([HEAPTOP, "--format", "junit", "--fail-on", "definite", "-o", out, "--", "true"])
    check_equal(done.returncode, 0, "status without leaks")
    suite = ElementTree.parse(out).getroot().find("testsuite")
    check_equal((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("1", "0", "0"), "true")
    # What a program that still runs has not freed is no failure, in the exit status or here.
    reads, writes = os.pipe()
    status = subprocess.run([HEAPTOP, "--format", "junit", "--fail-on", "unfreed", "-n", "1", "-o", out, "--", "sort"],
                            env=environment(), stdin=reads, stderr=subprocess.DEVNULL, timeout=60, check=False).returncode
    os.close(reads)
    os.close(writes)
    suite = ElementTree.parse(out).getroot().find("testsuite")
    check_equal((status, suite.get("tests"), suite.get("failures")), (0, "0", "0"), "while it runs")


def lost_sums(leaks):
    return [(leaks[k]["bytes"], leaks[k]["blocks"]) for k in ("definite", "indirect", "suppressed")]


def rules_file(text):
    path = os.path.join(scratch, "rules.supp")
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return path


@case("valgrind's suppressions take out what they match and nothing else, as in memcheck")
def as_memcheck_suppresses():
    for names, kinds in ((("known", "ring"), ""), (("outer", "known", "child"), "indirect")):
        rules = rules_file("".join("{\n x\n Memcheck:Leak\n%s fun:calloc\n fun:%s\n}\n"
                                   % (kinds and " match-leak-kinds: %s\n" % kinds, name) for name in names))
        done = run([need("valgrind"), "--leak-check=full", "--show-leak-kinds=all", "--suppressions=" + rules,
                    target("suppressed")])
        said = [re.search(what + r": ([\d,]+) bytes in ([\d,]+) blocks", done.stderr.decode()).groups()
                for what in ("definitely lost", "indirectly lost", "suppressed")]
        leaks, _ = leaks_of([target("suppressed")], "--suppressions", rules)
        check_equal(lost_sums(leaks), [tuple(int(n.replace(",", "")) for n in pair) for pair in said],
                    "without %s %s" % (kinds, " and ".join(names)))


@case("valgrind's suppressions by file and line match what they do in memcheck")
def as_memcheck_suppresses_lines():
    with open("tests/targets/leak_high.c", encoding="utf-8") as f:
        line = [i for i, text in enumerate(f, 1) if "malloc(10)" in text][0]
    for frames, want in ((("src:leak_high.c:%d" % line,), 5), (("src:leak_high.c",), 14), (("src:leak_*.?:%d" % line,), 5),
                         (("src:high.c",), 0), (("fun:inner", "src:leak_high.c", "src:leak_high.c"), 3),
                         (("...", "src:leak_high.c:%d" % (line + 1)), 0)):
        rules = rules_file("{\n x\n Memcheck:Leak\n fun:malloc\n%s}\n" % "".join(" %s\n" % f for f in frames))
        done = run([need("valgrind"), "--leak-check=full", "--suppressions=" + rules, target("leak_high")])
        said = re.search(r"suppressed: [\d,]+ bytes in ([\d,]+) blocks", done.stderr.decode())[1]
        leaks, _ = leaks_of([target("leak_high")], "--suppressions", rules)
        check_equal((leaks["suppressed"]["blocks"], int(said)), (want, want), "by %s" % (frames,))


@case("LeakSanitizer's suppressions take along what is behind, as they do there")
def as_lsan_suppresses():
    program = os.path.join(scratch, "suppressed-lsan")
    done = run([os.environ.get("CC", "cc"), "-g", "-O1", "-fsanitize=leak", "-o", program, "tests/targets/suppressed.c"])
    check_equal(done.returncode, 0, "the compiler's status: " + done.stderr.decode())
    for names in (("known",), ("outer", "both"), ("child",), ("no such",)):
        rules = rules_file("".join("leak:^%s$\n" % name for name in names))
        done = run([program], env={"LSAN_OPTIONS": "suppressions=" + rules})
        said = re.search(r"SUMMARY: LeakSanitizer: (\d+) byte\(s\) leaked in (\d+) alloc", done.stderr.decode())
        check(said, "LeakSanitizer says: " + done.stderr.decode())
        leaks, _ = leaks_of([target("suppressed")], "--suppressions", rules)
        definite, indirect, suppressed = lost_sums(leaks)
        lost = (definite[0] + indirect[0], definite[1] + indirect[1])
        check_equal(lost, tuple(int(n) for n in said.groups()), "lost without " + " and ".join(names))
        check_equal((lost[0] + suppressed[0], lost[1] + suppressed[1]), (1180, 9), "all")
        behind = [s["indirect"]["blocks"] for s in leaks["sites"] if s["class"] == "definite"]
        check_equal(sum(behind), indirect[1], "what is behind what stays")
        if names == ("known",):  # two of three children, of one stack
            check_equal([(s["blocks"], s["suppressed"]) for s in leaks["sites"] if s["stack"][0]["function"] == "child"],
                        [(2, False), (1, True)], "the children's rows")


@case("suppressions, of LeakSanitizer's and valgrind's form")
def suppressions():
    rules = os.path.join(scratch, "rules.supp")
    with open(rules, "w", encoding="ascii") as f:
        f.write("leak:definite_plain\n{\n cycles\n Memcheck:Leak\n match-leak-kinds: definite\n"
                " fun:malloc\n fun:definite_c*\n ...\n fun:main\n}\n")
    plain, want = leaks_of([target("leaks")])
    leaks, _ = leaks_of([target("leaks")], "--suppressions", rules)
    gone = [want["definite_plain"], want["definite_cycle"]]
    check_equal(leaks["suppressed"], {"blocks": sum(g[0] for g in gone),
                                      "bytes": sum(g[1] for g in gone)}, "suppressed")
    check_equal(leaks["definite"]["blocks"],
                plain["definite"]["blocks"] - leaks["suppressed"]["blocks"], "definite")
    check_equal({(s["stack"][0]["function"], s["kind"]) for s in leaks["sites"] if s["class"] == "suppressed"},
                {("definite_plain", "definite"), ("definite_cycle", "definite")}, "sites suppressed")
    for kind in ("definite", "indirect", "possible", "reachable", "suppressed"):
        rows = [s for s in leaks["sites"] if s["class"] == kind]
        check_equal({what: sum(s[what] for s in rows) for what in ("blocks", "bytes")}, leaks[kind], "sites of " + kind)
        check(all(s["suppressed"] == (kind == "suppressed") for s in rows), "suppressed or not: " + kind)
    with open(rules, "w", encoding="ascii") as f:
        f.write("leak:definite\nleek:x\n")
    done = run([HEAPTOP, "--leak-check", "--suppressions", rules, "--", "true"])
    check_equal(done.returncode, 125, "status with a mistake in the file")
    check("line 2" in done.stderr.decode(), done.stderr.decode())


@case("a program that does not come to its end by exit is not said to be without leaks")
def killed():
    done = run([HEAPTOP, "--fail-on", "definite", "-o", os.path.join(scratch, "k.txt"), "--",
                target("crash"), "segv"])
    check_equal(done.returncode, 139, "status")
    with open(os.path.join(scratch, "k.txt"), encoding="utf-8") as f:
        check("no leak scan: " in f.read(), "the report does not say that there was no scan")


@case("a program that is traced by another is refused in one line")
def traced():
    strace = need("strace")
    with Waiting(strace, "-f", "-o", "/dev/null", target("leaks"), "wait") as program:
        with open("/proc/%d/task/%d/children" % ((program.process.pid,) * 2), encoding="ascii") as f:
            pid = int(f.read().split()[0])
        done = run([HEAPTOP, "--leak-check", "-a", str(pid)])
        check_equal(done.returncode, 125, "status")
        lines = done.stderr.decode().splitlines()
        check_equal(len(lines), 1, "lines of the message")
        check("is traced by" in lines[0], lines[0])
        check_equal(program.end()[0], 0, "the program's end")


@case("a thread that cannot be stopped is waited for in vain, not for ever, and goes on")
def vfork_parent():
    with Waiting(target("leaks"), "vfork") as program:
        want = account("".join(program.said))
        _, leaks = attached(program.process.pid)
        check_equal((leaks["threads"], leaks["threads_running"]), (1, 1), "threads, running")
        check_classes(found(leaks), want)
        check_equal(program.end(), (0, ""), "the program's end")


def state_of(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as f:
        return f.read().rpartition(")")[2].split()[0]


@case("a stopped program stays stopped, and goes on when it is to")
def stopped():
    with Waiting(target("leaks"), "wait") as program:
        want = account("".join(program.said))
        os.kill(program.pid, signal.SIGSTOP)
        wait_for(lambda: state_of(program.pid) == "T", "the stop")
        for copying in ("never", "always"):
            _, leaks = attached(program.pid, "--leak-copy", copying)
            check_classes(found(leaks), want)
            # Let go, a thread stops again as soon as it gets a processor.
            wait_for(lambda: state_of(program.pid) == "T", "the stop after a scan")
        os.kill(program.pid, signal.SIGCONT)
        check_equal(program.end(), (0, ""), "the program's end")


@case("a program whose first thread has ended runs, and is scanned")
def without_leader():
    with Waiting(target("leaks"), "leader") as program:
        want = account("".join(program.said))
        wait_for(lambda: state_of(program.pid) == "Z", "the end of the first thread")
        for copying in ("never", "always"):
            _, leaks = attached(program.pid, "--leak-copy", copying)
            check_equal(leaks["how"], "copy on write" if copying != "never" else "stop and read", "how")
            check_classes(found(leaks), want)
        check_equal(program.end(), (0, ""), "the program's end")
    leaks, want = leaks_of([target("leaks"), "leader"])
    check_classes(found(leaks), want)


@case("another process that has the same memory does not stop, and that is said")
def shared():
    with Waiting(target("leaks"), "shared") as program:
        want = account("".join(program.said))
        _, leaks = attached(program.pid, "--leak-copy", "always")
        check_equal((leaks["threads"], leaks["threads_running"], leaks["how"]), (2, 1, "stop and read"), "threads")
        check_classes(found(leaks), want)
        check_equal(program.end(), (0, ""), "the program's end")


@case("what a forked child hangs on blocks of its parent is reachable, and what it loses is lost")
def forked_child():
    with Waiting(target("leaks_forked"), "wait") as program:
        said = "".join(program.said)
        pid = int(re.search(r"^pid (\d+)$", said, re.M)[1])
        done, leaks = attached(pid)
        check_classes(found(leaks), account(said))
        check(leaks["unknown_blocks"], "unknown blocks")
        check_equal(program.end()[0], 0, "the program's end")


@case("a program that ends by _exit, and one that went on by exec, are scanned at their end")
def other_ends():
    for how, status in (("_exit", 3), ("exec", 0)):
        done, rep = report([target("leaks"), how], ["--leak-check"])
        check_equal(done.returncode, status, "status of " + how)
        check(rep["leaks"]["failed"] is None, "%s: %s" % (how, rep["leaks"]["failed"]))
        check_classes(found(rep["leaks"]), account(done.stdout.decode()))


@case("of a program that went on by exec without the library nothing is said to be lost")
def gone_on():
    with Waiting("bash", "-c", "echo ready; LD_PRELOAD= exec cat") as program:
        exe = "/proc/%d/exe" % program.pid
        wait_for(lambda: os.path.basename(os.readlink(exe)) == "cat", "exec")
        done = run([HEAPTOP, "--leak-check", "-a", str(program.pid)])
        check_equal(done.returncode, 125, "status")
        check("it called exec, which discarded the recorded heap" in done.stderr.decode(), done.stderr.decode())
        check_equal(program.end(), (0, ""), "the program's end")


@case("without the right to trace: one line, and the program goes on")
def no_right():
    with Waiting(target("leaks"), "wait") as program:
        done = run([need("setpriv"), "--bounding-set=-all", "--inh-caps=-all", HEAPTOP,
                    "--leak-check", "-a", str(program.process.pid)])
        check_equal(done.returncode, 125, "status")
        check("no permission to stop it" in done.stderr.decode(), done.stderr.decode())
        check_equal(program.end(), (0, ""), "the program's end")


@case("a viewer that is killed while its program waits for it does not keep it for ever")
def viewer_gone_at_end():
    viewer = subprocess.Popen([HEAPTOP, "--leak-check", "--", target("leaks"), "wait"],
                              env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    while viewer.stdout.readline().strip() != "ready":
        pass
    viewer.kill()
    viewer.wait()
    viewer.stdin.close()
    # Its end closes the pipe: there is nobody else who holds it.
    check_equal(viewer.stdout.read(), "", "output at the end")
    viewer.stdout.close()


run_cases()
