#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything a user can get wrong: one clear line on stderr, and the right exit status.

Runs $B/heaptop (default build/heaptop). Needs nothing but Python; gcc and root make more of it run.
"""

import os
import pty
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading

BUILD = os.path.abspath(os.environ.get("B", "build"))
TIMEOUT = 60  # only a hang takes that long
NOBODY = 65534
USAGE, FAILED, CANNOT_RUN, NOT_FOUND = 2, 125, 126, 127
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]

failures = 0
work = tempfile.mkdtemp(prefix="heaptop-bad-input.")
segments = os.path.join(work, "segments")
heaptop = os.path.join(work, "heaptop")
library = os.path.join(work, "libheaptop.so")


class Skip(Exception):
    """The machine lacks something."""


class Wrong(Exception):
    """The program did something else."""


def environment(**changes):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("HEAPTOP_", "LD_"))}
    env.update(HEAPTOP_DIR=segments, LC_ALL="C.UTF-8", **changes)
    return env


def heaptop_run(args, prefix=(), env=None):
    """Runs heaptop with no terminal anywhere. (status, stdout, stderr)"""
    p = subprocess.run([*prefix, heaptop, *args], stdin=subprocess.DEVNULL, capture_output=True,
                       env=env or environment(), timeout=TIMEOUT, text=True, errors="replace",
                       start_new_session=True)
    return p.returncode, p.stdout, p.stderr


def refused(args, statuses, *parts, prefix=(), env=None):
    """heaptop must end with one of the statuses and one line that has every part in it."""
    status, out, err = heaptop_run(args, prefix, env)
    line_check(args, status, err, statuses, parts)
    if out:
        raise Wrong(f"{args}: wrote to stdout: {out!r}")


def line_check(args, status, err, statuses, parts):
    wanted = statuses if isinstance(statuses, tuple) else (statuses,)
    if status not in wanted:
        raise Wrong(f"{args}: status {status}, want {wanted}; stderr: {err!r}")
    if not err.startswith("heaptop: ") or err.count("\n") != 1 or not err.endswith("\n"):
        raise Wrong(f"{args}: not one line that begins with 'heaptop: ': {err!r}")
    if len(err) > 500 or any(ord(c) < 32 and c != "\n" for c in err):
        raise Wrong(f"{args}: not a clean line: {err!r}")
    for part in parts:
        if part not in err:
            raise Wrong(f"{args}: no {part!r} in {err!r}")


def test(function):
    """Runs one test and prints its line."""
    global failures
    name = function.__name__.removeprefix("test_")
    try:
        function()
        print(f"ok - bad_input {name}")
    except Skip as why:
        print(f"skip - bad_input {name}: {why}")
    except (Wrong, subprocess.TimeoutExpired, OSError) as why:
        failures += 1
        print(f"not ok - bad_input {name}: {' '.join(str(why).split())}")
    sys.stdout.flush()


def compile_c(name, *flags):
    """A program that waits for the end of its input. Its path."""
    path = os.path.join(work, name)
    source = path + ".c"
    with open(source, "w", encoding="ascii") as f:
        f.write('#include <stdlib.h>\n#include <unistd.h>\n'
                'int main(void) { char c; void *p = malloc(10);\n'
                'while (read(0, &c, 1) > 0) ; free(p); return 0; }\n')
    try:
        subprocess.run(["gcc", "-o", path, source, *flags], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as why:
        raise Skip(f"gcc {' '.join(flags)} does not work here") from why
    return path


def script(name, text, mode=0o755):
    path = os.path.join(work, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)
    return path


class Waiting:
    """A process that waits for the end of its input, for as long as the block lasts."""

    def __init__(self, argv, env=None):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                        env=env)

    def __enter__(self):
        return str(self.process.pid)

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def need_root():
    if os.geteuid() != 0:
        raise Skip("needs root, to become another user")
    if not shutil.which("setpriv"):
        raise Skip("needs setpriv")


# ---- the command line -------------------------------------------------------------------------

def test_unknown_option():
    refused(["-Z", "--", "true"], USAGE, "unknown option -Z", "heaptop --help")
    refused(["--nonsense", "--", "true"], USAGE, "unknown option --nonsense", "heaptop --help")
    refused(["--no\033[31mnsense", "true"], USAGE, "unknown option")


def test_bad_values():
    for option, value in (("-d", "0.01"), ("-d", "61"), ("-d", "soon"), ("-n", "0"), ("-n", "x"),
                          ("-s", "nonsense"), ("-D", "0"), ("-D", "1025"), ("--top", "-1"),
                          ("-C", "blue"), ("--format", "xml"), ("--fail-on", "bugs"),
                          ("-a", "0"), ("-a", "1,x")):
        refused([option, value, "--", "true"], USAGE, option, value, "heaptop --help")


def test_missing_value():
    for option in ("-d", "-n", "-s", "--wait", "-r", "-o", "--format", "--top"):
        refused([option], USAGE, "requires a value")


def test_nothing_to_do():
    refused([], USAGE, "COMMAND")
    refused(["-b"], USAGE, "COMMAND")
    refused(["-a", "1", "--", "true"], USAGE, "only one of")


def test_unknown_format():
    refused(["--format", "xml", "--", "true"], USAGE, "--format", "must be text, json")
    refused(["--format", "mtrace", "--", "true"], USAGE, "--format mtrace", "require -r FILE with recorded events")


# ---- the command ------------------------------------------------------------------------------

def test_no_such_command():
    refused(["--report", "--", "no-such-command-anywhere"], NOT_FOUND, "no-such-command-anywhere")
    refused(["--report", "--", "./no/such/file"], NOT_FOUND, "No such file")
    refused(["-b", "--", "no-such-command-anywhere"], NOT_FOUND)


def test_not_executable():
    path = script("plain", "#!/bin/sh\n", 0o644)
    refused(["--report", "--", path], CANNOT_RUN, "Permission denied")
    refused(["--report", "--", work], CANNOT_RUN, "directory")
    broken = os.path.join(work, "broken")
    with open(broken, "wb") as f:
        f.write(b"\x7fELF\0\0\0\0not a program at all")
    os.chmod(broken, 0o755)
    refused(["--report", "--", broken], (FAILED, CANNOT_RUN), "broken")


def test_interpreter_missing():
    path = script("lost", "#!/no/such/interpreter\n")
    refused(["--report", "--", path], (CANNOT_RUN, NOT_FOUND), "/no/such/interpreter")


def broken_program(name, narrow):
    """A program that no kernel runs (ET_REL), though nothing else is wrong with it. To a shell it is a script that
    ends with status 7: no reader looks at that part of the header."""
    path = compile_c(name, *(["-m32"] if narrow else []))
    with open(path, "r+b") as f:
        f.seek(8)
        f.write(b"\nexit 7\n" + struct.pack("<H", 1))
    return path


def test_program_that_the_kernel_does_not_run():
    path = broken_program("of-no-kind", False)
    for command in (path, script("by-no-kind", f"#!{path}\nexit 7\n")):
        refused(["--report", "--", command], CANNOT_RUN, "cannot run the command: Exec format error",
                "this kernel runs no programs of its kind")


def test_32_bit_program_that_the_kernel_does_not_run():
    library = os.path.join(BUILD, "libheaptop.so")
    if not os.path.exists(os.path.join(BUILD, "32", "libheaptop.so")):
        raise Skip("the compiler has no libraries for -m32")
    refused(["--report", "--library", library, "--", broken_program("narrow-of-no-kind", True)], CANNOT_RUN,
            "cannot run the command: Exec format error", "this kernel runs no programs of its kind")


def test_script_without_interpreter():
    """It is the shell's, as for execvp."""
    path = script("bare", 'echo "$1"\nexit 7\n')
    for command, env in ((path, environment()), ("bare", environment(PATH=work + ":" + os.environ["PATH"]))):
        status, out, err = heaptop_run(["--report", "-o", "/dev/null", "--", command, "said"], env=env)
        if (status, out) != (7, "said\n"):
            raise Wrong(f"{command}: status {status}, output {out!r}, stderr {err!r}")


def test_static_program():
    refused(["--report", "--", compile_c("static", "-static")], FAILED, "static")
    refused(["--report", "--", compile_c("static-pie", "-static-pie")], FAILED, "static")


def test_static_process():
    with Waiting([compile_c("static", "-static")]) as pid:
        refused(["--report", "-a", pid], FAILED, "static", pid)


def test_script_of_static_interpreter():
    static = compile_c("static", "-static")
    refused(["--report", "--", script("by-static", f"#!{static}\n")], FAILED, "static")


def test_32_bit_program():
    try:
        path = compile_c("narrow", "-m32")
    except Skip:
        path = os.path.join(work, "narrow")
        with open(path, "wb") as f:  # ELFCLASS32, little-endian, ET_EXEC, EM_386
            f.write(struct.pack("<4sBBB9xHHI32x", b"\x7fELF", 1, 1, 1, 2, 3, 1))
        os.chmod(path, 0o755)
    refused(["--report", "--", path], FAILED, "32-bit")


def test_sanitized_program():
    path = compile_c("sanitized", "-fsanitize=address")
    refused(["--report", "--", path], FAILED, "sanitizer")


def test_setuid_program():
    need_root()
    path = os.path.join(work, "raised")
    shutil.copy(compile_c("plain-program"), path)
    os.chmod(path, 0o4755)
    if os.statvfs(work).f_flag & os.ST_NOSUID:
        raise Skip("set-id bits do not count in the temporary directory")
    refused(["--report", "--", path], FAILED, "setuid", prefix=AS_NOBODY)
    os.chown(path, -1, 0)
    os.chmod(path, 0o2755)
    refused(["--report", "--", path], FAILED, "setgid", prefix=AS_NOBODY)


# ---- attaching --------------------------------------------------------------------------------

def ended_pid():
    p = subprocess.Popen(["true"])
    p.wait()
    return str(p.pid)


def test_no_such_process():
    refused(["-b", "-n", "1", "-a", ended_pid()], FAILED, "no such process")


def test_not_instrumented():
    with Waiting(["cat"]) as pid:
        refused(["--mark", pid], FAILED, pid, "heaptop -- CMD", "LD_PRELOAD=")


def test_process_of_another_user():
    need_root()
    with Waiting(["cat"]) as pid:
        refused(["--mark", pid], FAILED, "user root", prefix=AS_NOBODY)
        refused(["-b", "-n", "1", "-a", pid], FAILED, "another user", "root", prefix=AS_NOBODY)


def test_segment_of_another_user():
    need_root()
    refused(["-b", "-n", "1", "-r", segment_left()], FAILED, "left.segment",
            prefix=AS_NOBODY)


# ---- files ------------------------------------------------------------------------------------

def segment_left():
    """A segment as a killed program leaves it. Made once."""
    if not os.path.exists(library):
        raise Skip("no libheaptop.so")
    kept = os.path.join(work, "left.segment")
    if os.path.exists(kept):
        return kept
    process = subprocess.Popen(["sh", "-c", "echo up; read line"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env=environment(LD_PRELOAD=library))
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdin.close()
    process.stdout.close()
    found = [n for n in os.listdir(segments) if n.startswith("heaptop-")]
    if not found:
        raise Wrong("a program under LD_PRELOAD left no segment")
    os.rename(os.path.join(segments, found[0]), kept)
    return kept


def read_refused(path, *parts):
    refused(["-b", "-n", "1", "-r", path], FAILED, *parts)


class Changed:
    """The segment left behind, with some bytes changed for as long as the block lasts."""

    def __init__(self, offset, data):
        self.path, self.offset, self.data = segment_left(), offset, data

    def swap(self, data):
        with open(self.path, "r+b") as f:
            f.seek(self.offset)
            old = f.read(len(data))
            f.seek(self.offset)
            f.write(data)
        return old

    def __enter__(self):
        self.data = self.swap(self.data)
        return self.path

    def __exit__(self, *_):
        self.swap(self.data)


def test_no_such_file():
    read_refused(os.path.join(work, "no-such-file"), "No such file")
    read_refused(work, work)
    read_refused("/dev/null", "/dev/null")
    link = os.path.join(work, "link")
    os.symlink(segment_left(), link)
    read_refused(link, "link")


def test_names_that_control_the_terminal():
    """Anyone can make a file of any name where segments are, and recordings may name any."""
    odd = "\x1b]0;owned\x07\x1b[2J"
    with open(os.path.join(segments, "heaptop-" + odd), "w", encoding="utf-8") as f:
        f.write("x")
    try:
        status, out, err = heaptop_run(["-l"])
        if status != 0 or "heaptop-?]0;owned" not in out or "\x1b" in out + err:
            raise Wrong(f"-l: {status}, {out!r}, {err!r}")
    finally:
        os.unlink(os.path.join(segments, "heaptop-" + odd))
    status, out, err = heaptop_run(["-r", os.path.join(work, odd)])
    if status != FAILED or "\x1b" in out + err or "?]0;owned" not in err:
        raise Wrong(f"-r: {status}, {out!r}, {err!r}")


def test_segment_that_is_whole():
    status, out, err = heaptop_run(["-b", "-n", "1", "-r", segment_left()])
    if status != 0 or err or not out:
        raise Wrong(f"status {status}, stdout {out!r}, stderr {err!r}")


def test_segment_of_another_version():
    with Changed(8, struct.pack("<I", 99)) as path:
        read_refused(path, "99")
    with Changed(12, struct.pack("<I", 1)) as path:
        read_refused(path, "format")


def test_segment_cut_off():
    whole = segment_left()
    path = os.path.join(work, "cut")
    for size in (0, 1, 8, 100, 4096, 65536, 1 << 20):
        with open(whole, "rb") as f, open(path, "wb") as to:
            to.write(f.read(size))
        os.chmod(path, 0o600)
        read_refused(path)


def test_random_bytes_as_segment():
    path = os.path.join(work, "random")
    rng = random.Random(1)
    for size in (64, 5000, 200000):
        with open(path, "wb") as f:
            f.write(rng.randbytes(size))
        os.chmod(path, 0o600)
        read_refused(path, "not a heaptop segment")


def test_segment_with_hostile_header():
    """Whatever the header says, the viewer shows something or refuses in one line; it never dies."""
    rng = random.Random(2)
    for _ in range(40):
        offset = rng.randrange(16, 4096) & ~3
        value = rng.choice((0, 1, 0x7fffffff, 0xffffffff, rng.getrandbits(32)))
        with Changed(offset, struct.pack("<I", value)) as path:
            args = ["-b", "-n", "1", "-r", path]
            status, _, err = heaptop_run(args)
            if status != 0:
                line_check([f"{value:#x} at {offset}"], status, err, FAILED, ())


def test_output_cannot_be_written():
    refused(["--report", "-o", "/no/such/directory/file", "--", "true"], (USAGE, FAILED),
            "/no/such/directory/file")


def test_output_is_input():
    """Opening it for the output would empty it before it is read."""
    path, link = segment_left(), os.path.join(work, "same")
    size = os.path.getsize(path)
    os.link(path, link)
    for output in (path, link):
        refused(["--report", "-r", path, "-o", output], FAILED, output, "-o")
        refused(["-b", "-r", path, "-o", output], FAILED, output, "-o")
    os.unlink(link)
    if os.path.getsize(path) != size:
        raise Wrong("the segment was changed")
    path = script("known.supp", "{\n  known\n  fun:f\n}\n")
    refused(["--report", "--leak-check", "--suppressions", path, "-o", path, "--", "true"], FAILED, path, "-o")
    if not os.path.getsize(path):
        raise Wrong("the suppressions were emptied")
    status, _, err = heaptop_run(["--report", "-r", segment_left(), "-o", "/dev/null"])
    if status != 0:
        raise Wrong(f"status {status}: {err!r}")


def test_library_missing():
    refused(["--report", "--library", "/no/such/lib.so", "--", "true"], FAILED, "/no/such/lib.so")


# ---- the terminal -----------------------------------------------------------------------------

def test_no_terminal():
    refused(["--", "true"], (USAGE, FAILED), "-b", "--report")
    refused(["-r", segment_left()], (USAGE, FAILED), "-b")
    # What is wrong with the argument comes first.
    refused(["-r", "/no/such/file"], FAILED, "/no/such/file: No such file")
    refused(["-r", "/etc/passwd"], FAILED, "/etc/passwd: not a heaptop segment")
    refused(["-a", ended_pid()], FAILED, "no such process")


def on_terminal(term, args):
    """Runs heaptop on a terminal of its own. (status, what it wrote there)"""
    master, slave = pty.openpty()
    env = environment()
    env.pop("TERM", None)
    if term is not None:
        env["TERM"] = term
    written = []

    def drain():
        try:
            while data := os.read(master, 4096):
                written.append(data)
        except OSError:
            pass  # the last user of the terminal is gone

    process = subprocess.Popen([heaptop, *args], stdin=slave, stdout=slave, stderr=slave, env=env,
                               start_new_session=True)
    os.close(slave)
    reader = threading.Thread(target=drain)
    reader.start()
    try:
        status = process.wait(timeout=TIMEOUT)
    finally:
        process.kill()
        process.wait()
        reader.join()
        os.close(master)
    return status, b"".join(written).decode(errors="replace").replace("\r\n", "\n")


def test_terminal_unknown():
    """The screen makes do with a plain terminal; where it cannot, it says so in one line."""
    for term in (None, "", "no-such-terminal"):
        status, text = on_terminal(term, ["-n", "2", "-d", "0.1", "--", "true"])
        if status == 0:
            if "heaptop" not in text or "pid" not in text:
                raise Wrong(f"TERM={term}: nothing was drawn: {text!r}")
        else:
            line_check([f"TERM={term}"], status, text, FAILED, ("TERM",))


def test_terminal_without_a_cursor():
    """Where no screen can be drawn nothing is started."""
    mark = os.path.join(work, "started")
    status, text = on_terminal("dumb", ["--", "touch", mark])
    line_check(["TERM=dumb"], status, text, FAILED, ("TERM=dumb", "-b", "--report"))
    if os.path.exists(mark):
        raise Wrong("the command was started")


def test_terminal_and_bad_input():
    """With a terminal, mistakes are reported before a screen is drawn over them."""
    for args, wanted, part in ((["--", "no-such-command-anywhere"], NOT_FOUND, "no-such-command"),
                               (["-a", ended_pid()], FAILED, "no such process"),
                               (["-r", "/no/such/file"], FAILED, "/no/such/file")):
        status, text = on_terminal("xterm", args)
        line_check(args, status, text, wanted, (part,))


def main():
    os.chmod(work, 0o755)
    os.mkdir(segments, 0o700)
    shutil.copy(os.path.join(BUILD, "heaptop"), heaptop)
    if os.path.exists(os.path.join(BUILD, "libheaptop.so")):
        shutil.copy(os.path.join(BUILD, "libheaptop.so"), library)
    for name, function in list(globals().items()):
        if name.startswith("test_"):
            test(function)
    left = os.listdir(segments)
    print(f"{'not ok' if left else 'ok'} - bad_input leaves no segment behind{': ' if left else ''}"
          + " ".join(left))
    return failures or len(left)


if __name__ == "__main__":
    try:
        sys.exit(1 if main() else 0)
    finally:
        shutil.rmtree(work, ignore_errors=True)
