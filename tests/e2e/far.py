#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program seen from elsewhere: what the desk reports is what a viewer beside the program does; whoever speaks wrongly
is refused in one line, on both sides."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading

from far_program import MAGIC, SOURCE, VIA, Program, compiled, frame, heaptop
from proving import (HEAPTOP, Skip, case, check, check_equal, environment, kill_hard, run, run_cases, scratch,
                     segment_files, target, wait_for)

# What needs the program's memory, or the kernel beside it, or tells the viewer itself.
HERE_ONLY = ("memory", "self", "time")


def refused(*where, words, **more):
    done = heaptop(*where, "-b", "-n", "1", **more)
    check(done.returncode in (2, 125), "exit status %d" % done.returncode)
    lines = done.stderr.strip().split("\n")
    check(any(w in lines[-1] for w in [words]), "%r in %r" % (words, done.stderr))
    return done


def comparable(report):
    for name in HERE_ONLY:
        report.pop(name, None)
    report["proc"].pop("pss", None)
    report["process"].pop("host")

    def still(value):  # without rates, which depend on when one looks
        if isinstance(value, dict):
            return {k: still(v) for k, v in value.items() if "per_s" not in k and k != "growth"}
        return [still(v) for v in value] if isinstance(value, list) else value
    return still(report)


@case("what is reported from elsewhere is what is reported beside the program")
def equal():
    with Program() as p:
        far, near = frame(*VIA, "-a", p.pid), frame("-a", p.pid)
        check(sum(s["live_bytes"] for s in far["sites"]) >= 100 * 1000, "there is something to compare")
        check(sum(t["live_bytes"] for t in far["threads"]) >= 100 * 1000, "live blocks by thread, too")
        check_equal((far["process"]["host"], near["process"]["host"]), (os.uname().nodename, None), "hosts")
        far, near = comparable(far), comparable(near)
        for name in sorted(set(far) | set(near)):
            check_equal(far.get(name), near.get(name), name)


@case("later frames have what has changed")
def changes():
    with Program() as p:
        viewer = subprocess.Popen([HEAPTOP, "--no-config", *VIA, "-a", p.pid, "-b", "-d", "0.2", "-F", "keep_far"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True)
        try:
            for line in viewer.stdout:
                if "keep_far" in line:
                    break
            p.ask(b"m")
            for line in viewer.stdout:
                if "keep_far" in line and "4.9k" in line:
                    break
            else:
                check(False, "the new block never came: %s" % viewer.stderr.read())
            p.process.stdin.close()
            rest = viewer.stdout.read()
            check_equal(viewer.wait(30), 0, "exit status of a viewer whose program has ended (%s)" % rest[-300:])
        finally:
            kill_hard(viewer)
            p.process.stdin = open(os.devnull, "wb")


@case("a process that is not recorded is attached to, and detached from at the end")
def attached():
    process = subprocess.Popen([compiled()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    try:
        check_equal(process.stdout.readline(), b"ready\n", "the program")
        before = set(segment_files())  # programs that ended may have left theirs
        far = frame(*VIA, "-a", str(process.pid))
        check_equal(far["process"]["pid"], process.pid, "pid")
        check(far["totals"]["before_found_bytes"] >= 100 * 1000, "what was there before")
        wait_for(lambda: not set(segment_files()) - before, "the segment to go")
        process.stdin.write(b"m")
        process.stdin.flush()
        check_equal(process.stdout.readline(), b"done\n", "it goes on")
    finally:
        kill_hard(process)


def fake_ssh(text):
    folder = os.path.join(scratch, "bin")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "ssh")
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return {"PATH": folder + ":" + os.environ["PATH"]}


@case("ssh is run with the host as an argument, after a banner too")
def ssh():
    said = os.path.join(scratch, "ssh-arguments")
    path = fake_ssh('printf "%%s\\n" "$@" >%s\necho "Welcome to the box"\nwhile [ "$1" != -- ]; do shift; done\n'
                    'shift 2\nexec "$@"\n' % said)
    with Program() as p:
        far = frame("ssh://me@box:2222/" + p.pid, "--agent", HEAPTOP, **path)
        check_equal(far["process"]["pid"], int(p.pid), "pid")
    with open(said, encoding="ascii") as f:
        check_equal(f.read().split("\n"), ["-p", "2222", "-T", "--", "me@box", HEAPTOP, "--serve=-", p.pid, ""],
                    "arguments of ssh")


@case("a host or process that ssh or a shell could take for something else is refused, and nothing is run")
def hosts():
    ran = os.path.join(scratch, "ssh-ran")
    path = fake_ssh("touch %s\n" % ran)
    for url in ("ssh://-oProxyCommand=x/1", "ssh://a@-oProxyCommand=x/1", "ssh://box/1;x", "ssh://box/$(x)", "ssh://box/"):
        refused(url, words=":", **path)
        check(not os.path.exists(ran), url)
    refused("--via", "env", "-a", "x;y", words="--via", **path)


@case("options that only apply to a program on this machine are refused before anything is connected")
def elsewhere():
    for words in (("--save", "x"), ("--sizes", "1"), ("--trace", "1"), ("--keep",), ("--attach-timeout", "5"),
                  ("--allocators", "none"), ("--all-processes", "-b"), ("--hold",)):
        done = heaptop("--via", "false", "-a", "1", *words)
        check_equal((done.returncode, done.stderr.count("this machine")), (2, 1), "%s: %s" % (words, done.stderr))


@case("what is no heaptop is quoted, in one line")
def strangers():
    path = fake_ssh("echo 'heaptop: command not found' >&2\nexit 127\n")
    refused("ssh://box/1", words="heaptop: command not found (if heaptop is what is missing", **path)
    path = fake_ssh("echo 'OCI runtime exec failed: \"heaptop\": executable file not found in $PATH: unknown'\nexit 126\n")
    done = refused("ssh://box/1", words="executable file not found", **path)
    check("--agent" in done.stderr, done.stderr)
    path = fake_ssh("echo 'heaptop: the reason is %s the end' >&2\nexit 125\n" % (450 * "x"))
    done = refused("ssh://box/1", words="the end", **path)
    check("--agent" not in done.stderr, done.stderr)
    path = fake_ssh("echo 'This account is not available.'\n")
    refused("ssh://box/1", words="This account is not available.", **path)
    path = fake_ssh("cat /dev/zero | head -c 100000\n")
    refused("ssh://box/1", words="not heaptop's protocol", **path)
    path = fake_ssh("cat /dev/zero | head -c 100000 &\nexec yes >&2\n")  # does not stop talking
    refused("ssh://box/1", words="there", **path)
    path = fake_ssh("printf 'heaptop\\032L\\377\\377\\377\\377'\nsleep 1\n")
    refused("ssh://box/1", words="not heaptop's protocol", **path)
    with Program() as p:
        done = heaptop(*VIA, "-a", str(2 ** 22 + 7), "-b", "-n", "1")
        check("no answer from heaptop there" in done.stderr and str(2 ** 22 + 7) in done.stderr, done.stderr)
        check(p.process.poll() is None, "the program goes on")


def number(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def text(value):
    return number(len(value)) + value.encode("ascii")


@case("another version on the other side is named")
def versions():
    hello = number(1) + number(12345) + number(1) + number(4096) + number(1 << 20) + number(0) + text("0.1") + \
        text("x86_64") + text("box")
    whole = MAGIC + b"H" + len(hello).to_bytes(4, "little") + hello
    told = os.path.join(scratch, "hello")
    with open(told, "wb") as f:
        f.write(whole)
    refused("ssh://box/1", words="heaptop there is 0.1", **fake_ssh("cat %s\ncat >/dev/null\n" % told))


class Server:
    def __init__(self, *arguments, **more):
        self.process = subprocess.Popen([HEAPTOP, "--no-config", *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**more), text=True)
        self.said = self.process.stderr.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                kill_hard(self.process)
        for f in (self.process.stdin, self.process.stdout, self.process.stderr):
            f.close()


@case("a socket that only this user reaches; one desk after another; it goes with the agent")
def unix():
    path = os.path.join(scratch, "heap.sock")
    with Program() as p:
        with Server("--serve", "unix:" + path, "-a", p.pid) as s:
            check("serving on" in s.said, s.said)
            check_equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "mode of the socket")
            for _ in range(3):
                check_equal(frame("unix:" + path)["process"]["pid"], int(p.pid), "pid")
            with Server("--serve", "unix:" + path, "-a", p.pid) as second:
                check_equal(second.process.wait(30), 125, "status of a second agent on the socket")
            p.process.stdin.close()
            p.process.wait(20)
            check_equal(s.process.wait(30), 0, "status of an agent whose program has ended")
            p.process.stdin = open(os.devnull, "wb")
        check(not os.path.exists(path), "the socket is gone")
    refused("unix:" + path, words="cannot connect")
    refused("tcp://no host:1", words="cannot find no host")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def secret(name, value, mode=0o600):
    path = os.path.join(scratch, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(value + "\n")
    os.chmod(path, mode)
    return path


@case("a port asks for the secret, and says that it is not encrypted")
def port():
    where = "127.0.0.1:%d" % free_port()
    right, wrong = secret("right", "0123456789abcdef"), secret("wrong", "0123456789abcdeF")
    with Program() as p:
        for options, why in ((("-a", p.pid), "--token-file"),
                             (("-a", p.pid, "--token-file", secret("short", "x")), "16 characters"),
                             (("-a", p.pid, "--token-file", secret("open", "0123456789abcdef", 0o644)), "chmod 600")):
            with Server("--serve", where, *options) as s:
                check(why in s.said, s.said)
                check_equal(s.process.wait(20), 125, "exit status")
        with Server("--serve", where, "-a", p.pid, "--token-file", right) as s:
            check("not encrypted" in s.said, s.said)
            refused("tcp://" + where, "--token-file", wrong, words="connection ended")
            refused("tcp://" + where, words="")
            check_equal(frame("tcp://" + where, "--token-file", right)["process"]["pid"], int(p.pid), "pid")


@case("a signal ends an agent whose desk is idle, or never reads")
def signals():
    path = os.path.join(scratch, "signal.sock")
    for said in (b"", MAGIC + b"F\4\0\0\0\0\1\0\0" + 200000 * b"N\1\0\0\0\0"):
        with Program() as p, Server("--serve", "unix:" + path, "-a", p.pid) as s, socket.socket(socket.AF_UNIX) as desk:
            desk.connect(path)
            check_equal(desk.recv(len(MAGIC)), MAGIC, "the agent")
            desk.setblocking(False)
            try:
                while said:
                    said = said[desk.send(said):]
            except BlockingIOError:
                pass  # it waits for us to read
            s.process.send_signal(signal.SIGTERM)
            check_equal(s.process.wait(30), 0, "exit status")
            check(p.process.poll() is None, "the program goes on")


@case("--wait-client starts the program when somebody is there to see it")
def waits():
    path = os.path.join(scratch, "wait.sock")
    begun = os.path.join(scratch, "begun")
    with Server("--serve", "unix:" + path, "--wait-client", "--", "/bin/sh", "-c",
                "touch %s; exec %s" % (begun, compiled())) as s:
        check(not os.path.exists(begun), "it waits")
        viewer = subprocess.Popen([HEAPTOP, "--no-config", "unix:" + path, "-b", "-d", "0.2"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=environment(), text=True)
        try:
            check("Live" in "".join(viewer.stdout.readline() for _ in range(4)), "a frame")
            wait_for(lambda: os.path.exists(begun), "the program to begin")
        finally:
            kill_hard(viewer)
        check(s.process.poll() is None or s.process.returncode == 0, "the agent")


@case("a program that ends, is killed, or calls exec")
def ends():
    for how, words in ((b"a", "killed"), (b"x", "exec")):
        with Program() as p:
            viewer = subprocess.Popen([HEAPTOP, "--no-config", *VIA, "-a", p.pid, "-b", "-d", "0.2"],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True)
            try:
                viewer.stdout.readline()
                p.ask(how)
                if how == b"x":
                    p.process.stdin.close()
                    p.process.stdin = open(os.devnull, "wb")
                out, err = viewer.communicate(timeout=60)
                check(words in out or "gone" in out or how == b"x", out[-500:] + err)
                check_equal(viewer.returncode, 0, "exit status (%s)" % err)
            finally:
                kill_hard(viewer)


@case("the next image after exec is followed, as here; one that is not recorded is said")
def images():
    with Program() as p:
        viewer = subprocess.Popen([HEAPTOP, "--no-config", *VIA, "-a", p.pid, "-b", "-d", "0.2"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True)
        try:
            viewer.stdout.readline()  # it has the first image
            for block, size in ((b"m", "4.9k"), (b"n", "5.9k")):  # one image after another
                p.ask(b"i")
                check_equal(p.process.stdout.readline(), b"ready\n", "the next image")
                p.ask(block)
                check_equal(p.process.stdout.readline(), b"done\n", "the next image")
                for line in viewer.stdout:
                    if "keep_far" in line and size in line:
                        break
                else:
                    check(False, "the new image's block never came: %s" % viewer.stderr.read())
            far, near = frame(*VIA, "-a", p.pid), frame("-a", p.pid)
            check_equal(far["totals"], near["totals"], "totals of the last image")
            p.ask(b"u")
            rest, err = viewer.communicate(timeout=60)
            check("not recorded" in rest, rest[-600:] + err)
        finally:
            kill_hard(viewer)


class Cut:
    """Passes on what the agent says, but for what comes after so many bytes."""

    def __init__(self, path, upstream, most):
        self.most = most
        self.upstream = upstream
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(1)
        self.passed = 0
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        desk, _ = self.listener.accept()
        agent = socket.socket(socket.AF_UNIX)
        agent.connect(self.upstream)
        up = threading.Thread(target=self.carry, args=(desk, agent, None), daemon=True)
        up.start()
        self.carry(agent, desk, self.most)
        for s in (desk, agent):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        up.join(20)
        desk.close()
        agent.close()
        self.listener.close()

    def carry(self, source, sink, most):
        try:
            while most is None or self.passed < most:
                data = source.recv(65536 if most is None else min(65536, most - self.passed))
                if not data:
                    break
                sink.sendall(data)
                if most is not None:
                    self.passed += len(data)
            if most is None:
                sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


@case("a connection that is cut at any point: one line, or the figures that came")
def cut():
    upstream = os.path.join(scratch, "up.sock")
    with Program() as p, Server("--serve", "unix:" + upstream, "-a", p.pid):
        points = list(range(0, 200, 9)) + [2 ** n for n in range(8, 17)] + [10 ** 9]
        for most in points:
            path = os.path.join(scratch, "cut-%d.sock" % most)
            middle = Cut(path, upstream, most)
            done = heaptop("unix:" + path, "-b", "-n", "1", "--no-fetch")
            check(done.returncode in (0, 125), "status %d after %d bytes: %s" % (done.returncode, most, done.stderr))
            if done.returncode:
                check(done.stderr.startswith("heaptop: ") and done.stderr.count("\n") == 1, done.stderr)
            middle.thread.join(30)
            os.unlink(path)
        check_equal(done.returncode, 0, "status of a connection that holds")


@case("an agent that is spoken to wrongly ends, and the program goes on")
def hostile_desk():
    with Program() as p:
        for said in (b"", b"x" * 70000, MAGIC + b"Z\0\0\0\0", MAGIC + b"N\xff\xff\xff\xff", MAGIC + b"F\1\0\0\0\xff",
                     MAGIC + b"N\0\0\0\0",
                     MAGIC + b"N\1\0\0\0\7", MAGIC + b"O\3\0\0\0\0\1\0", MAGIC + b"O\2\0\0\0\xff\xff",
                     MAGIC + b"F\4\0\0\0\0\xff\xff\x7f"):
            done = subprocess.run([HEAPTOP, "--no-config", "--serve", "-", p.pid], input=said, capture_output=True,
                                  env=environment(), timeout=60, check=False)
            check(done.stdout.startswith(MAGIC), "it says who it is")
            check(done.returncode in (0, 125), "status %d: %s" % (done.returncode, done.stderr))
        check(p.process.poll() is None, "the program goes on")


@case("files for names: copied once, by build-id, or searched for in --binpath and --sysroot; else no names")
def names():
    if os.geteuid() != 0:
        raise Skip("a place that only the program sees needs root")
    built, hidden, cache = compiled(), os.path.join(scratch, "hidden"), os.path.join(scratch, "cache")
    os.makedirs(hidden, exist_ok=True)
    inside = os.path.join(hidden, "far_program")
    mount = "mount -t tmpfs none %s && cp %s %s && exec %s" % (hidden, built, inside, inside)
    with Program("/bin/true", ("unshare", "-m", "/bin/sh", "-c", mount)) as p:
        check(not os.path.exists(inside), "the file is not here")

        def named(*options, **more):
            sites = frame(*VIA, "-a", p.pid, *options, **more)["sites"]
            return any("keep_far" in json.dumps(s) for s in sites)
        check(not named("--no-fetch", XDG_CACHE_HOME=cache + "-none"), "no names without the file")
        check(named("--no-fetch", "--binpath", "/nowhere:" + scratch, XDG_CACHE_HOME=cache + "-none"), "--binpath")
        root = os.path.join(scratch, "root")
        os.makedirs(root + hidden)
        os.link(built, root + inside)
        check(named("--no-fetch", "--sysroot", root, XDG_CACHE_HOME=cache + "-none"), "--sysroot")
        check(named(XDG_CACHE_HOME=cache), "copied")
        check(len(os.listdir(cache + "/heaptop/objects")) >= 1, "kept")
        check(named("--no-fetch", XDG_CACHE_HOME=cache), "and found again")
        other = os.path.join(scratch, "other")
        os.makedirs(other)
        with open(os.path.join(other, "far_program.c"), "w", encoding="ascii") as f:
            f.write(SOURCE.replace("keep_far", "other_name"))
        subprocess.run(["gcc", "-g", "-Wl,--build-id", "-o", os.path.join(other, "far_program"),
                        os.path.join(other, "far_program.c")], check=True)
        check(not named("--no-fetch", "--binpath", other, XDG_CACHE_HOME=cache + "-none"), "another build is no source of names")


run_cases()
