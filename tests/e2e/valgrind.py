#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real command lines whose allocations, frees and bytes must be those of valgrind's HEAP SUMMARY, and that
free nothing wrongly that memcheck does not report.

Programs copy their environment, so both runs get the same variables, in the same order, with values of
the same length (a program that seeds its hash tables by the time, as libxml2 does, has no count to
compare): valgrind's own (LD_PRELOAD, GLIBCPP_FORCE_NEW, GLIBCXX_FORCE_NEW) and heaptop's (ASAN_OPTIONS,
HEAPTOP_SEGMENT). Where the two must differ nevertheless, DIFFERENCES says by how much and why."""

import ctypes
import functools
import os
import re
import shutil
import subprocess

from proving import (LIBRARY, Failure, Skip, add_case, check_equal, environment, need, report, run,
                     run_cases, scratch, segments)

WORK = os.path.join(scratch, "work")
NO_RANDOMIZE = 0x0040000
OPTIONS = ["--tool=memcheck", "--run-libc-freeres=no", "--run-cxx-freeres=no", "--leak-check=no",
           "--child-silent-after-fork=yes"]

# name: (allocs, frees, bytes) that heaptop may see more than valgrind, and the cause.
DIFFERENCES = {}

# name: bytes of a table that the program makes for each part of the address space it has memory in.
# Where that lies, so how many tables there are, is not the same under valgrind.
TABLES = {
    "cc1": 32768,  # of the collector's pages in 16 MB (gcc/ggc-page.cc, set_page_table_entry)
}


def fixed_addresses():
    ctypes.CDLL(None).personality(NO_RANDOMIZE)


def write(name, text):
    with open(os.path.join(WORK, name), "w", encoding="utf-8") as f:
        f.write(text)


def files_make():
    os.makedirs(os.path.join(WORK, "tree/a/b"))
    lines = ["%d line %d of the text with words %x" % (i * 7919 % 1000, i, i * i)
             for i in range(3000)]
    write("text", "\n".join(lines) + "\n")
    write("other", "\n".join(lines[:1500] + ["changed"] + lines[1501:]) + "\n")
    for i in range(30):
        write("tree/a/%d" % i, lines[i])
    write("small.c", "struct s { int a; struct s *n; };\nint f(struct s *p, int k)\n{\n\tint t = 0;\n"
                     "\tfor (; p; p = p->n)\n\t\tt += p->a * k;\n\treturn t;\n}\n")
    write("data.json", '{"a":[%s],"b":{"c":"text"}}\n' % ",".join(map(str, range(500))))
    write("rules.mk", "all: one two\none: ; echo one\ntwo: one ; echo two $(wildcard *)\n")
    os.symlink("text", os.path.join(WORK, "tree/link"))


def repository_make():
    env = environment(GIT_AUTHOR_DATE="2020-01-01T00:00:00Z", GIT_COMMITTER_DATE="2020-01-01T00:00:00Z",
                      GIT_CONFIG_GLOBAL="/dev/null", HOME=WORK)
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    steps = [["init", "-q", "-b", "main", "."]]
    for i in range(5):
        steps += [["add", "text"], [*who, "commit", "-q", "--allow-empty", "-m", "commit %d" % i]]
    for step in steps:
        done = run(["git", *step], env=env, cwd=os.path.join(WORK))
        check_equal(done.returncode, 0, "git " + " ".join(step) + done.stderr.decode())


def setup():
    if not os.path.exists(WORK):
        files_make()
        repository_make()
        subprocess.run(["gcc", "-c", "-g", "-o", "small.o", "small.c"], cwd=WORK, check=False)


def compiler_proper():
    path = run([need("gcc"), "-print-prog-name=cc1"]).stdout.decode().strip()
    if not os.path.isabs(path):
        raise Skip("cc1 is not installed")
    return path


SQL = ("create table t(a integer primary key, b text); with recursive n(i) as (select 1 union all "
       "select i + 1 from n where i < 500) insert into t select i, hex(i * 7919) from n; "
       "select count(*), max(b) from t where b like '3%';")
PYTHON = "import json, re; print(len(json.dumps([{'k': i} for i in range(2000)])), re.sub('a+', 'b', 'caat'))"
PERL = 'my %h; $h{$_ % 97} .= "x$_" for 1..2000; print scalar(keys %h), " ", length(join ",", sort values %h), "\n"'
BASH = 'f() { local i; for ((i = 0; i < 200; i++)); do a[i]="v$i"; done; }; f; echo ${#a[@]} ${a[7]}; shopt -s extglob; echo ${a[3]//v/w}'
AWK = '{ n[$1 % 50] += length($0) } END { for (k in n) s += n[k]; print s }'

COMMANDS = {
    "ls": ["ls", "-la", "tree/a"],
    "git log": ["git", "--no-pager", "log", "--stat", "--no-color"],
    "python3": ["/usr/bin/python3", "-I", "-S", "-c", PYTHON],
    "perl": ["perl", "-e", PERL],
    "cc1": [compiler_proper, "-quiet", "-O2", "small.c", "-o", "/dev/null"],
    "sqlite3": ["sqlite3", ":memory:", SQL],
    "bash": ["bash", "--norc", "--noprofile", "-c", BASH],
    "sort": ["sort", "--parallel=1", "-k1,1n", "-k2", "text"],
    "awk": ["gawk", AWK, "text"],
    "mawk": ["mawk", AWK, "text"],
    "tar": ["tar", "--owner=0", "--group=0", "--mtime=@0", "-cf", "out.tar", "tree"],
    "xz": ["xz", "-T1", "-1", "-k", "-c", "text"],
    "curl --version": ["curl", "--version"],
    "sed": ["sed", "-E", r"s/([0-9]+) line/\1 LINE/g; 5d; $!N", "text"],
    "grep": ["grep", "-Eic", "(line|text) [0-9]+ of", "text"],
    "find": ["find", "tree", "-type", "f", "-name", "*[13579]", "-newermt", "1990-01-01"],
    "jq": ["jq", "-c", "[.a[] | select(. % 3 == 0) * 2] | add", "data.json"],
    "make -n": ["make", "-n", "-f", "rules.mk"],
    "objdump": ["objdump", "-d", "-r", "-l", "small.o"],
    "cat": ["cat", "-A", "text"],
    "date": ["date", "-u", "-d", "2020-02-29 12:00 +1 year", "+%c %s"],
    "diff": ["diff", "-u", "text", "other"],
    "gzip": ["gzip", "-c", "-n", "text"],
    "openssl": ["openssl", "dgst", "-sha256", "text"],
    "join": ["join", "-o", "1.2,2.3", "--nocheck-order", "text", "other"],
    "bc": ["bc", "-l", "/dev/null"],
    "dash": ["dash", "-c", 'i=0; while [ $i -lt 200 ]; do i=$((i + 1)); set -- "$@" $i; done; echo $#'],
    "readelf": ["readelf", "-aW", "small.o"],
    "expr": ["expr", "abc123", ":", "\\([a-z]*\\)"],
}


def resolve(command):
    first = command[0]() if callable(command[0]) else need(command[0])
    return [first, *command[1:]]


def valgrind():
    """The program itself: Debian's valgrind is a shell script that changes the environment."""
    need("valgrind")
    return shutil.which("valgrind.bin") or shutil.which("valgrind")


def variable(done, name):
    text = re.search("^%s=(.*)$" % name, done.stdout.decode(), re.M)
    if not text:
        raise Failure("no %s in the environment of a program" % name)
    return text.group(1)


def lengthened(path, length):
    """A copy of the library whose path has the length wanted."""
    directory = os.path.join(scratch, "l" * (length - len(os.path.join(scratch, "", "libheaptop.so")) - 1))
    copy = os.path.join(directory, "libheaptop.so")
    if len(copy) != length:
        raise Skip("valgrind's LD_PRELOAD is too short to be matched")
    os.makedirs(directory, exist_ok=True)
    shutil.copy(path, copy)
    return copy


COMMON = dict(PATH=os.environ["PATH"], HOME=WORK, LC_ALL="C.UTF-8", TZ="UTC0", PWD=WORK, SHLVL=1, OLDPWD=WORK,
              _="/nothing", GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM=1, PYTHONHASHSEED=0,
              PERL_HASH_SEED=0, GLIBCPP_FORCE_NEW=1, GLIBCXX_FORCE_NEW=1, HEAPTOP_DIR=segments)


@functools.lru_cache(maxsize=None)
def environments():
    """(valgrind's, heaptop's): what each must be given so that the program gets the same from both."""
    base = {k: str(v) for k, v in COMMON.items()}
    env = "/usr/bin/env"
    preload = variable(run([valgrind(), *OPTIONS, "-q", env], env=base), "LD_PRELOAD")
    base["HEAPTOP_LIBRARY"] = lengthened(LIBRARY, len(preload))
    done, _ = report([env], env=base)
    given = {name: variable(done, name) for name in ("ASAN_OPTIONS", "HEAPTOP_SEGMENT")}
    return {**base, **given}, base


def by_valgrind(command):
    """Under a shell, since under heaptop the parent is a new process, too: bash keeps its number."""
    log = os.path.join(scratch, "valgrind.log")
    done = run(["/bin/sh", "-c", '"$@"; exit $?', "sh", valgrind(), *OPTIONS, "--log-file=" + log, "--", *command],
               env=environments()[0], cwd=WORK, timeout=200, preexec=fixed_addresses)
    with open(log, encoding="utf-8", errors="replace") as f:
        text = f.read()
    summary = re.search(r"total heap usage: ([\d,]+) allocs, ([\d,]+) frees, ([\d,]+) bytes", text)
    if not summary:
        raise Failure("no HEAP SUMMARY: " + text[-300:])
    pid = int(re.match(r"==(\d+)==", text).group(1))
    done.wrong_frees = len(re.findall(r"== (Mismatched|Invalid) free\(\)", text))
    return done, tuple(int(n.replace(",", "")) for n in summary.groups()), pid


def by_heaptop(command):
    done, rep = report(command, env=environments()[1], cwd=WORK, preexec=fixed_addresses)
    totals = rep["totals"]
    return done, (totals["allocs"], totals["frees"], totals["alloc_bytes"]), rep


def explain(rep, extra):
    """Sites whose count or size is the difference: where to look."""
    for s in sorted(rep["sites"], key=lambda s: s["allocs"]):
        if s["allocs"] == abs(extra[0]) or s["alloc_bytes"] == abs(extra[2]):
            return "; perhaps %s" % [f["function"] for f in s["stack"][:4]]
    return ""


def is_longer_now():
    """A segment is named after process and time: the next digit makes the environment longer."""
    before = len(environments()[0]["HEAPTOP_SEGMENT"])
    environments.cache_clear()
    return len(environments()[0]["HEAPTOP_SEGMENT"]) != before


def digits(pid):
    """The number of digits of its pid, and of its parent's, which is a little lower."""
    return len(str(pid)), len(str(max(pid - 9, 1)))


def compare(name, command, again=True):
    setup()
    command = resolve(command)
    reference, want, pid = by_valgrind(command)
    done, got, rep = by_heaptop(command)
    check_equal(done.stdout, reference.stdout, "output")
    check_equal(done.returncode, reference.returncode, "exit status")
    check_equal([(f["kind"], f["freed_by"]) for f in rep["wrong_frees"]][reference.wrong_frees:], [],
                "wrong frees that memcheck does not report")
    extra = tuple(g - w for g, w in zip(got, want))
    tables = extra[0]
    if extra == (tables, 0, tables * TABLES.get(name, 0)) and abs(tables) <= 2:
        return
    allowed, cause = DIFFERENCES.get(name, ((0, 0, 0), ""))
    if extra != allowed and again and (digits(pid) != digits(rep["process"]["pid"]) or is_longer_now()):
        compare(name, command, again=False)
        return
    if extra != allowed:
        raise Failure("heaptop %s, valgrind %s (allocs, frees, bytes): %+d %+d %+d, known is %s %s%s" % (
            got, want, *extra, allowed, cause, explain(rep, extra)))


for title, command_line in COMMANDS.items():
    known = DIFFERENCES.get(title)
    label = "%s: allocs, frees and bytes are valgrind's" % title
    if known:
        label += " (%+d %+d %+d: %s)" % (*known[0], known[1])
    add_case(label, lambda t=title, c=command_line: compare(t, c))

run_cases()
