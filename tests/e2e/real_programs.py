#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real programs, run without and with heaptop: output, exit status and the files they write must be
identical. Those that start children pass the library on to them, so these are tried as well."""

import os
import re
import shutil
import subprocess

from proving import (HEAPTOP, Failure, add_case, case, check, check_equal, environment, need, report,
                     run, run_cases, scratch, wait_for)

INPUT = os.path.join(scratch, "input")
HELLO_C = "#include <stdio.h>\nint main(void)\n{\n\tputs(\"hello\");\n\treturn 3;\n}\n"
HELLO_CC = ("#include <iostream>\n#include <map>\n#include <string>\nint main()\n{\n\t"
            "std::map<std::string, int> m;\n\tfor (int i = 0; i < 9; i++)\n\t\tm[std::to_string(i)] = i;\n\t"
            "std::cout << m.size() << \"\\n\";\n}\n")
MAKEFILE = "all: a b c\na b c: ; @echo made $@ > $@ && sort $@ && ls | wc -l > /dev/null\n"
CMAKE = "cmake_minimum_required(VERSION 3.13)\nproject(p NONE)\nmessage(STATUS \"seen ${PROJECT_NAME}\")\n"
JAVA = ("import java.util.*;\nclass Hello {\n\tpublic static void main(String[] a) {\n\t\t"
        "Map<Integer, String> m = new TreeMap<>();\n\t\tfor (int i = 0; i < 50000; i++)\n\t\t\t"
        "m.put(i * 7919 % 50021, \"v\" + i);\n\t\tSystem.out.println(m.size() + \" \" + m.hashCode());\n\t\t"
        "System.exit(4);\n\t}\n}\n")
NODE = ("const z = require('zlib'); const c = require('crypto');"
        "let s = 'x'.repeat(100000); let d = z.gzipSync(s);"
        "console.log(z.gunzipSync(d).length, c.createHash('sha256').update(s).digest('hex'));"
        "Promise.all([1, 2, 3].map(x => new Promise(r => setTimeout(() => r(x * 2), 5)))).then("
        "v => { console.log(v); process.exitCode = 5; });")
PYTHON = ("import threading, subprocess, sqlite3, json, sys, zlib\n"
          "out = []\n"
          "ts = [threading.Thread(target=lambda i=i: out.append(zlib.crc32(bytes([i]) * 10**5))) for i in range(8)]\n"
          "[t.start() for t in ts]; [t.join() for t in ts]\n"
          "print(sorted(out), subprocess.check_output(['echo', 'child']))\n"
          "c = sqlite3.connect(':memory:'); c.execute('create table t(a)')\n"
          "c.executemany('insert into t values(?)', [(i,) for i in range(1000)])\n"
          "print(c.execute('select sum(a) from t').fetchone()); sys.exit(6)\n")
PERL = 'my @k = map { my $p = fork; unless ($p) { my %h = map { $_ => 1 } 1 .. 5000; exit 3 } $p } 1 .. 3; my $s = 0; for (@k) { waitpid $_, 0; $s += $? >> 8 } print "$s\n"; print join(",", sort { $a <=> $b } map { $_ * 7919 % 101 } 1 .. 20), "\n"; exit 7'
RUBY = 'h = Hash.new(0); 20000.times { |i| h[i % 97] += i }; puts h.values.sum; t = 4.times.map { |i| Thread.new { "x" * i * 1000 } }; puts t.sum { |x| x.value.size }; exit 8'
BASH = 'for i in 1 2 3; do (echo sub $i; exit $i) & wait $!; echo $?; done; x=$(printf "%s\\n" b a c | sort | tr "\\n" " "); echo "$x"; trap "echo bye" EXIT; kill -0 $$; exit 9'
SQL = "create table t(a,b); with recursive n(i) as (select 1 union all select i+1 from n where i<20000) insert into t select i, hex(i) from n; create index x on t(b); select count(*), max(b) from t; .quit"
TCL = 'set l {}; for {set i 0} {$i < 5000} {incr i} {lappend l [expr {$i * 7919 % 5003}]}; puts [lindex [lsort -integer $l] 77]; exit 10'

# name: (argv, what goes to stdin, patterns in the output that differ between any two runs)
PROGRAMS = {
    "python3": (["/usr/bin/python3", "-c", PYTHON], None, []),
    "node": (["node", "-e", NODE], None, []),
    "perl": (["perl", "-e", PERL], None, []),
    "ruby": (["ruby", "-e", RUBY], None, []),
    "java": (["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "Hello.java"], None, []),
    "gcc": (["sh", "-c", "gcc -O2 -o hello hello.c && ./hello"], None, []),
    "g++": (["sh", "-c", "g++ -O1 -o hello2 hello.cc && ./hello2"], None, []),
    "clang": (["sh", "-c", "clang -O2 -c -o hello3.o hello.c && nm hello3.o"], None, []),
    "rustc": (["sh", "-c", "rustc --version && rustc -O hello.rs -o hello4 && ./hello4"], None, []),
    "git": (["sh", "-c", "rm -rf r && git init -q r && cd r && cp ../text . && git add . && git -c "
             "user.name=n -c user.email=e@example.org commit -qm m && git gc -q && git log --format=%s%n%T "
             "--stat && git grep -c line && git fsck"], None, []),
    "sqlite3": (["sqlite3", ":memory:"], SQL.replace("; ", ";\n"), []),
    "vim": (["vim", "-u", "NONE", "-es", "-c", "%s/line/LINE/g", "-c", "sort n", "-c", "w! out.vim",
             "-c", "qa!", "text"], None, []),
    "curl": (["curl", "-s", "file://" + INPUT + "/text"], None, []),
    "curl --version": (["curl", "--version"], None, []),
    "tar": (["sh", "-c", "tar --sort=name --mtime=@0 -czf out.tgz tree && tar -tvzf out.tgz"], None, []),
    "xz": (["sh", "-c", "xz -T2 -k -c text | xz -dc | sha256sum"], None, []),
    "zstd": (["sh", "-c", "zstd -T2 -q -c text | zstd -dc | sha256sum"], None, []),
    "zip": (["sh", "-c", "rm -f o.zip && zip -qrX o.zip tree && unzip -Z1 o.zip | sort"], None, []),
    "bash": (["bash", "-c", BASH], None, []),
    "dash": (["dash", "-c", "i=0; while [ $i -lt 50 ]; do i=$((i+1)); (exit $i); done; echo $i; exit 11"],
             None, []),
    "make": (["make", "-s", "-B", "-f", "rules.mk"], None, []),
    "cmake": (["sh", "-c", "rm -rf cm && cmake -S cmsrc -B cm | grep -v Build"], None, []),
    "gawk": (["gawk", "{ n[$1 % 50] += length($0) } END { for (k in n) s += n[k]; print s }", "text"],
             None, []),
    "mawk": (["mawk", "{ n[$1 % 50] += length($0) } END { for (k in n) s += n[k]; print s; exit 2 }",
              "text"], None, []),
    "sed": (["sed", "-E", r"s/([0-9]+) line/\1 LINE/g;$!N;P;D", "text"], None, []),
    "grep": (["grep", "-Pn", "line (1|2)\\d+ of", "text"], None, []),
    "sort": (["sort", "--parallel=4", "-S1M", "-k2", "text"], None, []),
    "find": (["sh", "-c", "find tree -type f -exec sha256sum {} + | sort | xargs -n 2 echo | tail -3"],
             None, []),
    "gdb": (["gdb", "-nx", "-batch", "-ex", "info line main", "-ex", "ptype main", "hello5"], None, []),
    "openssl": (["sh", "-c", "openssl dgst -sha256 text && openssl enc -aes-256-cbc -k p -S 0011223344556677 "
                 "-pbkdf2 -in text | openssl md5"], None, []),
    "jq": (["jq", "-c", "[.a[] | . * 2] | add", "data.json"], None, []),
    "man": (["man", "-P", "cat", "-l", "page.1"], None, []),
    "xmllint": (["xmllint", "--format", "page.xml"], None, []),
    "bc": (["bc", "-l"], "scale=60; 4*a(1)\n2^500\n", []),
    "tclsh": (["tclsh"], TCL, []),
    "ed": (["ed", "-s", "text"], "1,3p\n$=\nq\n", []),
    "ssh -V": (["ssh", "-V"], None, []),
    "less": (["less", "text"], None, []),
    "ps": (["sh", "-c", "ps -o comm= -p $$"], None, []),
    "env -i": (["env", "-i", "/usr/bin/env"], None, []),
}


def write(name, text):
    path = os.path.join(INPUT, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def setup():
    if os.path.exists(INPUT):
        return
    lines = ["%d line %d of the text with words %x" % (i * 7919 % 1000, i, i * i) for i in range(5000)]
    write("text", "\n".join(lines) + "\n")
    for i in range(20):
        write("tree/%d" % i, lines[i] + "\n")
    write("hello.c", HELLO_C)
    write("hello.cc", HELLO_CC)
    write("hello.rs", "fn main() { let v: Vec<u32> = (0..9).collect(); println!(\"{:?}\", v); }\n")
    write("Hello.java", JAVA)
    write("rules.mk", MAKEFILE)
    write("cmsrc/CMakeLists.txt", CMAKE)
    write("data.json", '{"a":[%s]}\n' % ",".join(map(str, range(900))))
    write("page.1", ".TH PAGE 1\n.SH NAME\npage \\- a page\n.SH TEXT\nSome \\fBbold\\fR text.\n")
    write("page.xml", "<r>%s</r>\n" % "".join("<i n='%d'/>" % i for i in range(300)))
    subprocess.run(["gcc", "-g", "-o", "hello5", "hello.c"], cwd=INPUT, check=False)


def common():
    return environment(HOME=INPUT, GIT_CONFIG_NOSYSTEM=1, GIT_AUTHOR_DATE="2020-01-01T00:00:00Z", TZ="UTC0",
                       GIT_COMMITTER_DATE="2020-01-01T00:00:00Z", MANWIDTH=80, PYTHONHASHSEED=0,
                       TERM="xterm", MANROFFOPT="")


def result(done, patterns):
    out, err = done.stdout, done.stderr
    for pattern in patterns:
        out, err = re.sub(pattern, b"", out), re.sub(pattern, b"", err)
    return {"status": done.returncode, "stdout": out, "stderr": err}


def compare(command, stdin, patterns):
    setup()
    program = need(command[0])
    if command[:2] == ["sh", "-c"]:
        need(command[2].split()[0] if not command[2].startswith("rm ") else command[2].split("&& ")[1].split()[0])
    how = dict(env=common(), cwd=INPUT, stdin=stdin.encode() if stdin else None, timeout=120)
    plain = result(run([program, *command[1:]], **how), patterns)
    done, rep = report([program, *command[1:]], **how)
    watched = result(done, patterns)
    for what, value in plain.items():
        if watched[what] != value:
            raise Failure("%s without: %r with: %r" % (what, value[-300:] if what != "status" else value,
                          watched[what][-300:] if what != "status" else watched[what]))
    check(rep["totals"]["allocs"] > 0 or command[0] in ("env", "dash"), "nothing was recorded")


for title, (argv, text_in, differs) in PROGRAMS.items():
    add_case("%s: same output and exit status" % title,
             lambda a=argv, t=text_in, d=differs: compare(a, t, d))


def redis_talk(prefix):
    """A server, a benchmark against it, a few commands; what these said and how the server ended."""
    socket = os.path.join(scratch, "redis.sock")
    server = subprocess.Popen(
        [*prefix, need("redis-server"), "--port", "0", "--unixsocket", socket, "--save", "", "--daemonize",
         "no", "--dir", scratch], env=common(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    try:
        wait_for(lambda: os.path.exists(socket), "redis-server listens", 30)
        bench = run([need("redis-benchmark"), "-s", socket, "-n", "20000", "-t",
                     "set,get,lpush,lpop,sadd,hset", "-r", "1000", "-q", "--csv"], timeout=100)
        said = run(["redis-cli", "-s", socket],
                   stdin=b"set k v\nget k\nlpush l a b c\nlrange l 0 -1\ndbsize\nflushall\ndbsize\n").stdout
        run(["redis-cli", "-s", socket, "shutdown", "nosave"])
        server.communicate(timeout=30)
    finally:
        if server.poll() is None:
            server.kill()
            server.communicate()
    said = re.sub(rb"(?m)^\d{3,}$", b"N", said)
    tests = [line.split(b",")[0] for line in bench.stdout.splitlines()]
    return server.returncode, bench.returncode, tests, said


@case("redis-server with redis-benchmark: same answers and exit status")
def redis():
    plain = redis_talk([])
    out = os.path.join(scratch, "redis.json")
    watched = redis_talk([HEAPTOP, "--report", "--format", "json", "-o", out, "--"])
    check_equal(watched, plain, "the server's end and answers")
    check(os.path.getsize(out) > 1000, "no report of the server")


def tmux_talk(prefix, name):
    made = os.path.join(scratch, name)
    done = run([*prefix, need("tmux"), "-L", name, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y",
                "24", "printf 'in tmux\\n'; echo done > %s; sleep 60" % made], env=common())
    wait_for(lambda: os.path.exists(made) and os.path.getsize(made), "tmux runs the command", 20)
    pane = wait_for(lambda: run(["tmux", "-L", name, "capture-pane", "-p"], env=common()).stdout.strip(),
                    "the pane shows it", 20)
    end = run(["tmux", "-L", name, "kill-server"], env=common())
    return done.returncode, done.stdout, pane, end.returncode


@case("tmux: same session and exit status")
def tmux():
    need("tmux")
    out = os.path.join(scratch, "tmux.json")
    plain = tmux_talk([], "plain%d" % os.getpid())
    watched = tmux_talk([HEAPTOP, "--report", "--format", "json", "-o", out, "--"],
                        "watched%d" % os.getpid())
    check_equal(watched, plain, "the session")


@case("the files that compilers and archivers wrote are the same")
def files():
    """Built once more without heaptop and compared byte by byte with what was built under it."""
    setup()
    for name, command in (("hello", ["gcc", "-O2", "-o", "hello", "hello.c"]),
                          ("out.tgz", ["sh", "-c", "tar --sort=name --mtime=@0 -cf - tree | gzip -n > out.tgz"])):
        report(command, env=common(), cwd=INPUT)
        path = os.path.join(INPUT, name)
        shutil.move(path, path + ".watched")
        run(command, env=common(), cwd=INPUT)
        with open(path, "rb") as a, open(path + ".watched", "rb") as b:
            check(a.read() == b.read(), name + " differs")


run_cases()
