#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sites that have risen, of which one grows for ever: what the screen says, and where its keys go."""

import os
import re
import subprocess
import time

from proving import (HEAPTOP, case, check, check_equal, environment, run_cases, scratch, target)



@case("a leak is walked to first, a queue that turns over last; what levels off, falls or stays is none")
def growers():
    script, screen = (os.path.join(scratch, name) for name in ("script", "screen"))
    with open(script, "w", encoding="utf-8") as f:
        # The Leaks say when it is known what lasts: of the worst, in the pane below.
        f.write(":size 160x40\n:until BLOCKS\n:wait 14\nF9\n:until old stay\n:until 2 sites growing\n"
                ":save-display %s.4\nS-Tab S-Tab S-Tab S-Tab S-Tab\n"
                "}\n:save-display %s.1\n}\n:save-display %s.2\n}\n:save-display %s.3\n"
                "F9 L\n:until definite\n/\n:type queue\nEnter\n:until could reach all\n:save-display %s.5\n"
                % ((screen,) * 5))
    program = subprocess.Popen([HEAPTOP, "-d", "1", "--script", script, "--", target("growers")],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    check_equal(program.stdout.readline(), b"ready\n", "the first word")
    # As long as the viewer looks; it leaves, and the program goes on until its input ends.
    # What is full at last is so soon, in a few steps that the viewer sees.
    steps = 4 * [b"20\n"]
    while program.poll() is None:
        program.stdin.write(steps.pop() if steps else b"1\n")
        program.stdin.flush()
        check_equal(program.stdout.readline(), b"done\n", "a round")
        time.sleep(0.5 if steps else 0.05)
    walked = []
    for step in "123":
        with open(screen + "." + step, encoding="utf-8") as f:
            text = f.read()
        selected = re.search(r"^>.* (\w+)(?: ‹\S+›)? +growers.c:\d+ *$", text, re.M)
        check(selected, text)
        walked.append((selected.group(1), text))
    check_equal([name for name, _ in walked], ["leak", "queue", "queue"], "the walk")
    check("blocks over " in walked[0][1] and "old stay" in walked[0][1], walked[0][1])
    check("old mostly go" in walked[1][1], walked[1][1])
    check("this is the last growing site" in walked[2][1], walked[2][1])
    check("2 sites growing" in walked[0][1], walked[0][1])
    # In the Leaks they grow before any scan; then one of them is lost, and what holds the other is known.
    leaks = [set(), set()]
    for i, rows in enumerate(leaks):
        with open("%s.%d" % (screen, 4 + i), encoding="utf-8") as f:
            text = f.read()
        rows.update(re.findall(r"^[ >](\w+) .* (?:sure|likely|maybe) +(\w+)(?: ‹\S+›)? +growers.c:\d+ *$", text, re.M))
        check(i or "not scanned yet (L)" in text, text)
    check_equal(leaks[0], {("growing", "leak"), ("growing", "queue")}, "before a scan")
    check_equal(leaks[1], {("definite", "leak"), ("growing", "queue")}, "after a scan")
    check("queued (growers.c:" in text and "could reach all of them" in text, "who holds them: " + text)


run_cases()
