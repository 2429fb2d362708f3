#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of all kinds satisfy the installed JSON Schema, which has every field that they have."""

import copy
import json
import os
import re

from proving import (HEAPTOP, ROOT, case, check, check_equal, environment, report, run, run_cases, scratch, target)

with open(os.path.join(ROOT, "src", "export", "heaptop-report.schema.json"), encoding="utf-8") as schema_file:
    SCHEMA = json.load(schema_file)

TYPES = {"object": lambda v: isinstance(v, dict), "array": lambda v: isinstance(v, list),
         "string": lambda v: isinstance(v, str), "null": lambda v: v is None,
         "boolean": lambda v: isinstance(v, bool),
         "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
         "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)}
SILENT = {"$schema", "$id", "$defs", "title", "description"}


def wrong(value, schema, path="$"):
    """What of a value its schema forbids (the keywords of draft 2020-12 that ours uses). Unlike there, a field that
    is not in the schema is wrong, too: all fields are documented."""
    for keyword, rule in schema.items():
        if keyword == "$ref":
            yield from wrong(value, SCHEMA["$defs"][rule.removeprefix("#/$defs/")], path)
        elif keyword == "anyOf":
            if all(list(wrong(value, one, path)) for one in rule):
                yield path + " is none of what it may be"
        elif keyword == "type":
            if not any(TYPES[t](value) for t in ([rule] if isinstance(rule, str) else rule)):
                yield "%s is %.40r, no %s" % (path, value, rule)
        elif keyword == "properties":
            for name, inner in value.items() if isinstance(value, dict) else ():
                if name not in rule:
                    yield path + "." + name + " is not in the schema"
                else:
                    yield from wrong(inner, rule[name], path + "." + name)
        elif keyword == "required":
            yield from ("%s.%s is missing" % (path, name) for name in rule if isinstance(value, dict) and
                        name not in value)
        elif keyword == "items":
            for i, inner in enumerate(value if isinstance(value, list) else ()):
                yield from wrong(inner, rule, "%s[%d]" % (path, i))
        elif keyword in ("minimum", "minItems", "enum", "const", "pattern"):
            if not bound_holds(value, keyword, rule):
                yield "%s is %.40r: %s %s" % (path, value, keyword, rule)
        elif keyword not in SILENT:
            yield "a keyword that this test does not know: " + keyword


def bound_holds(value, keyword, rule):
    if keyword == "minimum":
        return value is None or value >= rule
    if keyword == "minItems":
        return len(value) >= rule
    if keyword == "pattern":
        return not isinstance(value, str) or re.search(rule, value)
    return value in (rule if keyword == "enum" else [rule])


def check_valid(rep, *has):
    """`has`: fields that make this report worth a test."""
    for name in has:
        check(name in rep, "the report has no " + name)
    found = list(wrong(rep, SCHEMA))
    check(not found, "%d faults: %s" % (len(found), "; ".join(found[:5])))


@case("an ordinary report, with memory and threads")
def ordinary():
    _, rep = report([target("truth_threads")])
    check_valid(rep, "memory", "totals")
    check(rep["threads"] and rep["sites"], "it has no threads")


@case("leaks, groups, and a verdict")
def leaks():
    done, rep = report([target("leaks")], ["--leak-check", "--fail-on", "definite", "--group", "function"])
    check_equal(done.returncode, 1, "status")
    check_valid(rep, "leaks", "groups", "group")
    check(rep["leaks"]["sites"] and rep["verdict"], "it has no leaks")


@case("a series of scans, and marks")
def series():
    for lives_s in ("0.5", "5", "20"):  # until there is a mark
        _, rep = report(["sleep", lives_s], ["--leak-check=every:0.1s", "--mark-every", "0.1", "-d", "0.1"])
        if "marks" in rep:
            break
    check_valid(rep, "leaks", "marks")


@case("children, and an estimate")
def children():
    _, rep = report(["sh", "-c", '"$0"; "$0"', target("truth_apis")], ["--sample", "1K"])
    check_valid(rep, "launch")
    check_equal(len(rep["children"]), 2, "children")
    check(rep["sampling"]["marks"] and rep["totals"]["error_bytes"] is not None, "it is exact")


@case("an unwinder that is checked")
def unwinder():
    _, rep = report([target("truth_apis")], env=environment(HEAPTOP_UNWINDER="check"))
    check_valid(rep, "unwinds")


@case("a running process, and a filter that selects nothing")
def running():
    out = os.path.join(scratch, "frame.json")
    done = run([HEAPTOP, "-b", "-n", "1", "-d", "0.1", "--format", "json", "-F", "nothing-is-called-so", "-o", out, "--",
                "sleep", "0.3"])
    check_equal(done.returncode, 0, "status")
    with open(out, encoding="utf-8") as f:
        rep = json.load(f)
    check_valid(rep)
    check_equal(rep["sites"], [], "sites")


@case("other moments: the peak, the past, a range")
def moments():
    for at in ("peak", "0.1", "0.05..0.2"):
        _, rep = report(["python3", "-c", "import time; x = []; time.sleep(0.3)"], ["--at", at, "-d", "0.1"])
        check_valid(rep)


@case("the test finds what is wrong")
def faults():
    _, good = report([target("truth_apis")])
    for change, what in ((lambda r: r.update(extra=1), "$.extra is not in the schema"),
                         (lambda r: r["totals"].pop("allocs"), "$.totals.allocs is missing"),
                         (lambda r: r["totals"].update(allocs=-1), "minimum"),
                         (lambda r: r["totals"].update(allocs=1.5), "no integer"),
                         (lambda r: r["totals"].update(allocs=True), "no integer"),
                         (lambda r: r["process"].update(state="dead"), "enum"),
                         (lambda r: r["sites"][0]["stack"][0].update(pc="12"), "pattern"),
                         (lambda r: r["sites"][0].update(stack=[]), "minItems"),
                         (lambda r: r.update(format=2), "const"),
                         (lambda r: r.update(children=[{}]), "$.children[0].sites is missing"),
                         (lambda r: r.update(memory=7), "none of what it may be")):
        bad = copy.deepcopy(good)
        change(bad)
        check(any(what in fault for fault in wrong(bad, SCHEMA)), "not found: " + what)


run_cases()
