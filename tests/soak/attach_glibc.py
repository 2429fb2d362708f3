#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Attaching to programs on other versions of glibc than this machine's: those of other releases, fetched by apt-get into
a folder of our own and unpacked there. The programs (tests/faults/targets/attach_*.c) are built against each. Arguments:
attach and detach cycles of each program (default 50), then releases. GLIBC_ROOTS: a folder that keeps what was fetched."""

import glob
import os
import shutil
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), folder) for folder in ("e2e", "faults")]

OFTEN = int(sys.argv.pop(1)) if sys.argv[1:] else 50

from attached_programs import begin, cycles, end, running  # both are found by the path above
from proving import ROOT, Skip, add_case, check_equal, frames_of, heap_sites, need, run_cases, scratch, total

FETCH_S = 300
ROOTS = os.environ.get("GLIBC_ROOTS") or os.path.join(scratch, "roots")
DEBIAN = ("http://deb.debian.org/debian", "main", None)
UBUNTU = ("http://archive.ubuntu.com/ubuntu", "main", "usr/share/keyrings/ubuntu-archive-keyring.gpg")
# Release: its glibc, and where from.
RELEASES = {"bullseye": ("2.31", DEBIAN), "focal": ("2.31", UBUNTU), "jammy": ("2.35", UBUNTU), "bookworm": ("2.36", DEBIAN),
            "noble": ("2.39", UBUNTU), "trixie": ("2.41", DEBIAN)}
PACKAGES = ("libc6", "libc6-dev", "linux-libc-dev", "libcrypt-dev")
KEYRING_OF = "trixie"  # has Ubuntu's keys as a package
PROGRAMS = {  # name of a program, its arguments, and whether its threads stay
    "attach_threads 8 churn": True,
    "attach_threads 50 idle": True,
    "attach_asleep epoll": True,
    "attach_asleep condition alloc": True,
    "attach_asleep read": True,
    "attach_computes alloc": True,
    "attach_computes free": True,
    "attach_coroutines 12288": True,
    "attach_handler with": True,
    "attach_vfork with": False,
    "attach_vfork alone": False,
    "attach_forks PLUGIN": False,
}


def apt(release, *words, cwd=None):
    """apt-get with lists, caches and a status of its own."""
    base = os.path.join(ROOTS, "apt-" + release)
    options = {"Dir::Etc::SourceList": base + "/sources", "Dir::Etc::SourceParts": "-", "Dir::State::Lists": base + "/lists",
               "Dir::Cache": base + "/cache", "Dir::State::status": base + "/status", "APT::Sandbox::User": "root"}
    command = [need("apt-get"), "-q"]
    for option in options.items():
        command += ["-o", "%s=%s" % option]
    return subprocess.run([*command, *words], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=FETCH_S, check=False)


def sources_make(release):
    place, section, keys = RELEASES[release][1]
    base = os.path.join(ROOTS, "apt-" + release)
    for folder in ("lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(base, folder), exist_ok=True)
    signed = " [signed-by=%s]" % os.path.join(root_of(KEYRING_OF), keys) if keys else ""
    with open(base + "/sources", "w", encoding="ascii") as f:
        f.write("deb%s %s %s %s\n" % (signed, place, release, section))
    with open(base + "/status", "w", encoding="ascii"):
        pass


def root_of(release):
    """Unpacked, and where links do not lead out of it."""
    root = os.path.join(ROOTS, release)
    if os.path.exists(os.path.join(root, "done")):
        return root
    if RELEASES[release][1] is UBUNTU:
        root_of(KEYRING_OF)
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    sources_make(release)
    packages = [*PACKAGES, *(["ubuntu-keyring"] if release == KEYRING_OF else [])]
    for words in (["update"], ["download", *packages]):
        done = apt(release, *words, cwd=root)
        if done.returncode:
            raise Skip("apt-get %s of %s: %s" % (words[0], release, done.stdout.decode(errors="replace")[-200:]))
    for package in glob.glob(root + "/*.deb"):
        subprocess.run([need("dpkg-deb"), "-x", package, root], check=True)
        os.unlink(package)
    links_mend(root)
    with open(os.path.join(root, "done"), "w", encoding="ascii"):
        return root


def links_mend(root):
    for folder in ("lib", "lib64"):
        if not os.path.lexists(os.path.join(root, folder)) and os.path.exists(os.path.join(root, "usr", folder)):
            os.symlink(os.path.join("usr", folder), os.path.join(root, folder))
    os.makedirs(os.path.join(root, "lib64"), exist_ok=True)
    name = os.path.join(root, "lib64", "ld-linux-x86-64.so.2")
    if os.path.lexists(name):
        os.unlink(name)
    os.symlink(loader(root), name)


def loader(root):
    library = os.path.join(root, "lib", "x86_64-linux-gnu")
    return next(p for p in [*glob.glob(library + "/ld-2.*.so"), library + "/ld-linux-x86-64.so.2"] if os.path.exists(p))


def built(root, name):
    """The program against that glibc, with its loader."""
    path = os.path.join(root, name)
    source = os.path.join(ROOT, "tests/faults/targets", name + ".c")
    if os.path.exists(path) and os.path.getmtime(path) > os.path.getmtime(source):
        return path
    library, developing = os.path.join(root, "lib/x86_64-linux-gnu"), os.path.join(root, "usr/lib/x86_64-linux-gnu")
    subprocess.run([
        need("gcc"), "-std=gnu11", "-O1", "-g", "-D_GNU_SOURCE", "-I" + ROOT, "--sysroot=" + root, "-B" + developing,
        "-L" + developing, "-L" + library, "-Wl,--disable-new-dtags", "-Wl,-rpath," + library,
        "-Wl,--dynamic-linker=" + loader(root), "-o", path, source, "-l:libpthread.so.0", "-l:libdl.so.2"], check=True)
    return path


def plugin(root):
    path = os.path.join(root, "plugin.so")
    subprocess.run([need("gcc"), "-shared", "-fPIC", "-nostdlib", "-o", path, "-x", "c", "-"], input=b"int plugin = 1;\n",
                   check=True)
    return path


def cycled(release, words, steady):
    root = root_of(release)
    name, *arguments = [plugin(root) if word == "PLUGIN" else word for word in words.split()]
    with running(name, *arguments, instead=built(root, name)) as program:
        with open("/proc/%d/maps" % program.pid, encoding="utf-8") as f:
            check_equal(root + "/" in f.read(), True, "whether its libc is that of " + release)
        cycles(program, OFTEN, steady=steady)


def counted(release):
    root = root_of(release)
    with running("attach_threads", 4, "account", instead=built(root, "attach_threads")) as program:
        held = program.arrived(4)
        first = begin(program.pid)["totals"]
        for field, want in (("before_bytes", held["held_bytes"]), ("before_blocks", held["held_blocks"])):
            check_equal(abs(first[field] - want) <= want / 1000 + 64, True, "%s %d, the program's %d: near" % (
                field, first[field], want))
        words = program.phase(1, 4)
        report = begin(program.pid)
        sites = [s for s in heap_sites(report) if {"attach_born", "attach_grown"} & set(frames_of(s))]
        for field in ("allocs", "frees", "alloc_bytes", "live_bytes", "live_blocks"):
            check_equal(total(sites, field), words[field], field)
        end(program.pid)


for _release in sys.argv[1:] or RELEASES:
    for _words, _steady in PROGRAMS.items():
        add_case("glibc %s of %s: %s" % (RELEASES[_release][0], _release, _words),
                 lambda r=_release, w=_words, s=_steady: cycled(r, w, s))
    add_case("glibc %s of %s: counts and what was there before" % (RELEASES[_release][0], _release),
             lambda r=_release: counted(r))
del sys.argv[1:]

if __name__ == "__main__":
    run_cases()
