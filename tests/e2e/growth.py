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
        f.write(":size 160x40\n:until BLOCKS\n:wait 14\n}\n:save-display %s.1\n}\n:save-display %s.2\n"
                "}\n:save-display %s.3\n" % ((screen,) * 3))
    program = subprocess.Popen([HEAPTOP, "-d", "1", "--script", script, "--", target("growers")],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    check_equal(program.stdout.readline(), b"ready\n", "the first word")
    # As long as the viewer looks; it leaves, and the program goes on until its input ends.
    rounds = 0
    while program.poll() is None:
        program.stdin.write(b"1\n")
        program.stdin.flush()
        check_equal(program.stdout.readline(), b"done\n", "a round")
        rounds += 1
        time.sleep(0.02 if rounds < 80 else 0.05)  # what is full at last is so soon
    walked = []
    for step in "123":
        with open(screen + "." + step, encoding="utf-8") as f:
            text = f.read()
        selected = re.search(r"^>.* (\w+) +growers.c:\d+ *$", text, re.M)
        check(selected, text)
        walked.append((selected.group(1), text))
    check_equal([name for name, _ in walked], ["leak", "queue", "queue"], "the walk")
    check("blocks over " in walked[0][1] and "old stay" in walked[0][1], walked[0][1])
    check("old mostly go" in walked[1][1], walked[1][1])
    check("no further site grows" in walked[2][1], walked[2][1])
    check("2 sites growing" in walked[0][1], walked[0][1])


run_cases()
