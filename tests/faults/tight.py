# SPDX-License-Identifier: GPL-3.0-or-later
"""Tight places: file systems and limits of a command's own, a memory cgroup, system calls that fail;
and what the program of tests/faults/targets/worker.c says against what heaptop says. Not a test itself."""

import contextlib
import json
import os
import re
import resource
import shutil
import subprocess
import tempfile

from proving import (HEAPTOP, LIBRARY, RESULT, Failure, Skip, check, check_equal, environment, need, one_line,
                     run, scratch, segment_files, watch_options)
from rows import fault_target, fault_tool

REFUSED = 125  # heaptop could not record, and did not start the program
OUT = os.path.join(scratch, "tight.json")


def worker(*arguments):
    return [fault_target("worker"), *map(str, arguments)]


def said(done):
    """The worker's account: its last line."""
    try:
        return json.loads(done.stdout.decode().splitlines()[-1])
    except (ValueError, IndexError):
        raise Failure("the program said %r, and ended with %d: %s" % (
            done.stdout[-200:], done.returncode, one_line(done.stderr.decode(errors="replace")))) from None


# ---- places ------------------------------------------------------------------------------------

def can_mount():
    if run([need("unshare"), "-m", "true"]).returncode != 0:
        raise Skip("unshare -m is not permitted here (it needs CAP_SYS_ADMIN)")


def mounted(script, command, variables="unset HEAPTOP_DIR XDG_RUNTIME_DIR"):
    """COMMAND with mounts of its own, made by `script`, and variables for what they are about."""
    can_mount()
    return ["unshare", "-m", "sh", "-ec", script + "\n" + variables + '\nexec "$@"', "sh", *command]


SHM = {
    "full": "mount -t tmpfs -o size=4k none /dev/shm; echo >/dev/shm/filler",
    "of 64 KB": "mount -t tmpfs -o size=64k none /dev/shm",
    "of 1 MB": "mount -t tmpfs -o size=1m none /dev/shm",
    "of 64 MB": "mount -t tmpfs -o size=64m none /dev/shm",
    "without inodes": "mount -t tmpfs -o nr_inodes=1 none /dev/shm",
    "read-only": "mount -t tmpfs -o ro none /dev/shm",
    "absent": "mount -t tmpfs none /dev; mknod -m 666 /dev/null c 1 3; mknod -m 666 /dev/urandom c 1 9",
}


@contextlib.contextmanager
def memory_cgroup(megabytes):
    """A cgroup of so much memory and no swap: a file to write a pid into."""
    v1, v2 = "/sys/fs/cgroup/memory", "/sys/fs/cgroup"
    is_v2 = os.path.exists(os.path.join(v2, "cgroup.controllers"))
    path = tempfile.mktemp(prefix="heaptop-test-", dir=v2 if is_v2 else v1)
    try:
        os.mkdir(path)
        with open(os.path.join(path, "memory.max" if is_v2 else "memory.limit_in_bytes"), "w",
                  encoding="ascii") as f:
            f.write(str(megabytes << 20))
    except OSError as why:
        with contextlib.suppress(OSError):
            os.rmdir(path)
        raise Skip("no memory cgroup can be made: %s" % why) from None
    try:
        yield os.path.join(path, "cgroup.procs")
    finally:
        subprocess.run(["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do rmdir %s 2>/dev/null && exit; sleep 0.1; done"
                        % path], check=False)


def in_cgroup(procs, command):
    return ["sh", "-c", 'echo $$ >%s && exec "$@"' % procs, "sh", *command]


def limited(**limits):
    """A preexec function that sets limits: limited(fsize=4096)."""
    def set_them():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, "RLIMIT_" + name.upper()), (value, value))
    return set_them


@contextlib.contextmanager
def as_nobody():
    """A prefix that runs a command without rights, and a folder of its own for segments."""
    if os.geteuid() != 0:
        raise Skip("needs root, to become a user with limits")
    folder = tempfile.mkdtemp(prefix="heaptop-e2e-", dir="/dev/shm")
    os.chown(folder, 65534, 65534)
    try:
        yield [need("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups"], folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# ---- both sides --------------------------------------------------------------------------------

def preloaded_same(command, wrap=lambda c: c, **how):
    """The program says the same, and ends the same, with the library alone. env: further variables."""
    env = how.pop("env", {})
    plain = run(wrap(command), env=environment(**env), **how)
    watched = run(wrap(["env", "LD_PRELOAD=" + LIBRARY, *command]), env=environment(**env), **how)
    check_equal(watched.returncode, plain.returncode, "exit status with the library (%s)" % one_line(
        watched.stderr.decode(errors="replace")))
    check_equal(watched.stdout, plain.stdout, "output with the library")
    check_equal(watched.stderr, plain.stderr, "errors with the library")
    return plain


def launched_same(command, plain, wrap=lambda c: c, options=(), **how):
    """The same under heaptop, which may refuse, in one line and before it starts the program. Returns
    the report, or None and the line that says why there is none."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(OUT)
    env = how.pop("env", {})
    done = run(wrap([HEAPTOP, *watch_options(), "--report", "--format", "json", "-o", OUT, *options, "--", *command]),
               env=environment(**env), **how)
    errors = re.sub(RESULT, b"", done.stderr).decode(errors="replace")
    if done.returncode == REFUSED and not done.stdout:
        check(errors.startswith("heaptop: ") and errors.count("\n") == 1, "not one line: %r" % errors)
        return None, errors
    check_equal(done.returncode, plain.returncode % 256 if plain.returncode >= 0
                else 128 - plain.returncode, "exit status under heaptop (%s)" % one_line(errors))
    check_equal(done.stdout, plain.stdout, "output under heaptop")
    with open(OUT, encoding="utf-8") as f:
        return json.load(f), errors


def check_account(rep, account, lost=True):
    """Every block that the worker was given is recorded, or counted as one that could not be."""
    t = rep["totals"]
    check_equal(t["allocs"] + t["untracked_blocks"], account["allocs"], "allocs + untracked blocks")
    check_equal(t["frees"] + t["unknown_frees"], account["frees"], "frees + unknown frees")
    if not lost:
        check_equal(t["untracked_blocks"], 0, "untracked blocks")
    check_equal(account["wrong"], 0, "blocks that were written over")


def looked(segment=None):
    """What the tool `look` says of a segment, by default the only one."""
    files = [segment] if segment else segment_files()
    check_equal(len(files), 1, "segments")
    done = run([fault_tool("look"), "totals", files[0]])
    check_equal(done.returncode, 0, "status of look (%s)" % done.stderr.decode())
    return json.loads(done.stdout)


def injected(command, object_=None, call=None, nth=0, keep_on=False, error=None, line=None, **how):
    """Runs COMMAND with the nth of its calls failing, or going on when a shell has run `line`. What was run,
    and how many calls there were."""
    count = os.path.join(scratch, "count")
    prefix = [fault_tool("inject"), "-o", count, "-n", str(nth)]
    for option, value in (("-m", object_), ("-c", call), ("-e", error), ("-x", line)):
        prefix += [option, str(value)] if value else []
    done = run([*prefix, *(["-k"] if keep_on else []), *command], **how)
    check(done.returncode != 99, "the injector: " + one_line(done.stderr.decode()))
    with open(count, encoding="ascii") as f:
        return done, int(f.read())
