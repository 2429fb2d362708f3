#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds the heap, in a program whose holders are known (tests/targets/holders.cc): by their names, and by the
bytes that they retain, which are those that go once the program frees them."""

import json
import os
import re

from proving import HEAPTOP, case, check, check_equal, run, run_cases, scratch, target
from scanning import Waiting


def scan(pid):
    out = os.path.join(scratch, "holders.json")
    done = run([HEAPTOP, "--leak-check", "--format", "json", "-o", out, "-a", str(pid)])
    check(done.returncode in (0, 1), done.stderr.decode())
    with open(out, encoding="utf-8") as f:
        return json.load(f)


def roots_of(leaks):
    return {h["root"]: h for h in leaks["held"]["by"] if h["depth"] == 0}


def root_like(leaks, pattern):
    """The one root of such a name."""
    found = [h for name, h in roots_of(leaks).items() if re.fullmatch(pattern, name)]
    check_equal(len(found), 1, "%s among %s" % (pattern, list(roots_of(leaks))))
    return found[0]


def all_bytes(leaks):
    return sum(leaks[c]["bytes"] for c in ("definite", "indirect", "possible", "reachable"))


@case("roots have the names of variables, threads and functions, and retain what they hold")
def names():
    with Waiting(target("holders")) as program:
        leaks = scan(program.pid)["leaks"]
        quotes = root_like(leaks, r"app::quotes \(holders\.cc:\d+\)")
        check_equal(quotes["retained"]["blocks"], 2001, "blocks of quotes")
        chain = root_like(leaks, r"app::chain \(holders\.cc:\d+\)")
        check_equal(chain["retained"], {"blocks": 1000, "bytes": 500 * (50 + 16)}, "chain")
        check_equal(root_like(leaks, r"app::shapes \(holders\.cc:\d+\)")["retained"]["blocks"], 30, "shapes")
        check_equal(root_like(leaks, r"memo\(\)::cached \(holders\.cc:\d+\)")["retained"],
                    {"blocks": 1, "bytes": 3333}, "cached")
        check_equal(root_like(leaks, r"thread-local own_list of thread \d+ \(reader\) \(holders\.cc:\d+\)")
                    ["retained"], {"blocks": 1, "bytes": 777}, "own_list")
        stack = root_like(leaks, r"stack of thread \d+ \(reader\), in parse_line\(void\*\)")
        check_equal(stack["retained"], {"blocks": 1, "bytes": 5000}, "block")
        lost = roots_of(leaks)["nothing (lost)"]
        check_equal(lost["retained"]["bytes"], leaks["definite"]["bytes"] + leaks["indirect"]["bytes"], "lost")
        check_equal(leaks["held"]["bytes"], all_bytes(leaks), "all that is held")
        check_equal(sum(h["retained"]["bytes"] for h in leaks["held"]["by"] if h["depth"] == 0) //
                    (leaks["held"]["bytes"] // 100), 100, "percent of it below the roots shown")


@case("a call site retains what its blocks keep alive; the tree says by which way")
def sites():
    with Waiting(target("holders")) as program:
        leaks = scan(program.pid)["leaks"]
    by = leaks["held"]["by"]
    at = [h["root"] for h in by].index(root_like(leaks, r"app::chain .*")["root"])
    links, payload = by[at + 1], by[at + 2]
    check_equal((links["depth"], links["own"]), (1, {"blocks": 500, "bytes": 500 * 16}), "the links")
    check_equal(links["retained"]["bytes"], 500 * (50 + 16), "the links' retained")
    check_equal((payload["depth"], payload["own"]), (2, {"blocks": 500, "bytes": 500 * 50}), "payload")
    rows = {row["site"]: row for row in leaks["sites"] if row["class"] == "reachable"}
    check_equal(rows[links["site"]]["retained"], {"blocks": 1000, "bytes": 500 * (50 + 16)}, "their row")
    check_equal(rows[payload["site"]]["retained"], {"blocks": 500, "bytes": 500 * 50}, "the payload's row")
    lost = [row for row in leaks["sites"] if row["class"] == "definite"]
    check_equal(sum(row["retained"]["bytes"] for row in lost),
                leaks["definite"]["bytes"] + leaks["indirect"]["bytes"], "what leaks retain")


@case("live bytes fall by exactly what the holder retained when the program frees it")
def freed():
    with Waiting(target("holders")) as program:
        before = scan(program.pid)
        program.process.stdin.write("free\n")
        program.process.stdin.flush()
        check_equal(program.process.stdout.readline(), "freed\n", "it says")
        after = scan(program.pid)
        quotes = root_like(before["leaks"], r"app::quotes .*")["retained"]
        for what, name in (("live_bytes", "bytes"), ("live_blocks", "blocks")):
            check_equal(before["totals"][what] - after["totals"][what], quotes[name], what)
        check_equal([r for r in roots_of(after["leaks"]) if "quotes" in r], [], "roots afterwards")


@case("objects have the classes of their vtables, and cycles among leaks are said by them")
def types():
    with Waiting(target("holders")) as program:
        report = scan(program.pid)
        leaks = report["leaks"]
        done = run([HEAPTOP, "--report", "--leak-check", "-a", str(program.pid)])
    of = {(row["class"], row["type"]): row for row in leaks["sites"] if row["type"]}
    by_type = {}
    for (_, name), row in of.items():
        by_type[name] = by_type.get(name, 0) + row["blocks"]
    # The map's nodes and all strings have none, though strings lie in objects.
    check_equal(by_type, {"Circle": 30, "Session (make_shared)": 200, "Conn (make_shared)": 200,
                          "std::thread::_State_impl<...>": 1}, "classes")
    check_equal(leaks["typed"]["blocks"], 431, "typed blocks")
    sites = {s["type"]: s for s in report["sites"]}
    check_equal({t: (s["type_blocks"], s["scanned_blocks"]) for t, s in sites.items() if t and not t.startswith("std")},
                {"Circle": (30, 30), "Session (make_shared)": (200, 200), "Conn (make_shared)": (200, 200)}, "sites' classes")
    check_equal(sum(s["type_blocks"] for s in report["sites"]), leaks["typed"]["blocks"], "typed blocks of sites")
    kept = {}
    for row in leaks["sites"]:
        kept[row["site"]] = kept.get(row["site"], 0) + row["retained"]["bytes"]
    check_equal({s["id"]: s["retained_bytes"] for s in report["sites"] if s["retained_bytes"]}, kept, "what sites retain")
    check_equal([(c["times"], c["blocks"], len(c["cycle_sites"])) for c in leaks["cycles"]], [(200, 400, 2)], "cycles")
    # A pair keeps nothing but itself.
    check_equal(leaks["cycles"][0]["retained"], {"blocks": 400, "bytes": leaks["cycles"][0]["bytes"]}, "kept by cycles")
    check_equal({leaks_row["type"] for leaks_row in leaks["sites"] if leaks_row["site"] in
                 leaks["cycles"][0]["cycle_sites"]}, {"Session (make_shared)", "Conn (make_shared)"}, "its classes")
    said = done.stdout.decode() + done.stderr.decode()
    check(re.search(r"^cycles +Session \(make_shared\) <-> Conn \(make_shared\), 200 times: .* in 400 blocks$",
                    said, re.M), said)


@case("on the screen, leaks by head are one row for the cycles, whichever of their blocks is definite")
def heads():
    with Waiting(target("holders")) as program:
        path = os.path.join(scratch, "keys")
        with open(path, "w", encoding="utf-8") as f:
            f.write(":size 170x30\nL\n:until scan 1\nK h\n:until Session (make_shared) <-> \n"
                    ":save-display -\n")
        screen = run([HEAPTOP, "-d", "0.1", "--script", path, "-a", str(program.pid)]).stdout.decode()
    rows = [line for line in screen.splitlines() if re.match(r"[ >](cycle|definite|indirect)", line)]
    check(re.match(r".cycle +35\.9k +400 +35\.9k .* Session \(make_shared\) <-> Conn \(make_shared\), 200 times",
                   rows[0]), screen)
    check(not [row for row in rows if "lose()" in row], screen)


@case("call sites are summed up by type, with the share of the heap that has one, in reports and on the screen")
def by_type():
    with Waiting(target("holders")) as program:
        done = run([HEAPTOP, "--report", "--leak-check", "--group", "type", "-a", str(program.pid)])
        said = done.stdout.decode() + done.stderr.decode()
        path = os.path.join(scratch, "keys")
        with open(path, "w", encoding="utf-8") as f:
            f.write(":size 230x30\nL\n:until scan 1\n:wait 2\nTab Tab Tab\n:until TYPE\n:until lose\n:save-display -\n"
                    "g y\n:until no type known\n:save-display -\n")
        screen = run([HEAPTOP, "-d", "0.1", "--script", path, "-a", str(program.pid)]).stdout.decode()
    check(re.search(r"^5 of 5 types, by live \(typed \d+\.\d% of bytes\)$", said, re.M), said)
    check(re.search(r"28,800 bytes in 200 blocks .*\n(?: .*\n)* +in Session \(make_shared\) \(holders.cc", said), said)
    check(re.search(r"\n +1\. (?:.*\n)*? +in \(no type known\)$", said, re.M), said)
    check(re.search(r" Conn \(make_shared\) .* lose\(\) +holders\.cc:", screen), screen)
    check(re.search(r"by type \(g\), typed \d", screen), screen)
    without = run([HEAPTOP, "--report", "--group", "type", "--", "true"])
    check("types are known after a leak scan" in without.stdout.decode() + without.stderr.decode(), without)


@case("call sites are sorted by what they retain, in reports and on the screen")
def sort():
    with Waiting(target("holders")) as program:
        done = run([HEAPTOP, "--report", "--leak-check", "-s", "retained", "--top", "2", "-a", str(program.pid)])
        said = done.stdout.decode() + done.stderr.decode()
        path = os.path.join(scratch, "keys")
        with open(path, "w", encoding="utf-8") as f:
            f.write(":size 220x30\nL\n:until scan 1\n:wait 2\nTab Tab Tab\n:until RETAINED\n:until holders.cc:54\n:save-display -\n")
        screen = run([HEAPTOP, "-d", "0.1", "-s", "retained", "--script", path, "-a", str(program.pid)]).stdout.decode()
    listed = said[said.index("call sites, by retained"):]
    # The map itself, which holds its nodes; then these, and not the most bytes, which the strings have.
    check(re.search(r"1\. 48 bytes in 1 block .*\n(?:.*\n)*.*fill\(\) .*\n(?:.*\n)* +2\. 72,000 bytes in 1,000 blocks", listed),
          listed)
    rows = [line for line in screen.splitlines() if "holders.cc:" in line]
    check(rows and rows[0].split()[1] == "48" and "fill" in rows[0], screen)


@case("a text report names the roots that hold most")
def text():
    with Waiting(target("holders")) as program:
        done = run([HEAPTOP, "--report", "--leak-check", "-a", str(program.pid)])
    found = re.search(r"^held +([\d,]+) bytes in 2,001 blocks by app::quotes \(holders.cc:\d+\)$",
                      done.stdout.decode() + done.stderr.decode(), re.M)
    check(found, done.stdout.decode() + done.stderr.decode())
    check(re.search(r"^typed +\d+\.\d% of bytes, by the vtables of C\+\+ classes$",
                    done.stdout.decode() + done.stderr.decode(), re.M), done)


run_cases()
