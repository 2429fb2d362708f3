# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one of the real programs (real_programs.py, servers.py) to its end: with its input, its client, or somebody
at its terminal. Not a test itself."""

import os
import pwd
import subprocess

import deadline
from real_programs import WORK, folder_fresh
from proving import HEAPTOP, Skip, run, scratch, segments

TIMEOUT_S = 120


def talked(program, argv, **how):
    """Starts it, has it driven to its end. Its status, output, and what the driver got."""
    master, slave = os.openpty() if program.terminal else (None, None)
    if program.terminal:
        argv = ["setsid", "--ctty", *argv]
        how.update(dict.fromkeys(("stdin", "stdout", "stderr"), slave))
    with subprocess.Popen(argv, **how) as process:
        try:
            said = program.drive(process, master)
            out, err = deadline.finish(process, TIMEOUT_S)
        except BaseException:
            deadline.kill_family(process.pid)
            raise
        finally:
            for fd in (master, slave) if program.terminal else ():
                os.close(fd)
    return process.returncode, out or b"", err or b"", said


def user_change(name):
    """What root puts before a command that refuses to run for it; the folders become that user's."""
    if not name or os.geteuid():
        return []
    try:
        user = pwd.getpwnam(name)
    except KeyError as why:
        raise Skip("there is no user " + name) from why
    for folder, _, names in os.walk(WORK):
        for path in (folder, *(os.path.join(folder, n) for n in names)):
            os.chown(path, user.pw_uid, user.pw_gid)
    change = ["setpriv", "--reuid=%d" % user.pw_uid, "--regid=%d" % user.pw_gid, "--clear-groups", "--"]
    if run([*change, "test", "-r", HEAPTOP]).returncode:
        raise Skip("the user %s cannot read %s" % (name, HEAPTOP))
    return change


def run_to_end(program, argv, **how):
    """Runs it with its input, or with somebody who drives it."""
    folder_fresh()
    os.chmod(scratch, 0o711)
    os.chmod(segments, 0o1777)
    argv = user_change(program.user) + argv
    how.update(cwd=WORK, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if program.drive:
        return talked(program, argv, stdin=subprocess.DEVNULL, **how)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, **how) as process:
        out, err = deadline.finish(process, TIMEOUT_S, (program.stdin or "").encode())
    return process.returncode, out, err, b""
