# SPDX-License-Identifier: GPL-3.0-or-later
"""Real programs, one list for two uses: the fault matrix runs each plain and watched and compares
(group_p_programs.py), the bench measures what heaptop costs them (make bench-programs). Each runs in a fresh
folder with the same files. Not a test itself."""

import os
import shutil
import subprocess
from typing import Callable, NamedTuple, Optional

from proving import Skip, environment, need, scratch

FILES = os.path.join(scratch, "files")  # what each program finds in its folder
WORK = os.path.join(scratch, "work")    # that folder: the same path in each run
ALLOCATORS = "/usr/lib/x86_64-linux-gnu/lib%s.so.%d"


class Program(NamedTuple):
    """argv[0] must be installed, and so must what `needs` names. `stdin`: text, or nothing. `drive`: for a
    program that waits for someone (servers.py): does what a client or user would, and gives what it got as
    answer. `varies`: patterns in output, answer and descriptors that differ between any two runs, and
    files that do (both as regular expressions). `loose`: why threads and descriptors come and go in it.
    `fast`: run by make check, too. `terminal`: it runs on one. `user`: whom root is to run it as.
    `uncounted`: why the other recorder's counts are others. `leaves`: why segments stay at its end."""
    argv: list
    stdin: Optional[str] = None
    needs: tuple = ()
    env: dict = {}
    drive: Optional[Callable] = None
    varies: tuple = ()
    loose: str = ""
    fast: bool = False
    terminal: bool = False
    user: str = ""
    uncounted: str = ""
    leaves: str = ""


HELLO_C = "#include <stdio.h>\nint main(void)\n{\n\tputs(\"hello\");\n\treturn 3;\n}\n"
HELLO_CC = ("#include <iostream>\n#include <map>\n#include <string>\nint main()\n{\n\t"
            "std::map<std::string, int> m;\n\tfor (int i = 0; i < 9; i++)\n\t\tm[std::to_string(i)] = i;\n\t"
            "std::cout << m.size() << \"\\n\";\n}\n")
FORTRAN = ("program p\n  real, allocatable :: a(:)\n  integer :: i\n  do i = 1, 50\n    allocate(a(i * 100))\n"
           "    a = i\n    if (mod(i, 10) == 0) print *, sum(a)\n    deallocate(a)\n  end do\n  stop 4\n"
           "end program\n")
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
PERL = ("my @k = map { my $p = fork; unless ($p) { my %h = map { $_ => 1 } 1 .. 5000; exit 3 } $p } 1 .. 3; "
        "my $s = 0; for (@k) { waitpid $_, 0; $s += $? >> 8 } print \"$s\\n\"; "
        "print join(\",\", sort { $a <=> $b } map { $_ * 7919 % 101 } 1 .. 20), \"\\n\"; exit 7")
RUBY = ("h = Hash.new(0); 20000.times { |i| h[i % 97] += i }; puts h.values.sum; "
        "t = 4.times.map { |i| Thread.new { \"x\" * i * 1000 } }; puts t.sum { |x| x.value.size }; exit 8")
BASH = ("for i in 1 2 3; do (echo sub $i; exit $i) & wait $!; echo $?; done; "
        "x=$(printf \"%s\\n\" b a c | sort | tr \"\\n\" \" \"); echo \"$x\"; trap \"echo bye\" EXIT; "
        "kill -0 $$; exit 9")
ZSH = ("typeset -A a; for i in {1..2000}; do a[$i]=$((i*7919%2003)); done; print ${#a} ${a[77]}; "
       "print -l *(.N) | head -3; x=$(print b | tr b c); print $x; exit 12")
SQL = ("create table t(a,b);\nwith recursive n(i) as (select 1 union all select i+1 from n where i<20000) "
       "insert into t select i, hex(i) from n;\ncreate index x on t(b);\nselect count(*), max(b) from t;\n.quit")
TCL = ("set l {}; for {set i 0} {$i < 5000} {incr i} {lappend l [expr {$i * 7919 % 5003}]}; "
       "puts [lindex [lsort -integer $l] 77]; exit 10")
PHP = ("$a = []; for ($i = 0; $i < 20000; $i++) $a[] = md5((string)$i); sort($a); echo $a[77], \"\\n\"; "
       "echo strlen(json_encode($a)), \"\\n\"; exit(13);")
LUA = ("local t = {} for i = 1, 20000 do t[i] = tostring(i * 7919 % 20011) end table.sort(t) print(#t, t[77]) "
       "collectgarbage() os.exit(14)")
GUILE = ("(let loop ((i 0) (l '())) (if (< i 30000) (loop (+ i 1) (cons (* i i) l)) "
         "(begin (display (apply + l)) (newline) (gc) (exit 15))))")
OCAML = ("let () = let h = Hashtbl.create 16 in for i = 0 to 20000 do Hashtbl.replace h (i * 7919 mod 20011) "
         "(string_of_int i) done; Printf.printf \"%d\\n\" (Hashtbl.length h); exit 16\n")
SBCL = ("(progn (let ((h (make-hash-table))) (dotimes (i 200000) (setf (gethash (mod (* i 7919) 20011) h) "
        "(list i))) (sb-ext:gc :full t) (format t \"~a~%\" (hash-table-count h))) (sb-ext:exit :code 17))")
ERLANG = ("P = [spawn_monitor(fun() -> lists:sort([(I * X) rem 1009 || I <- lists:seq(1, 3000)]) end) || "
          "X <- lists:seq(1, 20)], [receive {'DOWN', R, _, _, Why} -> Why end || {_, R} <- P], "
          "io:format(\"~p~n\", [length(P)]), halt(18).")
KSH = ("typeset -A a; for ((i = 0; i < 2000; i++)); do a[$((i * 7919 % 2003))]=$i; done; print ${#a[@]} ${a[77]}; "
       "x=$(print b | tr b c); (exit 4) & wait $!; print $x $?; exit 21")
FISH = ("set l (seq 3000); for i in $l; set -a m (math $i % 97); end; count $m; string join , $m[5..9]; "
        "echo b | tr b c; function f; return 4; end; f; echo $status; exit 22")
PROLOG = ("numlist(1, 20000, L), foldl([X, A, B]>>(B is A + X * X), L, 0, S), print(S), nl, "
          "length(M, 500), maplist([X]>>atom_length(abc, X), M), garbage_collect, halt(20).")
RESTIC = ("restic init -q && restic backup -q tree && restic restore -q latest --target out && "
          "diff -r tree out/tree && restic check -q && echo same")
GIT = ("git init -q r && cd r && cp ../text . && git add . && git -c user.name=n -c user.email=e@example.org "
       "commit -qm m && git gc -q && git log --format=%s%n%T --stat && git grep -c line && git fsck")
PREPARE = ("from array import array\nd = {str(i): [i] * (i % 50) for i in range(20000)}\n"
           "a = array('d', range(10000))\nprint(sum(map(len, d.values())), sum(a))\n")

# Files that hold times, pids or the like, and so are not compared.
GIT_FILES = r"r/\.git/(index|logs/|objects/|gc\.pid)", r"\.cache/"
GO = "its runtime starts threads and opens the descriptors of its poller when it happens to need them"
JVM = "it starts threads that compile as it finds work for them"
BROWSER = "its pools of threads grow and shrink, and how its processes end depends on who is first"


def shell(line, *needs, **more):
    return Program(["sh", "-c", line], needs=needs, **more)


def with_allocator(name, version, **more):
    return Program(["/usr/bin/python3", "-c", PREPARE], env={"LD_PRELOAD": ALLOCATORS % (name, version),
                                                           "PYTHONMALLOC": "malloc"}, **more)


PROGRAMS = {
    "python3": Program(["/usr/bin/python3", "-c", PYTHON], fast=True),
    "node": Program(["node", "-e", NODE]),
    "perl": Program(["perl", "-e", PERL], fast=True),
    "ruby": Program(["ruby", "-e", RUBY]),
    # All threads of its compiler from the start: else it adds one when methods wait for long.
    "java": Program(["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:-UseDynamicNumberOfCompilerThreads",
                     "-XX:-UseDynamicNumberOfGCThreads", "Hello.java"],
                    loose="threads that it stops at its end may not have gone yet"),
    "gcc": shell("gcc -O2 -o hello hello.c && ./hello", "gcc", fast=True),
    "g++": shell("g++ -O1 -o hello2 hello.cc && ./hello2", "g++"),
    "clang": shell("clang -O2 -c -o hello3.o hello.c && nm hello3.o", "clang"),
    "rustc": shell("rustc --version && rustc -O hello.rs -o hello4 && ./hello4", "rustc"),
    "gfortran": shell("gfortran -O2 hello.f90 -o hello6 && ./hello6", "gfortran"),
    "git": shell(GIT, "git", varies=GIT_FILES, fast=True),
    "sqlite3": Program(["sqlite3", ":memory:"], SQL, fast=True),
    "vim -es": Program(["vim", "-u", "NONE", "-es", "-c", "%s/line/LINE/g", "-c", "sort n", "-c", "w! out.vim",
                        "-c", "qa!", "text"]),
    "curl": Program(["curl", "-s", "file://" + WORK + "/text"], fast=True),
    "curl --version": Program(["curl", "--version"]),
    "tar": shell("tar --sort=name --mtime=@0 -cf - tree | gzip -n > out.tgz && tar -tvzf out.tgz", "tar", fast=True),
    "xz": shell("xz -T2 -k -c text | xz -dc | sha256sum", "xz", fast=True),
    "zstd": shell("zstd -T2 -q -c text | zstd -dc | sha256sum", "zstd"),
    "zip": shell("zip -qrX o.zip tree && unzip -Z1 o.zip | sort", "zip", "unzip"),
    "bash": Program(["bash", "-c", BASH], fast=True),
    "dash": Program(["dash", "-c", "i=0; while [ $i -lt 50 ]; do i=$((i+1)); (exit $i); done; echo $i; exit 11"],
                    fast=True),
    "zsh": Program(["zsh", "-f", "-c", ZSH]),
    "busybox": Program(["busybox", "sh", "-c", "sort text | awk '{s+=$1} END {print s}'; vi --help 2>&1 | head -1"]),
    "make": Program(["make", "-s", "-B", "-f", "rules.mk"], fast=True),
    "cmake": shell("cmake -S cmsrc -B cm | grep -v Build", "cmake", varies=(r"cm/CMakeFiles/",)),
    "gawk": Program(["gawk", "{ n[$1 % 50] += length($0) } END { for (k in n) s += n[k]; print s }", "text"]),
    "mawk": Program(["mawk", "{ n[$1 % 50] += length($0) } END { for (k in n) s += n[k]; print s; exit 2 }", "text"]),
    "sed": Program(["sed", "-E", r"s/([0-9]+) line/\1 LINE/g;$!N;P;D", "text"]),
    "grep": Program(["grep", "-Pn", "line (1|2)\\d+ of", "text"]),
    "sort": Program(["sort", "--parallel=4", "-S1M", "-k2", "text"], fast=True),
    "find": shell("find tree -type f -exec sha256sum {} + | sort | xargs -n 2 echo | tail -3", "find", fast=True),
    "gdb": Program(["gdb", "-nx", "-batch", "-ex", "info line main", "-ex", "ptype main", "hello5"]),
    "openssl": shell("openssl dgst -sha256 text && openssl enc -aes-256-cbc -k p -S 0011223344556677 "
                     "-pbkdf2 -in text | openssl md5", "openssl"),
    "jq": Program(["jq", "-c", "[.a[] | . * 2] | add", "data.json"], fast=True),
    "man": Program(["man", "-P", "cat", "-l", "page.1"]),
    "xmllint": Program(["xmllint", "--format", "page.xml"]),
    "bc": Program(["bc", "-l"], "scale=60; 4*a(1)\n2^500\n"),
    "tclsh": Program(["tclsh"], TCL),
    "ed": Program(["ed", "-s", "text"], "1,3p\n$=\nq\n"),
    "ssh -V": Program(["ssh", "-V"]),
    "less": Program(["less", "text"]),
    "ps": shell("ps -o comm= -p $$", "ps"),
    "env -i": Program(["env", "-i", "/usr/bin/env"]),
    "php": Program(["php", "-n", "-r", PHP]),
    "php, its extensions": Program(["php", "-r", "echo ctype_alpha('a'), iconv('utf-8', 'latin1', 'a');" + PHP],
                                   uncounted="they pass the other recorder by (RTLD_DEEPBIND)"),
    "lua": Program(["lua", "-e", LUA]),
    "luajit": Program(["luajit", "-e", LUA]),
    "guile": Program(["guile", "--no-auto-compile", "-c", GUILE]),
    "ocaml": Program(["ocaml", "hello.ml"]),
    "sbcl": Program(["sbcl", "--no-userinit", "--non-interactive", "--eval", SBCL]),
    "erlang": Program(["erl", "-noshell", "-eval", ERLANG], varies=(r".*inet_gethost.*",)),
    "ripgrep (Rust)": Program(["rg", "-j2", "--sort=path", "-c", "line [12]", "text", "tree"], fast=True),
    "fd (Rust, jemalloc)": shell("fdfind -j2 . tree | sort", "fdfind", fast=True),
    "restic (Go)": shell(RESTIC, "restic", varies=(r"^(repo|\.cache)/",),
                         env={"RESTIC_REPOSITORY": "repo", "RESTIC_PASSWORD": "p"}, loose=GO),
    "fzf (Go)": Program(["fzf", "-f", "line 77"], "\n".join("%d line %d" % (i, i * 7) for i in range(2000)) + "\n",
                        loose=GO),
    "python3, jemalloc": with_allocator("jemalloc", 2),
    "python3, tcmalloc": with_allocator("tcmalloc_minimal", 4, uncounted="its operator new is no malloc"),
    "python3, mimalloc": with_allocator("mimalloc", 2),
    "ghostscript": Program(["gs", "-q", "-dNOPAUSE", "-dBATCH", "-sDEVICE=pgmraw", "-r20", "-sOutputFile=out.pgm",
                            "page.ps"]),
    "gnuplot": Program(["gnuplot", "-e", "set term dumb; plot [0:6] sin(x)"]),
    "graphviz": shell("dot -Tplain page.dot | sort", "dot"),
    "ffmpeg": Program(["ffmpeg", "-nostdin", "-v", "error", "-threads", "2", "-f", "lavfi", "-i",
                       "testsrc=d=1:s=160x120", "-f", "framemd5", "-"]),
    "rsync": shell("rsync -a tree/ copy/ && diff -r tree copy && rsync -ani tree/ copy/", "rsync"),
    "svn": shell("svnadmin create r && svn co -q file://$PWD/r w && cp text w/ && cd w && svn add -q text && "
                 "svn ci -qm m && svn up && svn log -q | wc -l", "svn", varies=(r"^(r|w/\.svn|\.subversion)/",)),
    "pandoc (Haskell)": Program(["pandoc", "-f", "markdown", "-t", "html", "page.md"]),
    "chromium": Program(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + WORK + "/profile",
                         "--dump-dom", "page.html"], loose=BROWSER, varies=(r"^profile/", r"(?m)^.*\[.*\n", r"^\.",
                                                              r"^/usr/lib/chromium/.*")),
    "tcc": shell("tcc -o hello7 hello.c && ./hello7; echo $?; tcc -run hello.c", "tcc"),
    "swi-prolog": Program(["swipl", "-q", "-f", "none", "-g", PROLOG], loose="a thread of its own collects atoms",
                          uncounted="that thread may be at work when it ends"),
    "ksh": Program(["ksh93", "-c", KSH]),
    "fish": Program(["fish", "--no-config", "-c", FISH], loose="a thread waits a while for more to do", varies=(r"^\.(config|local|cache)/",)),
    "java, all its compilers": Program(["java", "-Xshare:auto", "Hello.java"], loose=JVM),
    "w3m": Program(["w3m", "-dump", "-T", "text/html", "page.html"], varies=(r"\.w3m/",)),
}


def write(name, text):
    path = os.path.join(FILES, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def files_make():
    lines = ["%d line %d of the text with words %x" % (i * 7919 % 1000, i, i * i) for i in range(5000)]
    write("text", "\n".join(lines) + "\n")
    for i in range(20):
        write("tree/%d" % i, lines[i] + "\n")
    write("hello.c", HELLO_C)
    write("hello.cc", HELLO_CC)
    write("hello.f90", FORTRAN)
    write("hello.ml", OCAML)
    write("hello.rs", "fn main() { let v: Vec<u32> = (0..9).collect(); println!(\"{:?}\", v); }\n")
    write("Hello.java", JAVA)
    write("rules.mk", MAKEFILE)
    write("cmsrc/CMakeLists.txt", CMAKE)
    write("data.json", '{"a":[%s]}\n' % ",".join(map(str, range(900))))
    write("page.1", ".TH PAGE 1\n.SH NAME\npage \\- a page\n.SH TEXT\nSome \\fBbold\\fR text.\n")
    write("page.xml", "<r>%s</r>\n" % "".join("<i n='%d'/>" % i for i in range(300)))
    write("page.html", "<h1>Head</h1><table>%s</table>" % "".join("<tr><td>%d<td>x" % i for i in range(99)))
    write("page.md", "\n\n".join("# Head %d\n\nSome *text* with `code` and [link](x)." % i for i in range(50)))
    write("page.ps", "%%!PS\n/Helvetica findfont 20 scalefont setfont 72 400 moveto (heap) show\n%s showpage\n" %
          "".join("newpath %d %d 9 0 360 arc fill\n" % (i * 9, i * 7) for i in range(60)))
    write("page.dot", "digraph g { %s }\n" % "".join("n%d -> n%d;" % (i, i * 7 % 40) for i in range(60)))
    subprocess.run(["gcc", "-g", "-o", "hello5", "hello.c"], cwd=FILES, check=False)


def folder_fresh():
    """The folder of the next run, with the files that programs are given."""
    if not os.path.exists(FILES):
        files_make()
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.copytree(FILES, WORK)


def command(program):
    """Its argv with the whole path, or Skip."""
    for other in program.needs:
        need(other)
    preload = program.env.get("LD_PRELOAD")
    if preload and not os.path.exists(preload):
        raise Skip(preload + " is not installed")
    return [need(program.argv[0]), *program.argv[1:]]


def variables(program, **more):
    """What a program finds in its environment: the same in each run, wherever that is."""
    return environment(HOME=WORK, GIT_CONFIG_NOSYSTEM=1, GIT_AUTHOR_DATE="2020-01-01T00:00:00Z", TZ="UTC0",
                       GIT_COMMITTER_DATE="2020-01-01T00:00:00Z", MANWIDTH=80, PYTHONHASHSEED=0, MANROFFOPT="",
                       TERM="xterm", XDG_CACHE_HOME=WORK + "/.cache", **{**program.env, **more})
