#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions for tests/bench/stacks.c, as many as the argument says, each of which calls four others: code
of many pages, with call frame information for each function."""

import sys

SITES = 4


def callee(number, count):
    """Any function but in a fixed order (Knuth's multiplicative hash)."""
    return (number * 2654435761 % 2**32) * count >> 32


def main():
    count = int(sys.argv[1])
    for i in range(1, count):
        print("static call_function call_%d;" % i)
    for i in range(count):
        callees = (callee(i * SITES + site + 1, count) for site in range(SITES))
        print("FUNCTION(%d, %s)" % (i, ", ".join(map(str, callees))))


main()
