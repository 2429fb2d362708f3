#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Phrases that a reader has to translate back into English, each with what to write instead. Looks
at comments and strings of C, at comments and strings of scripts, at the manual and the README.
Arguments: only these files."""

import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

THINGS = (r"(?:files?|blocks?|pages?|mappings?|segments?|stacks?|threads?|processe?s?|frames?|words?|"
          r"bytes|memory|names?)")
# What a sentence begins after: the beginning of a line or comment, or the end of the one before.
BEGIN = r"(?:(?<=[.:;] )|(?<=\* )|(?<=# )|(?<=\")|^)"
# Name -> what to write instead, and the phrase.
PATTERNS = {
    "is told": ("reports, says, is counted, is reported",
                r"\b(?:is|are|was|were|be|been|being|not|nothing|never) told\b(?! (?:to|apart))|"
                r"\btold (?:of|from|by|as)\b"),
    "tells of": ("reports, says", r"\btells? of\b|\btells? (?:whether|what|which|how|when|where|why)\b"),
    "looks at": ("reads, checks, inspects",
                 r"\blooked (?:at|whether|for whether)\b|\blooks? whether\b|\bis looked\b(?! up)"),
    "to be had": ("is available, must be determined", r"\b(?:to be|can be|could be|be) had\b|\bto be found out\b"),
    "whose": ("owner, owned by, unowned, orphaned", r"\b(?:nobody|somebody|anybody|everybody)'s\b"),
    "inverted": ("subject first: X's Y is ...",
                 BEGIN + r"Of (?:an?|the|each|all|these|those|it|them|such|its|shared|private|one|two|several|"
                 r"what|that|this)\b"),
    "of that which": ("name the thing", r"\bof (?:that|what|all that|those) which\b|\bwhat of (?:it|them|that)\b|"
                      r"\bof which nothing\b"),
    "so many": ("number of ...", r"\bso many (?:they|of them|there) (?:are|were)\b|\bso many as\b"),
}
COMPILED = {name: (instead, re.compile(phrase, re.M | re.I if name != "inverted" else re.M))
            for name, (instead, phrase) in PATTERNS.items()}
C_PROSE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.S)
SCRIPT_PROSE = re.compile(r"\"\"\".*?\"\"\"|(?:^|(?<=\s))#[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.S | re.M)


def pieces(path, text):
    """The prose of a file, with the line it begins in."""
    if path.startswith("man/") or path.endswith(".md"):
        yield 1, text
        return
    for m in (C_PROSE if re.search(r"\.(c|h|cc)$", path) else SCRIPT_PROSE).finditer(text):
        yield text.count("\n", 0, m.start()) + 1, m.group()


def flowing(piece):
    """Comment lines as one text, so that a phrase may be broken over two of them."""
    return re.sub(r"\n[ \t]*(?:\*(?!/)|//|#)?[ \t]*", "\n", piece)


def wrong(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    for line, piece in pieces(path, text):
        piece = flowing(piece)
        for name, (instead, phrase) in COMPILED.items():
            for m in phrase.finditer(re.sub("\n", " ", piece) if name != "inverted" else piece):
                yield "%s:%d: \"%s\": write: %s" % (path, line + piece.count("\n", 0, m.start()),
                                                  m.group().strip(), instead)


def files():
    if len(sys.argv) > 1:
        return sys.argv[1:]
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], capture_output=True,
                         text=True, check=True).stdout.split("\n")
    return [f for f in out if f and os.path.isfile(f) and
            re.search(r"\.(c|h|cc|py|sh|mk|md|1|5|7)$|^Makefile$", f) and
            f != "tests/lint/prose.py"]


def main():
    found = [w for f in files() for w in wrong(f)]
    for w in found:
        print("  " + w, file=sys.stderr)
    print("not ok - lint_prose: %d, the first: %s" % (len(found), found[0]) if found else "ok - lint_prose")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
