# SPDX-License-Identifier: GPL-3.0-or-later
"""The fault matrix: one row for each way in which a library inside other programs can break them or
be broken by them. A row is a function of its group's file (group_a.py ...) that raises Failure or Skip;
several rows may be one function. Not a test itself."""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

import deadline  # both are found by the path above
from proving import B, Failure, Skip, one_line, processor_s

_rows = []
_amounts = []  # of the row that runs: what its soak is
SOAK = "SOAK" in os.environ
SOAK_S = float(os.environ.get("SOAK_SECONDS", "inf"))  # for the rounds of a row, or of a case


def row(name, hazard):
    """`name` as in A1; `hazard`: what could happen, as the matrix says it, in some 70 characters."""
    def register(function):
        _rows.append((name, hazard, function))
        return function
    return register


def times(check, soak):
    """How often, or how many: few in make check, many in make soak, whose table tells it."""
    _amounts.append(soak)
    return soak if SOAK else check


def rounds(often):
    """0 to often - 1, or as many as SOAK_SECONDS allow, at least one; the table says how many those were."""
    begin = time.monotonic()
    for done in range(often):
        if done and time.monotonic() - begin > SOAK_S:
            _amounts[:] = [n for n in _amounts if n != often] + [done]
            return
        yield done


def limit(check, soak):
    """Seconds, as deadline.py has them, for what takes longer in make soak."""
    return soak if SOAK else check


def _built(folder, name):
    path = os.path.join(B, "tests", "faults", folder, name)
    if not os.path.exists(path):
        raise Failure(path + " is not built")
    return path


def fault_target(name):
    """The program that tests/faults/targets/NAME.c or .cc became; of plugin/NAME.c: plugin/NAME.so."""
    return _built("targets", name)


def fault_tool(name):
    """The program that tests/faults/tools/NAME.c became."""
    return _built("tools", name)


def _outcome(function):
    try:
        function()
        return "ok", ""
    except Skip as why:
        return "skip", one_line(why)
    except Failure as why:
        return "not ok", one_line(why)
    except (OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError) as why:
        return "not ok", "%s: %s" % (type(why).__name__, one_line(why))


def run_rows():
    """Runs every row of the file, or those named as arguments, prints a line for each, ends the program."""
    failed = 0
    for name, hazard, function in _rows:
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        _amounts.clear()
        begin, used = time.monotonic(), processor_s()
        result, why = _outcome(function)
        failed += result == "not ok"
        print("%s - %s %s%s" % (result, name, hazard, ": " + why if why else ""))
        print("# %s %.1f s %.1f s %s" % (name, time.monotonic() - begin, processor_s() - used,
                                         " ".join(map(str, dict.fromkeys(_amounts)))), flush=True)
    sys.exit(1 if failed else 0)
