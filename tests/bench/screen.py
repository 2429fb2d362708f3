# SPDX-License-Identifier: GPL-3.0-or-later
"""What a frame of the screen costs: processor time to derive, sort and paint it, and bytes to the
terminal, on canned data (frame.c)."""

import os
import re
import statistics
import subprocess

from places import B
from table import Section

FRAME = os.path.join(B, "tests", "bench", "frame")


class Screen(Section):
    key = "screen"
    head = "One frame of the screen at 100x30, with all values changed: to derive, sort and paint it (canned data):"
    columns = [("call sites", 14), ("processor", 22), ("bytes to the terminal", 21)]

    def rows(self):
        return ["10,000", "100,000"]

    def measure(self, row, rounds):
        told = [subprocess.run([FRAME, row.replace(",", "")], capture_output=True, text=True, check=True).stdout
                for _ in range(rounds)]
        found = [re.search(r"([\d.]+) ms of processor and (\d+) bytes", text) for text in told]
        return {"ms": [float(m[1]) for m in found], "bytes": statistics.median(int(m[2]) for m in found)}

    def lines(self, row, result):
        ms = result["ms"]
        return [[row, "%.1f ms (%.1f-%.1f)" % (statistics.median(ms), min(ms), max(ms)), "%d" % result["bytes"]]]
