#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""heaptop --format: what other tools read of each format is what the JSON report says. One segment, left behind by a
program that was killed, is written in all formats, so that all describe the same moment."""

import csv
import gzip
import html
import io
import json
import os
import re
import subprocess
import sys

from format_readers import proto_text
from proving import (HEAPTOP, LIBRARY, ROOT, case, check, check_equal, environment, heap_sites, kill_hard, need, report, run,
                     run_cases, scratch, segment_files, target, add_case)

VALUES = {"live": "live_bytes", "blocks": "live_blocks", "allocated": "alloc_bytes", "allocs": "allocs",
          "temporary": "temporary", "peak": "at_peak_bytes"}
HERE = os.path.join(ROOT, "tests", "e2e")
_left, _reports = {}, {}


def left_behind(command, talk=None, depth=64):
    """Runs a program until it kills itself, or after `talk` with it; the segment that it leaves."""
    before = set(segment_files())
    with subprocess.Popen(command, env=environment(LD_PRELOAD=LIBRARY, HEAPTOP_DEPTH=depth), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        if talk:
            process.stdin.write(talk)
            process.stdin.flush()
            process.stdout.readline()
            kill_hard(process)
        else:
            process.communicate()
        check_equal(process.returncode, -9, "the end of " + command[0])
    new = set(segment_files()) - before
    check_equal(len(new), 1, "segments left behind")
    return new.pop()


PROGRAMS = {
    "odd names": lambda: left_behind([target("odd_names"), "3"]),
    "a stack of 1000 frames": lambda: left_behind([target("odd_names"), "1000"], depth=1024),
    "no call site": lambda: left_behind([target("odd_names"), "0"]),
    "python": lambda: left_behind([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]),
    "git": lambda: left_behind(["git", "-C", ROOT, "cat-file", "--batch-check"], b"HEAD\n"),
    "C++": lambda: left_behind([target("odd_names_cxx")]),
}


def segment(name):
    if name not in _left:
        _left[name] = PROGRAMS[name]()
    return _left[name]


def exported(path, name, *options):
    done = run([HEAPTOP, "-r", path, "--format", name, *options])
    check_equal((done.returncode, done.stderr), (0, b""), "heaptop --format %s %s" % (name, options))
    return done.stdout


def json_of(path):
    if path not in _reports:
        _reports[path] = json.loads(exported(path, "json"))
        _reports[path]["sites"] = heap_sites(_reports[path])  # other formats have the heap alone
    return _reports[path]


def name_of(frame):
    """A frame's name in all formats."""
    module = os.path.basename(frame["module"])
    return frame["function"] or (module + "+" + frame["offset"] if module else frame["pc"])


def stack_of(site):
    """A site's names, outermost first."""
    return ["(outer frames missing)"] * site["truncated"] + [name_of(f) for f in reversed(site["stack"])]


def weights(rep, value):
    """Sum by stack, as the report has it."""
    sums = {}
    for site in rep["sites"]:
        stack = tuple(stack_of(site))
        sums[stack] = sums.get(stack, 0) + site[VALUES.get(value, value)]
    return {stack: n for stack, n in sums.items() if n}


def for_programs(name):
    """A case for each program: function(its segment, its report)."""
    def register(function):
        for program in PROGRAMS:
            def one(program=program):
                path = segment(program)
                function(path, json_of(path))
            add_case("%s: %s" % (name, program), one)
        return function
    return register


def folded_read(text):
    """As flamegraph.pl reads it: the last word of a line is the count."""
    sums = {}
    for line in text.decode().splitlines():
        found = re.fullmatch(r"(.*\S) (\d+)", line)
        check(found, "no folded stack: " + line)
        stack = tuple(found[1].split(";"))
        check(stack not in sums, "twice: " + line)
        sums[stack] = int(found[2])
    return sums


def semicolons(stacks):
    """The names in folded stacks."""
    return {tuple(name.replace(";", ":") for name in stack): n for stack, n in stacks.items()}


@for_programs("folded stacks")
def _(path, rep):
    check_equal(folded_read(exported(path, "folded")), semicolons(weights(rep, "live")), "stacks")


@case("folded stacks of each value")
def folded_values():
    path = segment("odd names")
    for value in VALUES:
        got = folded_read(exported(path, "folded", "--value", value))
        check_equal(got, semicolons(weights(json_of(path), value)), "stacks by " + value)


@for_programs("csv")
def _(path, rep):
    rows = list(csv.DictReader(io.StringIO(exported(path, "csv").decode(), newline=""), strict=True))
    for row, site in zip(rows, rep["sites"], strict=True):
        check_equal(int(row["site"]), site["id"], "site")
        for field in ("live_bytes", "live_blocks", "allocs", "frees", "alloc_bytes", "temporary", "peak_live_bytes",
                      "at_peak_bytes", "at_peak_blocks"):
            check_equal(int(row[field]), site[field], field)
        check_equal(row["function"], site["function"], "function")
        check_equal(row["stack"].split(";"), [n.replace(";", ":") for n in stack_of(site)], "stack")
        check_equal(int(row["pid"]), rep["process"]["pid"], "pid")
        check(row["name"] in [name_of(f) for f in site["stack"]], "no frame is called " + row["name"])


SPEEDSCOPE = {"live bytes": "live", "live blocks": "blocks", "allocated bytes": "allocated", "allocations": "allocs",
              "temporary allocations": "temporary", "bytes at the peak": "peak"}


def speedscope_read(text):
    """The profiles by name, checked against the format's specification: name -> sum by stack."""
    file, result = json.loads(text), {}
    check_equal(file["$schema"], "https://www.speedscope.app/file-format-schema.json", "$schema")
    check(0 <= file["activeProfileIndex"] < len(file["profiles"]), "no such profile is active")
    frames = file["shared"]["frames"]
    check(all(set(f) <= {"name", "file", "line", "col"} and f["name"] for f in frames), "a frame")
    for profile in file["profiles"]:
        check_equal((profile["type"], profile["startValue"]), ("sampled", 0), "type and start")
        check(profile["unit"] in ("bytes", "none"), "unit " + profile["unit"])
        check_equal(profile["endValue"], sum(profile["weights"]), "endValue")
        sums = result.setdefault(profile["name"], {})
        for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
            stack = tuple(frames[i]["name"] for i in sample)
            sums[stack] = sums.get(stack, 0) + weight
    return result


@for_programs("speedscope")
def _(path, rep):
    got = speedscope_read(exported(path, "speedscope"))
    for name, value in SPEEDSCOPE.items():
        check_equal(got.pop(name, {}), weights(rep, value), name)
    check_equal(got, {}, "further profiles")


@case("speedscope has the one profile that --value asks for")
def speedscope_value():
    got = speedscope_read(exported(segment("odd names"), "speedscope", "--value", "allocs"))
    check_equal(list(got), ["allocations"], "profiles")


PPROF = {"inuse_space": "live", "inuse_objects": "blocks", "alloc_space": "allocated", "alloc_objects": "allocs",
         "temporary_objects": "temporary", "peak_space": "peak", "peak_objects": "at_peak_blocks"}


def proto_decode(data, message, schema):
    need("protoc")
    done = run(["protoc", "--decode=" + message, "-I", HERE, os.path.join(HERE, schema)], stdin=data)
    check_equal((done.returncode, done.stderr), (0, b""), "protoc")
    check(not re.search(rb"^\s*\d+:", done.stdout, re.M), "fields that " + schema + " does not have")
    return proto_text(done.stdout.decode())


class Pprof:
    """A decoded profile, its rules checked: IDs are unique, everything that is named exists."""

    def __init__(self, data):
        self.message = proto_decode(gzip.decompress(data), "Profile", "profile.proto")
        self.strings = self.all("string_table")
        check_equal(self.strings[0], "", "the first string")
        self.functions = self.by_id("function")
        self.mappings = self.by_id("mapping")
        self.locations = self.by_id("location")

    def all(self, field):
        return self.message.get(field, [])

    def by_id(self, field):
        found = {m["id"][0]: m for m in self.all(field)}
        check_equal((len(found), 0 in found), (len(self.all(field)), False), "IDs of " + field)
        return found

    def string(self, message, field):
        return self.strings[message.get(field, [0])[0]]

    def types(self):
        return [(self.string(t, "type"), self.string(t, "unit")) for t in self.all("sample_type")]

    def names(self, location):
        """A location's functions, outermost first."""
        if not location.get("line"):
            mapping = self.mappings[location["mapping_id"][0]]
            base = os.path.basename(self.string(mapping, "filename"))
            return ["%s+0x%x" % (base, location["address"][0] + 1 - mapping.get("memory_start", [0])[0])]
        return [self.string(self.functions[line["function_id"][0]], "name") for line in reversed(location["line"])]

    def sums(self, column):
        result = {}
        for sample in self.all("sample"):
            stack = tuple(n for id in reversed(sample["location_id"]) for n in self.names(self.locations[id]))
            result[stack] = result.get(stack, 0) + sample["value"][column]
        return {stack: n for stack, n in result.items() if n}

    def check_mappings(self, rep):
        used = {(f["module"], f["build_id"]) for s in rep["sites"] for f in s["stack"] if f["module"]}
        got = {(self.string(m, "filename"), self.string(m, "build_id")) for m in self.mappings.values()}
        check(got <= used, "mappings are %s, not among %s" % (got, used))
        for location in self.locations.values():
            if "mapping_id" in location:
                m = self.mappings[location["mapping_id"][0]]
                check(m.get("memory_start", [0])[0] <= location["address"][0] < m["memory_limit"][0], "its address")


@for_programs("pprof")
def _(path, rep):
    profile = Pprof(exported(path, "pprof"))
    check_equal({t for t, _ in profile.types()}, set(PPROF), "sample types")
    for column, (name, unit) in enumerate(profile.types()):
        check_equal(unit, "bytes" if name.endswith("space") else "count", "unit of " + name)
        check_equal(profile.sums(column), weights(rep, PPROF[name]), name)
    check_equal(profile.string(profile.message, "default_sample_type"), "inuse_space", "default type")
    profile.check_mappings(rep)
    allocators = {profile.string(l, "str") for s in profile.all("sample") for l in s["label"]}
    check_equal(allocators, {s["function"] for s in rep["sites"] if s["allocs"]}, "labels")


def ms_print_trees(path, data):
    """What ms_print shows: total of each snapshot, and of those with a tree its first level by name."""
    need("ms_print")
    out = os.path.join(scratch, "massif.out")
    with open(out, "wb") as f:
        f.write(data)
    done = run(["ms_print", "--threshold=0", out])
    check_equal((done.returncode, done.stderr), (0, b""), "ms_print")
    totals, trees = [], []
    for line in done.stdout.decode().splitlines():
        row = re.fullmatch(r"\s*\d+ +[\d,]+ +([\d,]+) +[\d,]+ +0 +0", line)
        node = re.fullmatch(r"(->)?\d+\.\d+% \(([\d,]+)B\) (?:0x[0-9A-F]+: )?(.*)", line)
        if row:
            totals.append(int(row[1].replace(",", "")))
        elif node and not node[1]:
            trees.append({})
            check_equal(int(node[2].replace(",", "")), totals[-1], "the tree's root")
        elif node:
            name = re.sub(r" \((in [^()]+|[^()]+:\d+)\)$", "", node[3])
            trees[-1][name] = trees[-1].get(name, 0) + int(node[2].replace(",", ""))
    return totals, trees


@for_programs("massif")
def _(path, rep):
    totals, trees = ms_print_trees(path, exported(path, "massif"))
    check_equal(totals[-1], rep["totals"]["live_bytes"], "the last total")
    check_equal(max(totals), rep["totals"]["peak_live_bytes"], "the highest total")
    check_equal(len(trees), 2, "trees")
    for tree, value in zip(trees, ("peak", "live")):
        want = {}
        for stack, n in weights(rep, value).items():
            name = stack[-1].replace("#", ".")
            want[name] = want.get(name, 0) + n
        small = sum(n for name, n in tree.items() if "below massif's threshold" in name)
        check_equal(sum(tree.values()), sum(want.values()), "the sum of the first level")
        check(all(want[name] >= n for name, n in tree.items() if "below massif" not in name), "a name has too much")
        check(small <= sum(want.values()) * 0.2, "most of it is not shown")


@for_programs("dot")
def _(path, rep):
    need("dot")
    done = run(["dot", "-Tjson0"], stdin=exported(path, "dot"))
    check_equal((done.returncode, done.stderr), (0, b""), "dot")
    drawn = json.loads(done.stdout)
    title, *nodes = drawn["objects"]
    check("live bytes: {:,}".format(rep["totals"]["live_bytes"]) in title["label"], "the title: " + title["label"])
    stacks = weights(rep, "live")
    total = sum(stacks.values())
    for node in nodes:
        name = html.unescape(node["tooltip"]).split(" /")[0]
        own = sum(n for stack, n in stacks.items() if stack[-1] == name)
        below = sum(n for stack, n in stacks.items() if name in stack)
        if sum(name == html.unescape(other["tooltip"]).split(" /")[0] for other in nodes) == 1 and below:
            check_equal((int(node["self"]), int(node["total"])), (own, below), "weights of " + name)
    check(bool(nodes) == bool(total) and sum(int(n["self"]) for n in nodes) >= total * 0.8, "most is not shown")
    check(all(0 < int(e["total"]) <= total for e in drawn.get("edges", [])), "an edge")


def html_data(text):
    """The data of a page, which is safe in it: what follows is not cut off by a tag in a name."""
    page = text.decode()
    check_equal([page.lower().count(tag) for tag in ("<script", "</script", "<style", "<img")], [2, 2, 1, 0], "tags")
    check("default-src 'none'" in page and "http" not in re.sub(r"http-equiv|http://www.w3.org/\d+/\w+", "", re.sub(
        r'id="data">.*?</script>', "", page, flags=re.S)), "it may load something")
    return json.loads(re.search(r'<script type="application/json" id="data">\n(.*?)\n</script>', page, re.S)[1])


@for_programs("html")
def _(path, rep):
    data = html_data(exported(path, "html"))
    names, nodes, sites = data["frames"]["name"], data["nodes"], data["sites"]

    def stack(leaf):
        return stack(nodes["parent"][leaf]) + (names[nodes["frame"][leaf]],) if leaf else ()

    sys.setrecursionlimit(5000)
    stacks = [stack(leaf) for leaf in sites["leaf"]]
    for number, value in enumerate(data["values"]):
        if value["word"] not in VALUES:
            continue
        sums = {}
        for at, n in zip(stacks, sites["values"][number], strict=True):
            sums[at] = sums.get(at, 0) + n
        check_equal({s: n for s, n in sums.items() if n}, weights(rep, value["word"]), value["word"])
        fact = [n for title, n, _ in data["facts"] if title == value["title"]]
        check_equal(fact, [rep["totals"][VALUES[value["word"]]]] if value["word"] != "peak" else [], "a total")
    check_equal(sorted(sites["id"]), sorted(s["id"] for s in rep["sites"]), "sites")
    past = data["processes"][0]["past"]
    check_equal(past[-1][1], rep["totals"]["live_bytes"], "the last point of the timeline")


class Perfetto:
    """A decoded trace, its rules checked: one clock, IDs that exist, in the order that readers need."""

    def __init__(self, data):
        packets = proto_decode(data, "Trace", "perfetto.proto")["packet"]
        check_equal({p["trusted_packet_sequence_id"][0] for p in packets}, {1}, "sequences")
        check_equal({c["clock_id"][0] for c in packets[0]["clock_snapshot"][0]["clocks"]}, {1, 3, 4, 6}, "clocks")
        self.tracks = [p["track_descriptor"][0] for p in packets if "track_descriptor" in p]
        self.values = {}
        for packet in packets:
            for event in packet.get("track_event", []):
                self.values.setdefault(event["track_uuid"][0], []).append(
                    (packet["timestamp"][0], event["counter_value"][0]))
        check(all(points == sorted(points, key=lambda p: p[0]) for points in self.values.values()), "times go back")
        self.profile = packets[-1]["profile_packet"][0]
        self.strings = {s["iid"][0]: s["str"][0] for s in self.profile.get("strings", [])}
        self.mappings = {m["iid"][0]: m for m in self.profile.get("mappings", [])}
        self.frames = {f["iid"][0]: f for f in self.profile.get("frames", [])}
        for m in self.mappings.values():
            self.strings[m["build_id"][0]], self.strings[m["path_string_ids"][0]]
        for f in self.frames.values():
            self.mappings[f["mapping_id"][0]]
        self.stacks = {c["iid"][0]: tuple(self.strings[self.frames[f]["function_name_id"][0]] for f in c["frame_ids"])
                       for c in self.profile.get("callstacks", [])}

    def sums(self, dump, of):
        result = {}
        for sample in dump.get("samples", []):
            stack = self.stacks[sample["callstack_id"][0]]
            result[stack] = result.get(stack, 0) + of(lambda field: sample.get(field, [0])[0])
        return {stack: n for stack, n in result.items() if n}


@for_programs("perfetto")
def _(path, rep):
    trace = Perfetto(exported(path, "perfetto"))
    dump, = trace.profile["process_dumps"]
    check_equal(dump["pid"], [rep["process"]["pid"]], "pid")
    check_equal(trace.sums(dump, lambda v: v("self_allocated") - v("self_freed")), weights(rep, "live"), "live bytes")
    check_equal(trace.sums(dump, lambda v: v("alloc_count") - v("free_count")), weights(rep, "blocks"), "live blocks")
    check_equal(trace.sums(dump, lambda v: v("self_allocated")), weights(rep, "allocated"), "allocated")
    check_equal(trace.sums(dump, lambda v: v("alloc_count")), weights(rep, "allocs"), "allocs")
    live, = [t["uuid"][0] for t in trace.tracks if t.get("name") == ["heap live bytes"]]
    check_equal(trace.values[live][-1][1], rep["totals"]["live_bytes"], "the counter's last value")
    modules = {"/" + trace.strings[m["path_string_ids"][0]] for m in trace.mappings.values()}
    used = {f["module"] for s in rep["sites"] for f in s["stack"]} - {""}
    check_equal(modules - {"/anonymous"}, used, "mappings")


def processes(rep):
    return [rep] + [p for child in rep["children"] for p in processes(child)]


@case("children are in the same file, each below its process")
def children():
    command = ["sh", "-c", '"$0" 2; exec "$0" 3', target("odd_names")]
    _, rep = report(command)
    want = sorted((os.path.basename(r["process"]["command"][0]), r["totals"]["live_bytes"]) for r in processes(rep))
    check_equal(len(want), 3, "processes")
    out = os.path.join(scratch, "out")
    got = {}
    run([HEAPTOP, "--format", "folded", "-o", out, "--", *command])
    with open(out, "rb") as f:
        for stack, n in folded_read(f.read()).items():
            name = stack[0]
            got[name] = got.get(name, 0) + n
    check(all(re.fullmatch(r"(sh|odd_names) \(\d+\)", name) for name in got), "the roots are %s" % list(got))
    check_equal(sorted((name.split(" ")[0], n) for name, n in got.items()), [w for w in want if w[1]], "sums")
    run([HEAPTOP, "--format", "pprof", "-o", out, "--", *command])
    with open(out, "rb") as f:
        profile = Pprof(f.read())
    run([HEAPTOP, "--format", "perfetto", "-o", out, "--", *command])
    with open(out, "rb") as f:
        trace = Perfetto(f.read())
    check_equal(sorted(sum(trace.sums(d, lambda v: v("self_allocated") - v("self_freed")).values()) for d in
                       trace.profile["process_dumps"]), sorted(n for _, n in want), "processes in perfetto")
    check_equal(len([t for t in trace.tracks if "process" in t]), 3, "tracks of processes")
    labels = [{profile.string(l, "key"): profile.string(l, "str") for l in s["label"]} for s in profile.all("sample")]
    check_equal({l["process"].split(" ")[0] for l in labels}, {name for name, n in want}, "processes in pprof")


@case("a filter selects the sites of every format")
def filtered():
    path = segment("odd names")
    for name in ("folded", "csv", "speedscope"):
        text = exported(path, name, "-F", "descend").decode()
        check("descend" in text and "say" not in text, name + " has other sites")


@case("binary formats do not go to a terminal")
def to_terminal():
    path = segment("odd names")
    ours, theirs = os.openpty()
    try:
        done = subprocess.run([HEAPTOP, "-r", path, "--format", "pprof"], stdin=subprocess.DEVNULL, stdout=theirs,
                              stderr=subprocess.PIPE, env=environment(), check=False)
    finally:
        os.close(ours)
        os.close(theirs)
    check_equal((done.returncode, done.stderr.count(b"\n")), (2, 1), "status and lines")
    check(b"not for a terminal (use -o FILE)" in done.stderr, done.stderr)


@case("options that do not fit are refused")
def refused():
    path = segment("odd names")
    for options, why in ((["--format", "json", "--value", "live"], b"--value requires"),
                         (["--value", "live"], b"--value requires"),
                         (["-b", "--format", "folded"], b"use -n 1"),
                         (["--format", "xml"], b"must be text, json"),
                         (["--format", "folded", "--value", "own-peak"], b"must be live, blocks")):
        done = run([HEAPTOP, "-r", path, *options])
        check_equal((done.returncode, done.stdout), (2, b""), "heaptop " + " ".join(options))
        check(why in done.stderr, done.stderr)
    done = run([HEAPTOP, "-r", path, "-b", "-n", "1", "--format", "folded"])
    check_equal(done.stdout, exported(path, "folded"), "one frame")


run_cases()
