#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of the JSON report: those that are written are those in heaptop-json(5) and in the JSON Schema."""

import json
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

# Names in calls of the writer, and in tables of fields.
WRITTEN = r'\bwriter_\w+\(\s*w, "(\w+)"|(?:json_(?:leak_sum|bound)|sum_json)\(\s*w, "(\w+)"|\{ "([a-z_]+)", '
# Names that are no text of the exporters: parts of memory, and classes of leaks.
PART = r'\[MAP_PART_\w+\] = \{ "[^"]+", "(\w+)"'


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def names(pattern, *paths):
    return {name for path in paths for found in re.findall(pattern, read(path))
            for name in ([found] if isinstance(found, str) else found) if name}


def classes():
    body = read("src/model/snapshot.c").split("*snapshot_leak_word(")[1].split("\n}")[0]
    return set(re.findall(r'"(\w+)"', body))


def of_report():
    """The fields of a report, which the schema describes."""
    own = names(WRITTEN, "src/export/allocators.c", "src/export/attached.c", "src/export/holders.c", "src/export/json.c",
                "src/export/json_leaks.c", "src/export/json_stack.c", "src/export/launch.c", "src/export/mapped.c", "src/export/marks.c",
                "src/export/memory.c", "src/export/sampled.c", "src/export/wrong_frees.c")
    own |= names(r'\b(?:json_stack|stack_json|id_json)\(\s*w, "(\w+)"', "src/export/json.c", "src/export/json_leaks.c", "src/export/wrong_frees.c")
    own |= names(r'\b(?:before|pauses)_put\(w, "(\w+)"', "src/export/attached.c")
    return own | names(PART, "src/model/map.c") | classes()


def written():
    own = of_report() | names(WRITTEN, "src/export/diff_json.c")
    own |= {name.replace("-", "_") for name in names(r'\[VALUE_\w+\] = \{ "([a-z-]+)"', "src/model/value.c")}
    own |= names(r'\b(?:side_put|unmatched_put|json_stack)\(\s*w, "(\w+)"', "src/export/diff_json.c")
    return own


def told():
    lines = re.findall(r"\bLi (.*)", read("man/heaptop-json.5"))
    return {word for line in lines for word in line.split() if re.fullmatch(r"[a-z_]+", word)}


def in_schema():
    with open("src/export/heaptop-report.schema.json", encoding="utf-8") as f:
        todo, names = [json.load(f)], set()
    while todo:
        value = todo.pop()
        names |= set(value.get("properties", {})) if isinstance(value, dict) else set()
        todo += value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return names - rules()


def rules():
    """Names of heuristics, which no field of their own has."""
    with open("src/leak/analysis/heuristics.c", encoding="utf-8") as f:
        return set(re.findall(r'"(\w+)"', f.read().split("names[] = {")[1].split("}")[0]))


def main():
    here, there, schema = written(), told(), in_schema()
    found = ["not in the man page: " + name for name in sorted(here - there)]
    found += ["in the man page alone: " + name for name in sorted(there - here)]
    found += ["not in the schema: " + name for name in sorted(of_report() - schema)]
    found += ["in the schema alone: " + name for name in sorted(schema - of_report())]
    if len(here) < 100:
        found.append("only %d names were found in the sources" % len(here))
    print("%s - fields of the JSON report are in the man page and in the schema%s" % (
        "not ok" if found else "ok", ": " + "; ".join(found) if found else ""))
    sys.exit(1 if found else 0)


main()
