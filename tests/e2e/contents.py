#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in blocks, on the screen's key U alone: copies of other blocks and zeros by call site, in a program whose
contents are known (tests/targets/copies.c)."""

import json
import os
import re

from proving import HEAPTOP, case, check, check_equal, run, run_cases, scratch, target
from scanning import Waiting


def screen(program, keys):
    path = os.path.join(scratch, "keys")
    with open(path, "w", encoding="utf-8") as f:
        f.write(":size 120x30\n" + keys + ":save-display -\n")
    return run([HEAPTOP, "-d", "0.1", "--script", path, "-a", str(program.pid)]).stdout.decode()


@case("copies and zeros are counted by call site, from a copy of the program, when a key asks for them")
def found():
    with Waiting(target("copies")) as program:
        shown = screen(program, "U\n:until same  copies.c\n:until zeros  copies.c\n:until half  copies.c\n")
    rows = {m.group(2): m.group(1).split() for m in
            re.finditer(r"^[ >]+(.*?\S) +(\w+)(?:\(\))? +copies\.c:\d+", shown, re.M)}
    check_equal(rows.get("zeros"), ["585.9k", "585.9k"], "zeros: " + shown)  # ZEROS, BYTES
    check_equal(rows.get("same"), ["976.6k", "99.9", "1,000", "977.5k"], "same: " + shown)  # but for the first
    check_equal(rows.get("half"), ["390.6k", "781.3k"], "half: " + shown)  # TAILS, BYTES
    check("different" not in rows, shown)
    check(re.search(r"of 2\.8M scanned: [\d.]+% copies", shown), shown)


@case("nothing of contents is in reports or in a scan that nobody asked for it")
def private():
    with Waiting(target("copies")) as program:
        out = os.path.join(scratch, "copies.json")
        run([HEAPTOP, "--leak-check", "--format", "json", "-o", out, "-a", str(program.pid)])
        with open(out, encoding="utf-8") as f:
            leaks = json.load(f)["leaks"]
        shown = screen(program, "L\n:until scan 1\n:wait 1\n")
    check(not [k for k in leaks if "cop" in k and k not in ("no_copy", "copy_left")], list(leaks))
    check("scanned:" not in shown, shown)


run_cases()
