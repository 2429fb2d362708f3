#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wrong frees of real programs (tests/faults/real_programs.py and servers.py), beside memcheck's: nothing is reported
that memcheck does not report. A row for each: events, wrong frees here, and memcheck's of the same kinds. Memcheck
cannot run some, or takes too long; those may have none. Arguments: words of the programs' names."""

import glob
import json
import os
import sys
import xml.etree.ElementTree as ET

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(HERE, "e2e"), os.path.join(HERE, "faults")]

from proving import HEAPTOP, Failure, Skip, case, check, need, run_cases, scratch
import driving
from driving import run_to_end
from real_programs import command, variables
from servers import PROGRAMS

ENOUGH = 60  # programs at least
WANTED, sys.argv[1:] = sys.argv[1:], []
REPORT = os.path.join(scratch, "report.json")
KINDS = {"InvalidFree": "badfree", "MismatchedFree": "mismatched"}
TROUBLE = (Failure, OSError, ValueError, ET.ParseError, driving.subprocess.SubprocessError)
driving.TIMEOUT_S = 100


def images(report):
    yield report
    for child in report["children"]:
        yield from images(child)


def module_of(row):
    return os.path.basename(row["stack"][0]["module"]) if row["stack"] else ""


def heaptops(program):
    """(status, events, {(badfree or mismatched, module that frees)}) of all its processes."""
    status = run_to_end(program, [HEAPTOP, "--report", "--format", "json", "-o", REPORT, "--", *command(program)],
                        env=variables(program))[0]
    events, found = 0, set()
    with open(REPORT, encoding="utf-8") as f:
        for image in images(json.load(f)):
            events += image["totals"]["allocs"] + image["totals"]["frees"]
            check(image["totals"]["wrong_frees_unlisted"] == 0, "unlisted")
            for row in image["wrong_frees"]:
                kind = row["kind"] if row["kind"] in ("mismatched", "sized") else "badfree"
                found.add(("mismatched" if kind == "sized" else kind, module_of(row)))
    return status, events, found


def memchecks(program, status):
    """The same set; None: it cannot run this one to the same end."""
    out = os.path.join(scratch, "memcheck.%p.xml")
    for path in glob.glob(out.replace("%p", "*")):
        os.unlink(path)
    try:
        ended = run_to_end(program, [need("valgrind"), "--trace-children=yes", "--leak-check=no", "--undef-value-errors=no",
                                     "--xml=yes", "--xml-file=" + out, *command(program)], env=variables(program))[0]
        roots = [ET.parse(path).getroot() for path in glob.glob(out.replace("%p", "*"))]
    except TROUBLE:
        return None
    found = set()
    for error in (e for root in roots for e in root.iter("error") if e.findtext("kind") in KINDS):
        frames = [f for f in error.find("stack").iter("frame") if "vgpreload" not in (f.findtext("obj") or "")]
        found.add((KINDS[error.findtext("kind")], os.path.basename(frames[0].findtext("obj") or "") if frames else ""))
    return found if roots and ended == status else None


@case("real programs: no wrong free that memcheck does not report")
def programs():
    wrong, tried = [], 0
    for name, program in PROGRAMS.items():
        if program.terminal or program.user or WANTED and not any(word in name for word in WANTED):
            continue
        try:
            status, events, ours = heaptops(program)
        except Skip as why:
            print("# %-28s %s" % (name, why))
            continue
        except TROUBLE as why:
            wrong.append("%s: %s" % (name, why))
            print("# %-28s not recorded: %s" % (name, why), flush=True)
            continue
        theirs = memchecks(program, status)
        tried += theirs is not None
        print("# %-28s %9d events; %s; memcheck %s" % (name, events, sorted(ours) or "none", "cannot run it" if theirs is None
                                                       else sorted(theirs) or "none"), flush=True)
        if not ours <= (theirs or set()):
            wrong.append("%s: %s" % (name, sorted(ours)))
    check(not wrong, wrong)
    check(WANTED or tried >= ENOUGH, "only %d programs beside memcheck" % tried)
    print("# %d programs beside memcheck" % tried)


run_cases()
