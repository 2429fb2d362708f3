#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that people use, run to their end: each block that they did not free has one class, and what is lost is
what memcheck calls lost, to the byte. A few of them, with SOAK=1 all (make deps soak installs them).

A word that a program never writes may hold a pointer of the former user of that memory, and so keep a block:
memcheck alone knows that it is undefined. So where heaptop finds less than memcheck, malloc is told to fill what it
hands out, and then both must find the same."""

import atexit
import ctypes
import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from typing import NamedTuple, Optional

import memchecked
from proving import ROOT, Skip, add_case, check, check_equal, environment, need, report, run, run_cases, scratch, wait_for

sys.path.append(os.path.join(ROOT, "tests", "faults"))
from real_programs import FILES, SQL, WORK, folder_fresh, write  # pylint: disable=wrong-import-position

SOAK = bool(os.environ.get("SOAK"))
TIMEOUT_S = 600
NO_RANDOMIZE = 0x0040000
LOST = ("definite", "indirect")
FILLED = {"GLIBC_TUNABLES": "glibc.malloc.perturb=85:glibc.malloc.tcache_count=0"}  # what is cached is not filled


class Program(NamedTuple):
    """An argument {url} is an HTTP server's, {redis} and {postgres} are sockets of such servers. `fast`: run by
    make check, too. `uncompared`: nothing of memcheck's is a measure for it. `because`: why, or why its memory has to
    be filled."""
    argv: list
    stdin: str = ""
    fast: bool = False
    finder: Optional[list] = None  # a command that prints the path of argv[0]
    status: int = 0
    uncompared: bool = False
    because: str = ""


AWK = "{ n[$1 % 50] += length($0) } END { for (k in n) s += n[k]; print s }"
PROGRAMS = {
    "wget": Program(["wget", "-q", "-O", "got", "{url}/text"], fast=True),
    "qpdf": Program(["qpdf", "--qdf", "page.pdf", "out.pdf"], fast=True),
    "pdftotext": Program(["pdftotext", "page.pdf", "-"], fast=True),
    "gs": Program(["gs", "-q", "-dNOPAUSE", "-dBATCH", "-sDEVICE=pgmraw", "-r20", "-sOutputFile=out.pgm", "page.ps"]),
    "tesseract": Program(["tesseract", "page.png", "-"]),
    "psql": Program(["psql", "-X", "-h", "{postgres}", "-U", "postgres", "-At", "-c", "select sum(i) from generate_series(1, 9) i"],
                    finder=["sh", "-c", "ls /usr/lib/postgresql/*/bin/psql"]),
    "psql, no server": Program(["psql", "-X", "-h", WORK, "-c", "select 1"], status=2,
                               finder=["sh", "-c", "ls /usr/lib/postgresql/*/bin/psql"]),
    "dot": Program(["dot", "-Tcanon", "page.dot"], uncompared=True,
                   because="its threads are still at work when it ends, and memcheck's own figures vary with that"),
    "curl": Program(["curl", "-s", "-o", "got", "{url}/text"], fast=True),
    "convert": Program(["convert", "page.png", "-resize", "50%", "small.png"], finder=["sh", "-c", "ls /usr/bin/convert"]),
    "emacs": Program(["emacs", "-Q", "--batch", "--eval", "(message \"%d\" (length (make-list 1000 1)))"]),
    "git log": Program(["git", "--no-pager", "-C", "repo", "log", "--stat"], fast=True),
    "sqlite3": Program(["sqlite3", ":memory:"], stdin=SQL),
    "perl": Program(["perl", "-e", "my %h; $h{$_ % 97} .= \"x$_\" for 1..2000; print scalar(keys %h)"], fast=True),
    "python3": Program(["/usr/bin/python3", "-c", "import json; print(len(json.dumps([{'k': i} for i in range(2000)])))"]),
    "cc1": Program(["cc1", "-quiet", "-O2", "hello.c", "-o", "hello.s"], finder=["gcc", "-print-prog-name=cc1"]),
    "as": Program(["as", "-o", "empty.o", "/dev/null"]),
    "ld": Program(["ld", "-r", "-o", "out.o", "hello.o"], fast=True),
    "gdb": Program(["gdb", "-nx", "-batch", "-ex", "info line main", "hello5"],
                   because="an obstack's chunk takes the place of an array that points to some of the blocks"),
    "objdump": Program(["objdump", "-d", "-r", "hello.o"]),
    "readelf": Program(["readelf", "-aW", "hello.o"]),
    "tar": Program(["tar", "-cf", "out.tar", "tree"]),
    "gzip": Program(["gzip", "-kf", "text"]),
    "xz": Program(["xz", "-T1", "-kf", "text"]),
    "zstd": Program(["zstd", "-qf", "text"]),
    "zip": Program(["zip", "-qrX", "out.zip", "tree"]),
    "openssl": Program(["openssl", "dgst", "-sha256", "text"]),
    "jq": Program(["jq", "-c", "[.a[] | . * 2] | add", "data.json"]),
    "xmllint": Program(["xmllint", "--format", "page.xml"]),
    "gawk": Program(["gawk", AWK, "text"]),
    "mawk": Program(["mawk", AWK, "text"]),
    "sed": Program(["sed", "-E", r"s/([0-9]+) line/\1 LINE/g;$!N;P;D", "text"]),
    "grep": Program(["grep", "-Pc", r"line (1|2)\d+ of", "text"]),
    "sort": Program(["sort", "--parallel=1", "-k2", "text"], fast=True),
    "find": Program(["find", "tree", "-type", "f", "-name", "*1"]),
    "bash": Program(["bash", "--norc", "-c", "for i in 1 2 3; do a[i]=v$i; done; echo ${a[2]}"]),
    "zsh": Program(["zsh", "-f", "-c", "typeset -A a; for i in {1..200}; do a[$i]=$i; done; print ${#a}"]),
    "tmux -V": Program(["tmux", "-V"]),
    "rg": Program(["rg", "-j1", "-c", "line [12]", "text"]),
    "redis-cli": Program(["redis-cli", "-s", "{redis}", "mset", "a", "1", "b", "2"]),
    "rsync": Program(["rsync", "-a", "tree/", "copy/"]),
    "man": Program(["man", "-P", "cat", "-l", "page.1"]),
    "groff": Program(["groff", "-man", "-Tascii", "page.1"],
                     because="the last word of an array, never written, points to one of the blocks"),
    "vim -es": Program(["vim", "-u", "NONE", "-es", "-c", "%s/line/LINE/g", "-c", "w! out.vim", "-c", "qa!", "text"]),
    "tclsh": Program(["tclsh"], stdin="puts [llength {1 2 3}]\n"),
    "node": Program(["node", "-e", "let m = new Map(); for (let i = 0; i < 1000; i++) m.set(i, 'x' + i); console.log(m.size)"]),
}

# ---- what they work on ----

PDF = ("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
       "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
       "<< /Length 49 >>\nstream\nBT /F 24 Tf 20 100 Td (Some text in a page) Tj ET\nendstream",
       "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")


def pdf_text():
    text, places = "%PDF-1.4\n", []
    for number, body in enumerate(PDF, 1):
        places.append("%010d 00000 n \n" % len(text))
        text += "%d 0 obj\n%s\nendobj\n" % (number, body)
    return "%sxref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        text, len(PDF) + 1, "".join(places), len(PDF) + 1, len(text))


def repository_make():
    for step in (["init", "-q", "."], ["add", "text"],
                 ["-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-qm", "first"]):
        subprocess.run(["git", "-C", os.path.join(FILES, "repo"), *step], env=variables(), check=False)


@functools.lru_cache(maxsize=None)
def files_make():
    folder_fresh()
    write("page.pdf", pdf_text())
    write("repo/text", "a line\n" * 100)
    repository_make()
    for maker in (["gcc", "-g", "-c", "hello.c"],
                  ["gs", "-q", "-dNOPAUSE", "-dBATCH", "-sDEVICE=pnggray", "-r60", "-sOutputFile=page.png", "page.pdf"]):
        if shutil.which(maker[0]):
            subprocess.run(maker, cwd=FILES, check=False)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@functools.lru_cache(maxsize=None)
def url():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=FILES))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d" % server.server_port


def serve(argv, ready, what):
    """A server until the test ends."""
    process = subprocess.Popen(argv, env=variables(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    atexit.register(process.wait)
    atexit.register(process.terminate)
    wait_for(lambda: process.poll() is not None or ready(), what)
    check_equal(process.poll(), None, "status of " + what)


@functools.lru_cache(maxsize=None)
def redis():
    path = os.path.join(scratch, "redis")
    serve([need("redis-server"), "--port", "0", "--unixsocket", path, "--save", "", "--dir", scratch],
          lambda: run(["redis-cli", "-s", path, "ping"]).stdout == b"PONG\n", "redis-server")
    return path


@functools.lru_cache(maxsize=None)
def postgres():
    """It does not run for root."""
    initdb = run(["sh", "-c", "ls /usr/lib/postgresql/*/bin/initdb | tail -1"]).stdout.decode().strip()
    if not initdb:
        raise Skip("postgresql is not installed")
    folder = os.path.join(scratch, "postgres")
    os.mkdir(folder)
    change = []
    if os.geteuid() == 0:
        os.chmod(scratch, 0o711)
        shutil.chown(folder, "postgres")
        change = [need("setpriv"), "--reuid=postgres", "--regid=postgres", "--init-groups", "--"]
    data = os.path.join(folder, "data")
    done = run([*change, initdb, "-D", data, "-U", "postgres", "--no-sync"], cwd=folder)
    check_equal(done.returncode, 0, "status of initdb (%s)" % done.stderr.decode())
    serve([*change, os.path.join(os.path.dirname(initdb), "postgres"), "-D", data, "-k", folder, "-c", "listen_addresses=",
           "-c", "fsync=off", "-c", "shared_buffers=16MB"],
          lambda: run([os.path.join(os.path.dirname(initdb), "pg_isready"), "-h", folder]).returncode == 0, "postgres")
    return folder


SERVERS = {"{url}": url, "{redis}": redis, "{postgres}": postgres}


def filled(argument):
    for place, server in SERVERS.items():
        if place in argument:
            return argument.replace(place, server())
    return argument


def command(program):
    if program.finder:
        need(program.finder[0])
        path = run(program.finder).stdout.decode().split()
        if not path or not os.path.isabs(path[-1]):
            raise Skip(program.argv[0] + " is not installed")
        path = path[-1]
    else:
        path = need(program.argv[0])
    return [path, *map(filled, program.argv[1:])]


# ---- both runs ----


def variables(**more):
    """The same for both; threads that come and go would make two runs differ, and man has no sandbox under valgrind."""
    return environment(**more, HOME=WORK, TZ="UTC0", TERM="xterm", PYTHONHASHSEED=0, PERL_HASH_SEED=0,
                       GIT_CONFIG_NOSYSTEM=1, OMP_THREAD_LIMIT=1, OPENBLAS_NUM_THREADS=1, MAN_DISABLE_SECCOMP=1)


def fixed_addresses():
    ctypes.CDLL(None).personality(NO_RANDOMIZE)


def how(program, **more):
    folder_fresh()
    return dict(env=variables(**more), cwd=WORK, stdin=program.stdin.encode(), timeout=TIMEOUT_S, preexec=fixed_addresses)


def figures(total):
    return total["blocks"], total["bytes"]


def by_heaptop(program, argv, **more):
    done, rep = report(argv, ["--leak-check"], **how(program, **more))
    check_equal(done.returncode, program.status, "status (%s)" % done.stderr.decode(errors="replace"))
    check(rep["leaks"]["failed"] is None, rep["leaks"]["failed"])
    check_whole(rep)
    return {kind: figures(rep["leaks"][kind]) for kind in LOST}


def check_whole(rep):
    """Every block that was not freed has one class."""
    leaks, totals = rep["leaks"], rep["totals"]
    classes = [figures(leaks[kind]) for kind in (*memchecked.CLASSES, "suppressed")]
    check_equal(tuple(map(sum, zip(*classes))), (totals["live_blocks"], totals["live_bytes"]), "sum of the classes")


def by_memcheck(program, argv):
    done, leaks = memchecked.leaks_of(argv, **how(program))
    check_equal(done.returncode, program.status, "status under valgrind")
    theirs = memchecked.sums(leaks)
    return {kind: theirs.get(kind, (0, 0)) for kind in LOST}


def blocks(lost):
    return sum(figure[0] for figure in lost.values())


def try_it(program):
    files_make()
    argv = command(program)
    ours = by_heaptop(program, argv)
    if program.uncompared:
        return
    theirs = by_memcheck(program, argv)
    if blocks(ours) < blocks(theirs):
        ours = by_heaptop(program, argv, **FILLED)
    check_equal(ours, theirs, "what is lost")


for name, listed in PROGRAMS.items():
    if SOAK or listed.fast or sys.argv[1:]:
        title = "%s: unfreed is the sum of the classes" % name
        title += "" if listed.uncompared else ", and what is lost is so for memcheck"
        add_case(title + (" (but: %s)" % listed.because if listed.because else ""), lambda p=listed: try_it(p))
run_cases()
