# SPDX-License-Identifier: GPL-3.0-or-later
"""A recorded program that waits for what its tests ask of it, and heaptop as its agent and its desk: for the tests of
programs seen from elsewhere."""

import json
import os
import subprocess

from proving import HEAPTOP, check_equal, environment, kill_hard, need, scratch, target
from scanning import Waiting

VIA = ["--via", "env", "--agent", HEAPTOP]
MAGIC = b"heaptop\x1a"
SOURCE = """
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *volatile held[100];
__attribute__((noinline)) void *keep_far(int n)
{
	void *p = malloc(n);
	memset(p, 1, n);
	return p;
}
__attribute__((noinline)) void *keep_child(int n)
{
	void *p = malloc(n);
	memset(p, 2, n);
	return p;
}
int main(int argc, char **argv)
{
	int has_block[2];
	char c;
	if (pipe(has_block) != 0)
		return 1;
	for (int i = 0; i < 100; i++)
		held[i] = keep_far(1000 + i);
	if (write(1, "ready\\n", 6) != 6)
		return 1;
	while (read(0, &c, 1) == 1) {
		if (c == 'm' || c == 'n')
			held[0] = keep_far(c == 'm' ? 5000 : 6001);
		else if (c == 'x')
			execl("/bin/cat", "cat", (char *)0);
		else if (c == 'f') {
			if (fork() == 0) {
				held[1] = keep_child(70000);
				if (fork() == 0)
					held[2] = keep_child(5000);
				if (write(has_block[1], "", 1) == 1)
					pause();
				return 1;
			}
			for (int i = 0; i < 2; i++)
				if (read(has_block[0], &c, 1) != 1)
					return 1;
		} else if (c == 'i' || c == 'u') {
			if (c == 'u')
				unsetenv("LD_PRELOAD");
			execl("/proc/self/exe", "next_image", (char *)0);
		}
		else
			abort();
		if (write(1, "done\\n", 5) != 5)
			return 1;
	}
	return 0;
}
"""


def compiled(name="far_program"):
    path = os.path.join(scratch, name)
    if not os.path.exists(path):
        with open(path + ".c", "w", encoding="ascii") as f:
            f.write(SOURCE)
        subprocess.run([need("gcc"), "-g", "-O1", "-Wl,--build-id", "-o", path, path + ".c"], check=True)
    return path


class Program:
    """A recorded program that waits for our input."""

    def __init__(self, path=None, before=()):
        self.process = subprocess.Popen([*before, path or compiled()], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=environment(LD_PRELOAD=library()))
        check_equal(self.process.stdout.readline(), b"ready\n", "the program")
        self.pid = str(self.process.pid)

    def __enter__(self):
        return self

    def ask(self, what):
        self.process.stdin.write(what)
        self.process.stdin.flush()

    def __exit__(self, *_):
        kill_hard(self.process)
        self.process.stdin.close()
        self.process.stdout.close()


def leaks():
    """A program of ours with leaks, which waits."""
    return Waiting(target("leaks"), "wait")


def library():
    return os.path.join(os.path.dirname(HEAPTOP), "libheaptop.so")


def heaptop(*arguments, timeout=100, **more):
    return subprocess.run([HEAPTOP, "--no-config", *arguments], capture_output=True, timeout=timeout, check=False,
                          env=environment(**more), text=True, stdin=subprocess.DEVNULL)


def frame(*where, **more):
    done = heaptop(*where, "-b", "-n", "1", "--format", "json", **more)
    check_equal(done.returncode, 0, "exit status (%s)" % done.stderr)
    return json.loads(done.stdout)


def played(keys, *where, size="100x30"):
    """The screen after these keys, from the first frame on."""
    path = os.path.join(scratch, "keys")
    with open(path, "w", encoding="ascii") as script:
        script.write(":size %s\n:until LIVE\n%s:save-display -\n" % (size, keys))
    done = heaptop("-d", "0.1", "--script", path, *where)
    check_equal((done.returncode, done.stderr), (0, ""), "the end")
    return done.stdout
