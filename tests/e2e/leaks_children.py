#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leak scans of all processes of a launch, each at its end; and nobody waits for a scan that does not come."""

import os
import re
import signal
import subprocess
import xml.etree.ElementTree as ElementTree

from proving import HEAPTOP, Failure, case, check, check_equal, environment, report, run, run_cases, scratch, target, \
    wait_for
from scanning import account

LIST = target("leaks") + " list 1000"
BOTH = ["sh", "-c", "%s; %s; true" % (LIST, target("leaks_forked"))]


def lost(leaks):
    """What is definite, by the function that allocated it: blocks."""
    found = {}
    for site in leaks["sites"]:
        if site["class"] == "definite":
            name = site["stack"][0]["function"] if site["stack"] else "?"
            found[name] = found.get(name, 0) + site["blocks"]
    return found


@case("each child is scanned at its end: by exec, and by fork")
def at_their_end():
    done, rep = report(BOTH, ["--leak-check"])
    check_equal(done.returncode, 0, "status")
    want = account(done.stdout.decode())
    check_equal(want["definite_list"][0], 1, "the account")
    found = {}
    check(len(rep["children"]) >= 3, "%d children" % len(rep["children"]))
    for child in rep["children"]:
        check(child["leaks"] and child["leaks"]["failed"] is None, "no scan: %s" % child["leaks"])
        found.update(lost(child["leaks"]))
        if "definite_list" in lost(child["leaks"]):
            check_equal(child["leaks"]["indirect"]["blocks"], 999, "blocks behind the list's first")
    check_equal(found, {"definite_list": 1, "definite_since_fork": want["definite_since_fork"][0]}, "what is lost")
    check_equal(lost(rep["leaks"]), {}, "the shell's")


@case("leaks of children fail a run, are reported first, and are cases of JUnit; a filter hides no stack of them")
def judged():
    done = run([HEAPTOP, "--fail-on", "definite", "--", *BOTH])
    check_equal(done.returncode, 1, "status")
    text = done.stderr.decode()
    check("below     definite   2,355 bytes in 4 blocks, in 2 of 3 other processes\n" in text, text)
    done = run([HEAPTOP, "--fail-on", "definite", "--format", "junit", "-F", "function:nowhere", "--", *BOTH])
    failures = ElementTree.fromstring(done.stderr.decode()).findall("testsuite/testcase/failure")
    check(any("by definite_list" in f.text for f in failures), "failures: %s" % [f.text for f in failures])
    rules = os.path.join(scratch, "children.supp")
    with open(rules, "w", encoding="ascii") as f:
        f.write("leak:definite_list\nleak:definite_since_fork\n")
    done = run([HEAPTOP, "--fail-on", "definite", "--suppressions", rules, "--", *BOTH])
    check_equal(done.returncode, 0, "status with all suppressed: " + done.stderr.decode())


@case("a child that goes on when its launch ends is scanned then, and ends as it would")
def going_on():
    fifo, ended = os.path.join(scratch, "goes-on"), os.path.join(scratch, "has-ended")
    os.mkfifo(fifo)
    # The shell waits without processes of its own: the report has room for few. Nor does a process begin after the scans.
    script = "(%s wait < %s | grep --line-buffered -v '^ready' > %s.out; echo $? > %s) & exec 3> %s; " \
             "until [ \"$word\" = pid ]; do while read word rest && [ \"$word\" != pid ]; do :; done < %s.out; done 2> %s; exit 4"
    done, rep = report(["sh", "-c", script % (target("leaks_forked"), fifo, ended, ended, fifo, ended, os.devnull)],
                       ["--leak-check"])
    check_equal(done.returncode, 4, "status")
    # The shell and grep of the pipeline go on, too, and may end under their own scan.
    scans = [c["leaks"] for c in rep["children"] if c["leaks"]]
    check(all(c["leaks"] for c in rep["children"] if c["process"]["state"] == "running"), "a child has no scan, and no reason")
    found = [lost(leaks) for leaks in scans if leaks["failed"] is None]
    failed = [leaks["failed"] for leaks in scans if leaks["failed"]]
    check(all(re.search("ended|No such process", why) for why in failed), "failed: %s" % failed)
    check({"definite_since_fork": 3} in found, "lost: %s; failed: %s" % (found, failed))

    def status():
        with open(ended, encoding="ascii") as f:
            return f.read()
    wait_for(lambda: os.path.exists(ended) and status(), "the child ends")
    check_equal(status(), "0\n", "the status of the pipeline, which is grep's")


@case("of very many children those that are not kept do not wait")
def not_kept():
    # Each that waited for nobody would take 5 seconds.
    done, rep = report(["sh", "-c", "for i in $(seq 100); do %s list 1 > /dev/null; done" % target("leaks")],
                       ["--leak-check"])
    check_equal(done.returncode, 0, "status")
    check_equal(sum(c["leaks"] is not None for c in rep["children"]), 64, "scanned")
    check("more children" in rep["notice"], rep["notice"])


@case("when the viewer is killed, what runs on waits for no scan")
def viewer_killed():
    script = "echo $$; read go; for i in $(seq 40); do %s list 1 > /dev/null; done; echo done" % target("leaks")
    viewer = subprocess.Popen([HEAPTOP, "--leak-check", "-o", os.devnull, "--", "sh", "-c", script], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
    viewer.stdout.readline()
    viewer.send_signal(signal.SIGKILL)
    viewer.wait()
    try:
        out, _ = viewer.communicate(b"go\n", timeout=60)
    except subprocess.TimeoutExpired:
        raise Failure("its children wait, each for itself") from None
    check_equal(out, b"done\n", "output")


run_cases()
