#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes that cannot be attached to: each refusal is one line with its reason, and the process goes on. Asked of
build/tests/tools/attach, which is src/attach alone."""

import errno
import json
import os
import signal
import subprocess

from proving import B, Skip, case, check, check_equal, need, run_cases, scratch, wait_for

TOOL = os.path.join(B, "tests/tools/attach")
SOURCE = """
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
static int guard(const char *how)
{
	struct sock_filter allow = { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW };
	struct sock_fprog filter = { 1, &allow };
	if (strcmp(how, "private") == 0)
		return prctl(PR_SET_DUMPABLE, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return 1;
	return strcmp(how, "filtered") == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0;
}
int main(int argc, char **argv)
{
	void *volatile p = malloc(10);
	if ((argc > 1 && guard(argv[1])) || write(1, "x", 1) != 1)
		return 1;
	free(p);
	while (poll(NULL, 0, 20) == 0)
		;
	return 1;
}
"""


class Program:
    def __init__(self, path, *arguments, **how):
        self.process = subprocess.Popen([path, *arguments], stdout=subprocess.PIPE, **how)
        check_equal(self.process.stdout.read(1), b"x", "it runs")
        self.pid = self.process.pid

    def end(self):
        check_equal(self.process.poll(), None, "it goes on")
        self.process.kill()
        self.process.wait()


    def says(self, word):
        with open("/proc/%d/status" % self.pid, encoding="utf-8") as f:
            return word in f.read()


def build(name, *options, compiler="gcc"):
    need(compiler)
    path = os.path.join(scratch, name)
    with open(path + ".c", "w", encoding="utf-8") as f:
        f.write(SOURCE)
    made = subprocess.run([compiler, "-o", path, path + ".c", *options], capture_output=True, check=False)
    if made.returncode != 0:
        raise Skip("%s %s does not build here" % (compiler, " ".join(options)))
    os.chmod(scratch, 0o755)
    return path


def ask(pid, what, **how):
    done = subprocess.run([TOOL, str(pid), what], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60,
                          check=False, **how)
    said = json.loads(done.stdout)
    if said["segment"] and os.path.exists(said["segment"]):
        os.unlink(said["segment"])
    return said


def refused(pid, *words, **how):
    for what in ("check", "begin"):
        said = ask(pid, what, **how)
        check(said["result"] != 0, "it is refused: %s" % what)
        for word in words:
            check(word in said["message"], "%r in %r" % (word, said["message"]))
        check("\n" not in said["message"], "one line")


def of_a_kind(word, *options, **how):
    path = build("one", *options, **how)
    try:
        program = Program(path)
    except OSError as why:
        if why.errno != errno.ENOEXEC:
            raise
        raise Skip("this kernel does not run programs of this kind") from None
    refused(program.pid, word)
    program.end()


@case("a statically linked program is refused")
def _():
    of_a_kind("its allocator is part of the program", "-static")


@case("a program of musl is refused")
def _():
    of_a_kind("musl", compiler="musl-gcc")


@case("a 32-bit program is refused")
def _():
    of_a_kind("32-bit", "-m32")


@case("a program with a sanitizer is refused")
def _():
    of_a_kind("sanitizer", "-fsanitize=address")


@case("a program that is traced is refused, with the tracer's pid")
def _():
    need("strace")
    program = Program(build("one"))
    tracer = subprocess.Popen(["strace", "-q", "-o", "/dev/null", "-p", str(program.pid)], stderr=subprocess.DEVNULL)
    wait_for(lambda: program.says("TracerPid:\t%d" % tracer.pid), "it is traced")
    refused(program.pid, "traced by %d" % tracer.pid)
    tracer.terminate()
    tracer.wait()
    check_equal(ask(program.pid, "begin")["result"], 0, "it can be attached to afterwards")
    check_equal(ask(program.pid, "end")["result"], 0, "and left")
    program.end()


@case("a stopped program is refused")
def _():
    program = Program(build("one"))
    program.process.send_signal(signal.SIGSTOP)
    wait_for(lambda: program.says("(stopped)"), "it is stopped")
    refused(program.pid, "kill -CONT %d" % program.pid)
    program.process.send_signal(signal.SIGCONT)
    program.end()


@case("a process that has ended is refused")
def _():
    program = Program(build("one"))
    program.process.kill()
    wait_for(lambda: program.says("(zombie)"), "it is a zombie")
    refused(program.pid, "it has ended")
    program.process.wait()
    refused(program.pid, "it has ended")


def become_nobody():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


@case("another user's process is refused to all but root")
def _():
    if os.geteuid() != 0:
        raise Skip("needs root, to be another user")
    program = Program(build("one"))
    said = ask(program.pid, "check", preexec_fn=become_nobody)
    check("it belongs to another user; run heaptop as root" in said["message"], said["message"])
    program.end()


@case("one's own process is attached to without any privilege")
def _():
    if os.geteuid() != 0:
        raise Skip("needs root, to be another user")
    program = Program(build("one"), preexec_fn=become_nobody)
    check_equal(ask(program.pid, "check", preexec_fn=become_nobody)["result"], 0, "it can be")
    program.end()


def goes_both_ways(program, **how):
    said = ask(program.pid, "begin", **how)
    check(said["result"] == 0, said["message"])
    check_equal(ask(program.pid, "end", **how)["result"], 0, "detaching")


def by_root_alone(how, word):
    """To its own user it is refused, by root attached to."""
    if os.geteuid() != 0:
        raise Skip("needs root, to be another user")
    program = Program(build("one"), how, preexec_fn=become_nobody)
    said = ask(program.pid, "check", preexec_fn=become_nobody)
    check(said["result"] != 0 and word in said["message"] and "as root" in said["message"], said["message"])
    goes_both_ways(program)
    program.end()


@case("a process that is not dumpable is refused to its user, not to root")
def _():
    by_root_alone("private", "not dumpable")


@case("a process with a seccomp filter is refused to its user, not to root")
def _():
    by_root_alone("filtered", "seccomp")


@case("a process that gains no privileges is attached to as any other")
def _():
    program = Program(build("one"), "plain")
    goes_both_ways(program)
    program.end()


@case("root without the capability to trace is refused, with what a container needs")
def _():
    if os.geteuid() != 0:
        raise Skip("needs root, to be without a capability")
    program = Program(build("one"), preexec_fn=become_nobody)
    done = subprocess.run([need("setpriv"), "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace", TOOL, str(program.pid), "check"],
                          stdout=subprocess.PIPE, timeout=60, check=False)
    said = json.loads(done.stdout)
    check(said["result"] != 0 and "--cap-add=SYS_PTRACE" in said["message"], said["message"])
    program.end()


run_cases()
