#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scan at a program's last instant: on the screen by itself, held there, and of programs that are busy to the
end (tests/targets/exit_busy.c), which must end as they do alone. Classes: exit_matrix.py, exit_programs.py."""

import os
import signal
import subprocess

from proving import (HEAPTOP, add_case, case, check, check_equal, environment, report, run, run_cases, scratch,
                     segment_files, target, wait_for)

SIZE = ":size 100x30\n"
ENDS = "exit scan: "


def play(keys, *command, options=()):
    path = os.path.join(scratch, "keys")
    with open(path, "w", encoding="utf-8") as f:
        f.write(SIZE + keys)
    done = run([HEAPTOP, "-d", "0.1", "--script", path, *options, "--", *command])
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def busy(way):
    return [target("exit_busy"), way]


def state_of(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return None


# ---- the screen ----

@case("a program that ends on the screen is scanned at its last instant, and L shows the result")
def on_screen():
    status, screen, errors = play(":until %s\n:save-display -\n:until exited 3\nL\n:until this is its exit scan\n:save-display -\nq\n" % ENDS,
                                  target("exit_matrix"), "list", "exit")
    check_equal((status, errors), (3, ""), "status and errors")
    check("definite 48 bytes in 1 block; F9 shows them" in screen, screen)
    rows = [line for line in screen.splitlines() if line.lstrip(">").strip().startswith("definite ")]
    check(rows and " high " in rows[-1], screen)
    check("the program has ended; this is its exit scan" in screen, screen)


@case("where nothing is lost, that is said, too")
def nothing_lost():
    _, screen, _ = play(":until %s\n:save-display -\nq\n" % ENDS, target("exit_matrix"), "global", "exit")
    check("exit scan: no leaks" in screen, screen)


@case("--no-exit-scan: it ends at once, and L says that there was no scan")
def without():
    _, screen, _ = play(":until exited 3\nL\n:wait 2\n:save-display -\nq\n", target("exit_matrix"), "list", "exit",
                        options=["--no-exit-scan"])
    check("no scan: the program has ended" in screen and ENDS not in screen, screen)


@case("--hold keeps the program at its last instant until E: its memory is there")
def hold():
    path = os.path.join(scratch, "held")
    status, screen, errors = play(":until %s\nL H\n:until their contents now\nL\n:save-display %s\nE\n"
                                  ":until exited 3\n:save-display -\nq\n" % (ENDS, path),
                                  target("exit_matrix"), "list", "exit", options=["--hold"])
    check_equal((status, errors), (3, ""), "status and errors")
    with open(path, encoding="utf-8") as f:
        held = f.read()
    check("held at exit" in held and "LIVE" in held and "E let it end" in held, held)
    check("held at exit: this scan is final (E lets the program end)" in held, held)
    check("exited 3" in screen, screen)


def play_endless(keys):
    """The program waits at its end for input that does not come; then it is ended by q and t."""
    path = os.path.join(scratch, "keys")
    with open(path, "w", encoding="utf-8") as f:
        f.write(SIZE + "F9\n:until its destructors run\n:save-display -\n" + keys + ":save-display -\nq\nt\n")
    with subprocess.Popen([HEAPTOP, "-d", "0.1", "--script", path, "--", *busy("input")], env=environment(),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as heaptop:
        screen = heaptop.stdout.read().decode()
        check_equal(heaptop.wait(60), 128 + 15, "status: ended by q and t\n" + screen)
    return screen


@case("Esc lets a program end without a scan, however long that takes")
def escape():
    screen = play_endless("Esc\n:until L scans for leaks\n")
    check("Esc cancels" in screen, screen)


if os.environ.get("SOAK"):
    @case("a program is kept from its end for a minute at most")
    def bounded():
        play_endless(":until took more than 60 s\n")


@case("q lets a held program go, and its status is the program's")
def hold_quit():
    status, _, errors = play(":until %s\nq\nq\n" % ENDS, target("exit_matrix"), "list", "exit", options=["--hold"])
    check_equal((status, errors), (3, ""), "status and errors")


@case("--hold is refused where there is no such scan")
def hold_refused():
    for options in (["--report"], ["--no-exit-scan"], ["--sample", "512K"], ["--readonly"]):
        done = run([HEAPTOP, "--hold", *options, "--", "true"])
        check_equal(done.returncode, 2, "%s: status" % options)
        check(done.stderr.count(b"\n") == 1 and b"--hold" in done.stderr, done.stderr.decode())


# ---- programs that are busy to the end ----

def busy_case(way, image=None):
    def try_it():
        alone = run(busy(way))
        done, rep = report(busy(way), ["--leak-check"])
        check_equal((done.returncode, done.stdout), (alone.returncode, alone.stdout), "status and output")
        leaks = rep["leaks"]
        check_equal((leaks["failed"], leaks["at_exit"]), (None, True), "scan")
        check_equal(leaks["definite"], {"blocks": 1, "bytes": 100}, "definite")
        check_equal(leaks["unclassed"], {"blocks": 0, "bytes": 0}, "unclassed")
        check_equal((leaks["threads_running"], segment_files()), (0, []), "threads that ran on, and segments")
    return try_it


for name in ("signal", "thread", "stop", "exec", "plain", "vfork"):
    add_case("busy at its end: %s" % name, busy_case(name))


@case("busy at its end: it waits for its child, which is scanned meanwhile")
def family():
    done, rep = report(busy("child"), ["--leak-check"])
    check_equal((done.returncode, done.stdout), (3, b"the child has ended\nended\n"), "status and output")
    check_equal(rep["leaks"]["definite"], {"blocks": 1, "bytes": 100}, "its own")
    check_equal([c["leaks"]["definite"]["bytes"] for c in rep["children"]], [60], "the child's")
    check_equal([c["leaks"]["at_exit"] for c in rep["children"]], [True], "the child's scan")


def started(*options):
    heaptop = subprocess.Popen([HEAPTOP, "--leak-check", "-o", os.path.join(scratch, "out"), *options, "--",
                                *busy("input")], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    check_equal(heaptop.stdout.readline(), b"waits\n", "its first line")
    with open("/proc/%d/task/%d/children" % (heaptop.pid, heaptop.pid), encoding="utf-8") as f:
        return heaptop, int(f.read().split()[0])


@case("a viewer that is killed while the program ends leaves it running, and right")
def killed():
    heaptop, pid = started()
    os.kill(heaptop.pid, signal.SIGKILL)
    heaptop.wait()
    wait_for(lambda: state_of(pid) == "S", "the program to run on untraced")
    heaptop.stdin.close()
    check_equal(heaptop.stdout.read(), b"ended\n", "the rest of its output")
    wait_for(lambda: state_of(pid) in (None, "Z"), "its end")
    # The library has done its part before the handlers of at_quick_exit: what is left is for --clean.
    check_equal(run([HEAPTOP, "--clean"]).returncode, 0, "--clean")
    check_equal(segment_files(), [], "segments")


@case("a signal that is passed on while the program ends reaches it, and ends the scan")
def signalled():
    heaptop, pid = started()
    heaptop.send_signal(signal.SIGTERM)
    check_equal(heaptop.wait(60), 128 + 15, "status: the program's end by the signal")
    check(state_of(pid) is None, "it is there")
    with open(os.path.join(scratch, "out"), encoding="utf-8") as f:
        check("no leak scan" in f.read(), "a scan of a program that was killed")
    check_equal(segment_files(), [], "segments")


@case("a report says which instant it is of")
def said():
    out = os.path.join(scratch, "out")
    run([HEAPTOP, "--leak-check", "-o", out, "--", *busy("plain")])
    with open(out, encoding="utf-8") as f:
        text = f.read()
    check("scan      at the program's last instant, " in text and "unclassed" not in text, text)


run_cases()
