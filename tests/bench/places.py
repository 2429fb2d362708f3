# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the bench finds what make has built."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
B = os.path.join(ROOT, os.environ.get("B", "build"))
BENCH = os.path.join(B, "tests/bench")
HEAPTOP = os.path.join(B, "heaptop")
LIBRARY = os.path.join(B, "libheaptop.so")
