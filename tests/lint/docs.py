#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents hold together: manual pages refer to each other in both directions, fit a terminal of 80
columns, and name keys that exist; links in Markdown lead somewhere; a room's README.md names files and
functions that exist; README is short, and its table is that of tests/bench/README.md."""

import glob
import os
import re
import shutil
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

README_LINES = 280
TERMS = 40
# Keys that share an item with another one there: F10/q, and F1, "also ?".
ALSO = ("q", "?")
# Whole names in code spans that are paths of the tree.
PATH = r"`((?:man|preload|shm|src|tests|tui)/[\w./-]*)`"
# Rooms with a README.md that lists every file.
TABLED = ("shm/", "preload/")
# `function` (`file`), as src/README.md says where something is.
DEFINED = r"`(\w+)` \(`((?:[\w-]+/)*[\w-]+\.[ch])`\)"


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


PAGES = {os.path.basename(path): read(path) for path in sorted(glob.glob("man/*.[1-9]"))}


def references(text):
    return {"%s.%s" % found for found in re.findall(r"\bXr (\S+) (\d)\b", text)}


def one_way_references():
    for page, text in PAGES.items():
        for other in sorted(references(text) - {page}):
            if other not in PAGES:
                if "heaptop" in other:
                    yield "%s names %s, which does not exist" % (page, other)
            elif page not in references(PAGES[other].split(".Sh SEE ALSO")[-1]):
                yield "%s names %s, whose SEE ALSO does not name it" % (page, other)


def sections_elsewhere():
    """.Sx NAME, "in", .Xr PAGE: the section is one of that page. All others are of the page itself."""
    for page, text in PAGES.items():
        elsewhere = re.compile(r"\bSx (.+?)(?: [.,;:)])*\nin\n\.Xr (\S+) (\d)")
        for section, name, number in elsewhere.findall(text):
            if not re.search(r"^\.S[hs] %s$" % section, PAGES.get("%s.%s" % (name, number), ""), re.M):
                yield "%s: no section %s in %s(%s)" % (page, section, name, number)
        for section in re.findall(r"\bSx (.+?)(?: [.,;:)])*$", elsewhere.sub("", text), re.M):
            if not re.search(r"^\.S[hs] %s$" % section, text, re.M):
                yield "%s: no section %s" % (page, section)


def wide_lines():
    if not shutil.which("mandoc"):
        return
    for page in PAGES:
        shown = subprocess.run("mandoc -Tutf8 -O width=78 man/%s | col -bx" % page, shell=True, check=True,
                               stdout=subprocess.PIPE, encoding="utf-8").stdout
        yield from ("%s: wider than 80: %s" % (page, line) for line in shown.splitlines() if len(line) > 80)


def unknown_keys():
    def keys(text):
        return re.findall(r"[^\s\\&]+", " ".join(re.findall(r"^\.It Ic (.*)$", text, re.M)))

    known = set(keys(PAGES["heaptop-screen.7"])) | set(ALSO)
    used = keys(PAGES["heaptop.1"].split(".Sh KEYS\n")[1].split("\n.Sh ")[0])
    if not used:
        yield "heaptop(1) names no keys"
    yield from ("heaptop(1): no key %s in heaptop-screen(7)" % key for key in used if key not in known)


def glossary():
    terms = PAGES["heaptop-internals.7"].split(".Sh GLOSSARY\n")[1].split("\n.Sh ")[0]
    names = [name.strip() for line in re.findall(r"^\.It (.*)$", terms, re.M) for name in line.split(",")]
    if len(names) < TERMS:
        yield "the glossary has %d terms" % len(names)
    yield from ("the glossary has %s twice" % name for name in sorted(set(names)) if names.count(name) > 1)


def anchors(path):
    heads = re.findall(r"^#+ (.*)$", read(path), re.M)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def dead_links():
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], check=True,
                           stdout=subprocess.PIPE, encoding="utf-8").stdout.split()
    for path in files or glob.glob("*.md"):
        text = read(path)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(to):
                yield "%s: no such file: %s" % (path, link)
            elif anchor and anchor not in anchors(to):
                yield "%s: no such heading: %s" % (path, link)
        yield from ("%s: no such file: %s" % (path, name) for name in re.findall(PATH, text)
                    if not os.path.exists(name))


def unknown_names():
    """Names in code spans are words of the code or files, a function is in the file given for it, and the tables of
    shm/ and preload/ have each of their files."""
    code = {path: read(path) for room in ("shm", "preload", "src", "tui")
            for path in glob.glob(room + "/**/*.[ch]", recursive=True)}
    words = set(re.findall(r"\w+", " ".join(code.values())))
    words |= {re.sub(r"\.[ch]$", "", os.path.basename(path)) for path in code}
    files = {os.path.basename(path) for path in code}
    for page in sorted({os.path.dirname(path) + "/README.md" for path in code} | {"src/README.md"}):
        text = read(page)
        yield from ("%s: no such name: %s" % (page, name) for name in re.findall(r"`([a-z]\w*)`", text)
                    if name not in words)
        yield from ("%s: no such file: %s" % (page, name) for name in re.findall(r"\b\w+\.[ch]\b", text)
                    if name not in files)
        listed = re.findall(r"`(\w+)`", text)
        yield from ("%s: not there: %s" % (page, name) for name in
                    sorted({os.path.basename(path)[:-2] for path in code if path.startswith(TABLED) and
                            os.path.dirname(path) == os.path.dirname(page)}) if name not in listed)
        for name, where in re.findall(DEFINED, text):
            if not any(re.search(r"^\w.*\b%s\(" % name, code[path], re.M) for path in code
                       if ("/" + path).endswith("/" + where)):
                yield "%s: %s is not in %s" % (page, name, where)


def readme():
    text = read("README.md")
    if len(text.splitlines()) >= README_LINES:
        yield "README.md has %d lines" % len(text.splitlines())
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    bench = read("tests/bench/README.md").splitlines()
    if len(rows) < 5:
        yield "README.md has no table of the cost"
    yield from ("not in tests/bench/README.md: " + row for row in rows if row not in bench)


def main():
    failed = False
    for test in (one_way_references, sections_elsewhere, wide_lines, unknown_keys, glossary, dead_links, unknown_names,
                 readme):
        found = list(test())
        failed |= bool(found)
        print("%s - docs: %s%s" % ("not ok" if found else "ok", test.__name__.replace("_", " "),
                                   ": " + "; ".join(found[:5]) if found else ""))
    sys.exit(1 if failed else 0)


main()
