#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bench itself still works: a few rows of it give numbers, and the tables go into a file. The
numbers themselves are not checked."""

import os
import re
import signal
import subprocess
import sys
import tempfile

from places import LIBRARY
from table import BEGIN, END

ROWS = "blocks: 1,000 live|live table|stacks: 1,000 cyclic|programs: C[+][+]|leaks: 10 MB|slowdown: jq$"
OLD = "before\n%s\nold\n%s\nbetween\n%s\nkept\n%s\nafter\n"
ONE, OTHER = BEGIN % "programs", BEGIN % "viewer"


def bench(*arguments, program="bench.py"):
    return subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), program), *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=200, check=False)


def numbers_come(folder):
    done = bench("--quick", "--rounds", "1", "--only", ROWS, "--output", os.path.join(folder, "bench.json"))
    if done.returncode or done.stderr:
        return "status %d: %s" % (done.returncode, done.stderr)
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ") and any(map(str.isdigit, line))]
    if len(lines) != 6:
        return "6 rows wanted, these came: %s" % done.stdout
    return "; ".join("wider than 100 columns: " + line for line in lines if len(line) > 100)


AGAINST = "same stack, depth 5$|blocks: 1,000 live|stacks: 1,000 cyclic|storms: fork$|programs: C[+][+]"


def another_library_is_measured_beside_this_one(folder):
    done = bench("--rounds", "1", "--only", AGAINST, LIBRARY, program="against.py")
    lines = [line.split("|") for line in done.stdout.splitlines() if re.match(r"\| (pairs|blocks|stacks|storms|programs):", line)]
    if done.returncode or done.stderr or len(lines) != 5:
        return "status %d, %s, 5 rows wanted: %s" % (done.returncode, done.stderr, done.stdout)
    bad = [cells[1] for cells in lines if not all(re.search("[0-9]", cell) for cell in cells[3:7])]
    if bad:
        return "rows without numbers: %s" % bad
    done = bench(os.path.join(folder, "none.so"), program="against.py")
    return "" if done.returncode == 2 and "cannot be read" in done.stderr else "no error for a missing library: " + done.stderr


def tables_go_into(folder, place):
    """What becomes of a file with that place, and one for a table that was not measured."""
    path, results = os.path.join(folder, "text"), os.path.join(folder, "bench.json.part")
    with open(path, "w", encoding="utf-8") as f:
        f.write(OLD % (place, END, OTHER, END))
    done = bench("--readme", path, "--output", results)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if done.returncode or "old" in text or "| C++ " not in text:
        return text, "status %d, %s, %s" % (done.returncode, done.stderr, text)
    if not (text.startswith("before\n" + place) and text.endswith("\nbetween\n%s\nkept\n%s\nafter\n" % (OTHER, END))):
        return text, "what is around the tables changed: " + text
    return text, ""


def tables_go_into_a_file(folder):
    text, why = tables_go_into(folder, BEGIN % "blocks, programs, leaks")
    heads = [line for line in text.splitlines() if line.startswith("|---")]
    return why or ("" if len(heads) == 3 else "3 tables wanted: " + text)


def one_table_goes_into_a_file(folder):
    text, why = tables_go_into(folder, ONE)
    heads = [line for line in text.splitlines() if line.startswith("|---")]
    return why or ("" if len(heads) == 1 else "1 table wanted: " + text)


# Python runs a handler between two instructions: a signal that comes just before pause would not end it.
WAITING = """import measure, time
print(measure.segments, measure.scratch, flush=True)
while True:
    time.sleep(0.05)"""


def nothing_stays_when_it_is_ended(_):
    with subprocess.Popen([sys.executable, "-c", WAITING], cwd=os.path.dirname(os.path.abspath(__file__)),
                          stdout=subprocess.PIPE, text=True) as process:
        made = process.stdout.readline().split()
        there = [path for path in made if os.path.isdir(path)]
        process.terminate()
        status = process.wait(60)
    if len(there) != 2 or status != 128 + signal.SIGTERM:
        return "status %d, folders %s" % (status, there)
    return "; ".join("it left " + path for path in made if os.path.exists(path))


def main():
    failed = False
    with tempfile.TemporaryDirectory(prefix="heaptop-bench-") as folder:
        for test in (numbers_come, tables_go_into_a_file, one_table_goes_into_a_file,
                     another_library_is_measured_beside_this_one, nothing_stays_when_it_is_ended):
            why = test(folder)
            failed |= bool(why)
            print("%s - bench: %s%s" % ("not ok" if why else "ok", test.__name__.replace("_", " "),
                                        ": " + " ".join(why.split()) if why else ""), flush=True)
    return 1 if failed else 0


sys.exit(main())
