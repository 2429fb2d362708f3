#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Core files: what is reported of one is what was reported of the program in the same state; what does not belong
together is refused, and what is missing is said."""

import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import struct
import subprocess

from dumping import (NO_VECTORS, blocks_of, check_same, core_in, crashing, cut_everywhere, gcore_of, kernel_cores,
                     report_of, saved, segment_of, stopped)
from proving import (HEAPTOP, LIBRARY, Skip, case, check, check_equal, environment, need, run, run_cases, scratch,
                     segment_files, target)
from scanning import Waiting

PYTHON = "import ctypes, gc; gc.collect(); keep = [{'n': str(i)} for i in range(2000)]; print('ready', flush=True); input()"


def refusal(*options):
    done = run([HEAPTOP, "--report", *options])
    check(done.returncode == 125 and done.stderr.decode().count("\n") == 1, "status %d: %s" % (
        done.returncode, done.stderr.decode()))
    return done.stderr.decode()


def dumped(program, *options):
    """A core by gcore, and what was said of the program in the same stop."""
    stopped(program)
    live = report_of(*options, "-a", str(program.pid))
    return gcore_of(program.pid), live


def check_cut(path):
    """Cuts the core shorter and shorter."""
    whole = os.path.getsize(path)
    for length in (*(whole * i // 10 // 4096 * 4096 for i in (9, 7, 5, 1)), *range(4 * 4096, 0, -4096)):
        os.truncate(path, length)
        done = run([HEAPTOP, "--leak-check", "-r", path])
        said = done.stderr.decode() if done.returncode else done.stdout.decode()
        check(done.returncode in (0, 125), "status %d at %d: %s" % (done.returncode, length, said))
        check("cut short" in said, "at %d: %s" % (length, said[:300]))


def check_gcore(*command, options=(), **variables):
    with Waiting(*command, **variables) as program:
        before = blocks_of(segment_of(program.pid))
        path, live = dumped(program, *options)
        check_same(report_of(*options, "-r", path), live)
        check_equal(blocks_of(segment_of(program.pid)), before, "blocks of the segment's file")
        os.unlink(path)


@case("a core of gcore has the leaks, paths and holders of the program, of every kind")
def kinds():
    check_gcore(target("leaks"), "wait")


@case("it has them by the rules of layouts, too")
def rules():
    check_gcore(target("leak_shapes"), "wait")


@case("it has them of a python with its own memory and C libraries")
def python():
    check_gcore(need("python3"), "-S", "-c", PYTHON, options=NO_VECTORS, PYTHONMALLOC="malloc", HEAPTOP_DEPTH="16")


@case("what is saved of a copy needs nothing else, has the same leaks, and is small")
def save():
    with Waiting(target("leaks"), "wait") as program:
        live = report_of("-a", str(program.pid))
        before = blocks_of(segment_of(program.pid))
        path, said = saved(program)
        check("was stopped for" in said and "was stopped until" not in said, said)
        segment = segment_of(program.pid)
        check_equal(blocks_of(segment), before, "blocks of the segment's file")
        os.rename(segment, segment + ".away")
        core = report_of("-r", path)
        os.rename(segment + ".away", segment)
        check_same(core, live)
        check(blocks_of(path) * 512 * 4 < os.path.getsize(path), "%d of %d bytes take room" % (
            blocks_of(path) * 512, os.path.getsize(path)))
        done = run([HEAPTOP, "--save", path, "-a", str(program.pid)])
        check(done.returncode == 125 and b"exists" in done.stderr, "it wrote over a file: %s" % done.stderr)
        os.unlink(path)


@case("it is saved of a program that stands still, too, and of one that was not recorded")
def save_otherwise():
    with Waiting(target("leaks"), "wait") as program:
        stopped(program)
        live = report_of("-a", str(program.pid))
        path, said = saved(program)
        check("the program was stopped until the file was complete" in said, said)
        check_same(report_of("-r", path), live)
        os.unlink(path)
    with subprocess.Popen([target("leaks"), "wait"], env=environment(), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as plain:
        while plain.stdout.readline().strip() not in ("ready", ""):
            pass
        path = os.path.join(scratch, "plain")
        done = run([HEAPTOP, "--save", path, "-a", str(plain.pid)])
        check_equal(done.returncode, 0, "status: %s" % done.stderr.decode())
        check(report_of("-r", path)["totals"]["live_blocks"] > 50, "few blocks from before")
        plain.stdin.close()
        check_equal(plain.wait(60), 0, "status of the program")
        os.unlink(path)


def data_of(path, start, end):
    """The parts of a file, from `start` to `end`, that are no holes."""
    with open(path, "rb") as f:
        while start < end:
            try:
                start = os.lseek(f.fileno(), start, os.SEEK_DATA)
            except OSError:
                return
            hole = min(os.lseek(f.fileno(), start, os.SEEK_HOLE), end)
            if start < hole:
                f.seek(start)
                yield start, f.read(hole - start)
            start = hole


def parsed(core):
    """Program headers, notes and mapped files of a core."""
    count = struct.unpack_from("<H", core, 56)[0]
    offset = struct.unpack_from("<Q", core, 32)[0]
    headers = [struct.unpack_from("<IIQQQQQQ", core, offset + 56 * i) for i in range(count)]
    note = next(h for h in headers if h[0] == 4)
    files, at = [], note[2]
    while at < note[2] + note[5]:
        name, desc, kind = struct.unpack_from("<III", core, at)
        body = at + 12 + (name + 3) // 4 * 4
        if kind == 0x46494c45:  # NT_FILE
            n = struct.unpack_from("<Q", core, body)[0]
            paths = core[body + 16 + 24 * n:body + desc].split(b"\0")
            files = [(struct.unpack_from("<QQQ", core, body + 16 + 24 * i), paths[i].decode()) for i in range(n)]
        at = body + (desc + 3) // 4 * 4
    return headers, core[note[2]:note[2] + note[5]], files


def account_in(path, segment):
    """Where in a core the last part of its account is."""
    with open(path, "rb") as f:
        headers, _, files = parsed(f.read())
    mapped = {start for (start, _, _), name in files if name == segment}
    return max(h[2] for h in headers if h[0] == 1 and h[3] in mapped and h[5] > 0)


def with_segment(saved_core, segment, out):
    """The core as a kernel writes it that dumps the committed parts of the mapped segment: loads in place of notes of
    ours."""
    with open(saved_core, "rb") as f:
        core = f.read()
    headers, notes, files = parsed(core)
    parts = [(h[3], h[1], core[h[2]:h[2] + h[5]], h[6]) for h in headers if h[0] == 1]
    mapped = {start for (start, _, _), path in files if path == segment}
    parts = [p for p in parts if p[0] not in mapped]
    for (start, end, pages), path in files:
        if path == segment:
            at = pages * 4096
            parts += [(start + o - at, 6, d, len(d)) for o, d in data_of(segment, at, at + end - start)]
    begin = 64 + 56 * (len(parts) + 1)
    table, data = struct.pack("<IIQQQQQQ", 4, 0, begin, 0, 0, len(notes), 0, 4), notes
    for address, rights, content, size in sorted(parts):
        table += struct.pack("<IIQQQQQQ", 1, rights, begin + len(data), address, 0, len(content), size, 4096)
        data += content
    with open(out, "wb") as f:
        f.write(core[:32] + struct.pack("<QQ", 64, 0) + core[48:56] + struct.pack("<HHHH", len(parts) + 1, 0, 0, 0)
                + table + data)


@case("a core that has the segment's memory needs no segment")
def inside():
    with Waiting(target("leaks"), "wait") as program:
        stopped(program)
        live = report_of("-a", str(program.pid))
        path, _ = saved(program)
        segment = segment_of(program.pid)
        made = os.path.join(scratch, "inside")
        with_segment(path, segment, made)
        os.rename(segment, segment + ".away")
        core = report_of("-r", made)
        os.rename(segment + ".away", segment)
        check_same(core, live)
        os.unlink(path)
        os.unlink(made)


@case("gdb reads what is saved: threads, frames and variables")
def save_gdb():
    gdb = need("gdb")
    with Waiting(target("leaks"), "wait") as program:
        path, _ = saved(program)
        done = run([gdb, "-nx", "-batch", "-ex", "bt", "-ex", "info threads", target("leaks"), path])
        text = done.stdout.decode()
        check("in main (" in text and "hold_general (" in text, text + done.stderr.decode())
        os.unlink(path)


@case("a core of the kernel has them, and says what killed the program")
def kernel():
    with kernel_cores() as folder, Waiting(*crashing(folder, target("leaks"), "wait"), HEAPTOP_CORE="1") as program:
        segment = segment_of(program.pid)
        stopped(program)
        live = report_of("-a", str(program.pid))
        before = blocks_of(segment)
        os.kill(program.pid, signal.SIGSEGV)
        os.kill(program.pid, signal.SIGCONT)
        program.process.wait(60)
        path = core_in(folder)
        check_equal(blocks_of(segment), before, "blocks of the segment's file after the dump")
        core = report_of("-r", path, segment)
        check_same(core, live)
        check_equal(core["process"]["signal"], "SIGSEGV", "signal")
        check_equal(blocks_of(segment), before, "blocks of the segment's file after reading")
        os.rename(segment, segment + ".away")
        check_same(report_of("-r", path), live)
        os.truncate(path, account_in(path, segment))
        check("cut short in its account, and its segment" in refusal("-r", path), "the account is cut")


@case("a core of the kernel opens wherever it is cut, with its account or its segment, or says why not")
def kernel_cut():
    with kernel_cores() as folder:
        before = segment_files()
        run(crashing(folder, target("crash"), "segv"), env=environment(LD_PRELOAD=LIBRARY, HEAPTOP_CORE="1"))
        path, copy = core_in(folder), os.path.join(folder, "copy")
        shutil.copyfile(path, copy)
        named = cut_everywhere(copy, 4096)
        for segment in set(segment_files()) - set(before):
            os.unlink(segment)
        alone = cut_everywhere(path, 4096)
    check(named["opened"] > 9 * (named["no_core"] + named["no_account"]), "with its segment: %s" % named)
    check(alone["opened"] > 10 and alone["no_account"] > 10, "without: %s" % alone)
    check_equal(alone["no_core"], named["no_core"], "those without program headers")


@case("a python that crashes has its cache in the core, as the manual's tour says")
def python_crash():
    code = "import ctypes; cache = [bytearray(1000 + i) for i in range(5000)]; ctypes.string_at(0)"
    with kernel_cores() as folder:
        run([HEAPTOP, "--report", "-o", "/dev/null", "--", *crashing(folder, need("python3"), "-I", "-S", "-c", code)],
            env=environment(HEAPTOP_CORE="1"))
        core = report_of("-r", core_in(folder))
    check_equal(core["process"]["signal"], "SIGSEGV", "signal")
    blocks = [s["live_blocks"] for s in core["sites"] if "PyByteArray_Resize" in str(s["stack"])]
    check(5000 in blocks, "PyByteArray_Resize has %s blocks" % blocks)


def machine_with(*files):
    """A folder with these files, what they are linked with, and nothing else."""
    root = os.path.join(scratch, "machine")
    for path in (*files, *(lib for file in files for lib in linked_with(file))):
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        check_equal(run(["cp", "-L", "--sparse=always", path, root + path]).returncode, 0, "status of cp " + path)
    for folder in ("proc", "tmp"):
        os.makedirs(os.path.join(root, folder), exist_ok=True)
    return root


def linked_with(path):
    if not os.access(path, os.X_OK):
        return []
    return [w for w in run([need("ldd"), path]).stdout.decode().split() if w.startswith("/")]


def inside_report(root, how, *files):
    """What heaptop reports there, where there is no debug information of libc. Or what it says."""
    need("unshare")
    done = run(["unshare", "-rmpf", *how, "chroot", root, HEAPTOP, "--leak-check", "--format", "json", "-o",
                "/tmp/report", "-r", *files])
    if done.returncode != 0:
        return done.stderr.decode()
    with open(root + "/tmp/report", encoding="utf-8") as f:
        return json.load(f, object_hook=unnamed)


def unnamed(frame):
    return {} if "/libc.so" in (frame.get("module") or "") else frame


@case("a machine that has only core, segment and binaries is enough, or core and binaries")
def elsewhere():
    if run(["unshare", "-rmpf", "true"]).returncode != 0:
        raise Skip("no namespaces here")
    with kernel_cores() as folder:
        before = set(segment_files())
        run(crashing(folder, target("crash"), "segv"), env=environment(LD_PRELOAD=LIBRARY, HEAPTOP_CORE="1"))
        path, segment = core_in(folder), (set(segment_files()) - before).pop()
        root = machine_with(HEAPTOP, target("crash"), path, segment)
        want = json.loads(json.dumps(report_of("-r", path)), object_hook=unnamed)
        os.unlink(segment)
    with_proc = ["--mount-proc=" + root + "/proc"]
    check_same(inside_report(root, with_proc, path, segment), want)
    os.unlink(root + segment)
    check_same(inside_report(root, with_proc, path), want)
    check("is read through /proc, which is not mounted" in inside_report(root, [], path), "without /proc")


@contextlib.contextmanager
def changed(path, at):
    """With 16 more there, for as long."""
    with open(path, "r+b") as f:
        f.seek(at)
        was = f.read(1)
        f.seek(at)
        f.write(bytes([was[0] + 16 & 255]))
        f.flush()
        yield
        f.seek(at)
        f.write(was)


def build_id_in(segment, pid, name):
    """Where a segment has the build-id of a file that is mapped."""
    with open("/proc/%d/maps" % pid, encoding="ascii") as f:
        path = next(line.split()[5] for line in f if line.rstrip().endswith("/" + name))
    with open(path, "rb") as f:
        build_id = re.search(b"\\x04\0\0\0\\x14\0\0\0\\x03\0\0\0GNU\0(.{20})", f.read(4096), re.S).group(1)
    return next(at + d.index(build_id) for at, d in data_of(segment, 0, os.path.getsize(segment)) if build_id in d)


@case("what does not belong together is refused, and a copy of the segment is taken")
def together():
    with Waiting(target("leaks"), "wait") as program, Waiting(target("leaks"), "wait") as other:
        path, live = dumped(program)
        copy = os.path.join(scratch, "copy")
        subprocess.run(["cp", "--sparse=always", segment_of(program.pid), copy], check=True)
        check_same(report_of("-r", path, copy), live)
        check("is not the segment of" in refusal("-r", path, segment_of(other.pid)), "another process's segment")
        check("only a core file takes a segment" in refusal("-r", copy, copy), "a segment after a segment")
        check("requires a core file" in refusal("-r", copy, "--leak-check"), "a scan of a segment")
        libc, exe = build_id_in(copy, program.pid, "libc.so.6"), build_id_in(copy, program.pid, "leaks")
        for what, at in (("it started at another time", 32), ("image 16 of the process, and the core is of image 0", 40),
                         ("libc.so.6 has another build-id", libc), ("leaks has another build-id", exe),
                         ("leaks is at 0x", exe - 56)):  # start_ticks, exec_gen, ids, start of the range
            with changed(copy, at):
                check(what in refusal("-r", path, copy), what)
        check_same(report_of("-r", path, copy), live)
        with open(copy, "rb") as f:
            made = struct.unpack_from("<Q", f.read(64), 56)[0]  # created_realtime_ns
        os.utime(path, ns=(made, made - 10**7))  # a tick of the clock that files are stamped with
        check_same(report_of("-r", path, copy), live)
        os.utime(path, ns=(made, made - 2 * 10**9))
        check("it was made after the core was written" in refusal("-r", path, copy), "an older core")
        os.unlink(path)


@case("every size of a call site's blocks is listed, of the program, its segment and its core")
def sizes():
    with Waiting(target("leaks"), "wait") as program:
        live = report_of("-a", str(program.pid))
        path, _ = saved(program)
        site = max(live["sites"], key=lambda s: s["live_blocks"])
        said = [run([HEAPTOP, "--sizes", str(site["id"]), *what]) for what in (
            ("-a", str(program.pid)), ("-r", segment_of(program.pid)), ("-r", path))]
        wrong = run([HEAPTOP, "--sizes", "99999", "-a", str(program.pid)])
        os.unlink(path)
    check_equal([(d.returncode, d.stdout) for d in said], [(0, said[0].stdout)] * 3, "said")
    rows = [list(map(int, line.split())) for line in said[0].stdout.decode().splitlines()[1:]]
    check_equal((sum(r[0] for r in rows), sum(r[1] for r in rows)), (site["live_bytes"], site["live_blocks"]), "sums")
    check(all(r[0] == r[1] * r[2] for r in rows), "rows %s" % rows)
    check(wrong.returncode == 125 and b"no call site of this number" in wrong.stderr, wrong.stderr)


@case("--clean warns of a segment that a core may need, and of no other")
def clean():
    run([HEAPTOP, "--clean"])  # what the other cases have killed
    with Waiting(target("leaks"), "wait") as program:
        program.end()
    check(b"core file" not in run([HEAPTOP, "--clean"]).stderr, "of a program that called exit")
    with Waiting(target("leaks"), "wait") as program:
        os.kill(program.pid, signal.SIGKILL)
        program.process.wait(60)
        said = run([HEAPTOP, "--clean"]).stderr.decode()
        check("1 of them did not end by exit, such as process %d (" % program.pid in said, said)


def cleaned_on_terminal(answer):
    """What --clean says on a terminal to somebody who types this."""
    ours, theirs = os.openpty()
    with subprocess.Popen([HEAPTOP, "--clean"], stdin=theirs, stderr=theirs, stdout=subprocess.PIPE,
                          env=environment()) as process:
        os.close(theirs)
        os.write(ours, answer)
        said = process.communicate(timeout=60)[0].decode()
    os.close(ours)
    return said


@case("on a terminal --clean asks before it removes what a core may need")
def clean_asks():
    run([HEAPTOP, "--clean"])
    with Waiting(target("leaks"), "wait") as program:
        segment = segment_of(program.pid)
        os.kill(program.pid, signal.SIGKILL)
        program.process.wait(60)
        check_equal(cleaned_on_terminal(b"n\n"), "nothing removed\n", "answer to no")
        check(os.path.exists(segment), "the segment stays")
        check_equal(cleaned_on_terminal(b"y\n"), "1 segment of ended programs removed\n", "answer to yes")
        check(not os.path.exists(segment), "the segment is removed")


@case("without its segment, compressed, or of another kind, a file is refused in words")
def refused():
    with Waiting(target("leaks"), "wait") as program:
        path, _ = dumped(program)
        segment = segment_of(program.pid)
    os.unlink(segment)
    check("is not here" in refusal("-r", path), "the segment is not here")
    packed = os.path.join(scratch, "packed.gz")
    with open(path, "rb") as f, gzip.open(packed, "wb", 1) as g:
        g.write(f.read(1 << 20))
    check("decompress it first (gunzip FILE)" in refusal("-r", packed), "compressed")
    for magic, tool in ((b"\x28\xb5\x2f\xfd", "zstd -d"), (b"\xfd7zXZ\0", "xz -d"), (b"\x04\x22\x4d\x18", "lz4 -d"),
                        (b"BZh9", "bunzip2")):
        with open(packed, "wb") as f:
            f.write(magic + bytes(100))
        check("decompress it first (%s FILE)" % tool in refusal("-r", packed), tool)
    check("not a core file" in refusal("-r", HEAPTOP), "a program")
    with subprocess.Popen(["sleep", "1000"]) as plain:
        other = gcore_of(plain.pid)
        plain.kill()
    check("was not recorded (start it with heaptop -- PROGRAM)" in refusal("-r", other), "not recorded")
    os.unlink(other)
    os.unlink(path)


@case("a core that is cut short opens, and says so, or says why not")
def cut():
    with Waiting(target("leaks"), "wait") as program:
        path, _ = dumped(program)
        check_cut(path)
        os.unlink(path)


@case("the screen has the leaks, the map and the contents of blocks")
def screen():
    with Waiting(target("leaks"), "wait") as program:
        path, _ = dumped(program)
        keys = os.path.join(scratch, "keys")
        with open(keys, "w", encoding="ascii") as f:
            f.write(SCRIPT)
        done = run([HEAPTOP, "-d", "0.1", "-r", path, "--script", keys, "--no-config"])
        text = done.stdout.decode()
        check_equal(done.returncode, 0, "status: %s%s" % (done.stderr.decode(), text[-2000:]))
        check("from a core file" in text and "definite_plain" in text, text)
        os.unlink(path)


SCRIPT = (":size 160x60\nL\n:until definite_plain\n/\n:type definite_plain\nEnter\nEnter\nH\n:until 00 00\n"
          ":save-display -\n")

if __name__ == "__main__":
    run_cases()
