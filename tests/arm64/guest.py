#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Boots an emulated arm64 machine and runs one script there.

    guest.py DIR WORK SCRIPT [SECONDS]

DIR is what tests/arm64/root.sh made; ARM64_KERNEL=16k takes the kernel of DIR/16k, whose pages are
of 16 KB, and ARM64_PORT=OURS:ITS leads from a port of 127.0.0.1 to one of the machine's. WORK, a
directory, is /w in the machine; SCRIPT, a path in it, is run by sh as root. All that it prints is
printed here; the exit status is the script's, 124 after SECONDS (default 900), 125 if the machine
did not start."""

import lzma
import os
import re
import signal
import subprocess
import sys
import tempfile

# In the order of their loading; what a kernel has built in is no file.
MODULES = ["virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "virtio_blk",
           "failover", "net_failover", "virtio_net", "crc32c_generic", "libcrc32c", "crc16", "mbcache", "jbd2", "ext4"]
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /dev /proc /new
/bin/busybox mount -t devtmpfs dev /dev
for m in %s; do /bin/busybox insmod /$m; done
/bin/busybox mount -t ext4 /dev/vda /new || exec /bin/busybox poweroff -f
/bin/busybox mount --move /dev /new/dev
exec /bin/busybox switch_root /new /init.heaptop
"""
# A root of unpacked packages lacks what their scripts would have made.
SECOND = """#!/bin/busybox sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LC_ALL=C.UTF-8
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mkdir -p /dev/shm /dev/pts
/bin/busybox mount -t cgroup2 cgroup /sys/fs/cgroup
/bin/busybox mount -t tmpfs -o size=1500m shm /dev/shm
/bin/busybox mount -t tmpfs tmp /tmp
/bin/busybox mount -t devpts pts /dev/pts
/bin/busybox ln -sf /proc/self/fd /dev/fd
/bin/busybox mount -t ext4 /dev/vdb /w
echo 0 > /proc/sys/kernel/printk
echo 1 > /proc/sys/vm/overcommit_memory
echo madvise > /sys/kernel/mm/transparent_hugepage/enabled
[ -e /bin/sh ] || /bin/busybox ln -s bash /bin/sh
[ -e /usr/bin/cc ] || /bin/busybox ln -s gcc /usr/bin/cc
[ -e /usr/bin/mount ] || /bin/busybox ln -s /bin/busybox /usr/bin/mount
[ -e /usr/bin/awk ] || /bin/busybox ln -s /bin/busybox /usr/bin/awk
/bin/busybox ifconfig lo 127.0.0.1 up
/bin/busybox ifconfig eth0 10.0.2.15 up 2>/dev/null
echo "%s begin"
cd /w
sh /w/SCRIPT </dev/null
echo "%s end $?"
/bin/busybox sync
exec /bin/busybox poweroff -f
"""
MARK = "heaptop-guest:"


def cpio(files):
    """An initramfs in the newc format: (name, mode, bytes)."""
    out = bytearray()
    for number, (name, mode, data) in enumerate(files + [("TRAILER!!!", 0, b"")], 1):
        fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        out += b"070701" + b"".join(b"%08x" % f for f in fields) + name.encode() + b"\0"
        out += b"\0" * (-len(out) % 4) + data
        out += b"\0" * (-len(out) % 4)
    return bytes(out)


def contents(path):
    with open(path, "rb") as f:
        return f.read()


def image(path, source, megabytes):
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", source, path,
                    "%dM" % megabytes], check=True)


def root_image(where):
    """The machine's root, kept between runs."""
    root, path = os.path.join(where, "root"), os.path.join(where, "root.img")
    os.makedirs(os.path.join(root, "w"), exist_ok=True)
    init = os.path.join(root, "init.heaptop")
    with open(init, "w", encoding="ascii") as f:
        f.write(SECOND % (MARK, MARK))
    os.chmod(init, 0o755)
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(__file__):
        image(path + ".new", root, 1600)
        os.replace(path + ".new", path)  # another machine may be using the old one
    return path


def modules(folder):
    """Name and contents of each module that is needed and there."""
    there = {}
    for at, _, names in os.walk(folder):
        for name in names:
            there[name.split(".")[0]] = os.path.join(at, name)
    for name in MODULES:
        path = there.get(name, "")
        if path.endswith(".ko"):
            yield name + ".ko", contents(path)
        elif path.endswith(".ko.xz"):
            yield name + ".ko", lzma.decompress(contents(path))


def initramfs(where, path):
    """Writes it; returns the kernel's path."""
    root = os.path.join(where, "root")
    kernel = os.path.join(where, os.environ.get("ARM64_KERNEL", "root"))
    below = os.path.join(kernel, "usr/lib/modules")
    below = below if os.path.isdir(below) else os.path.join(kernel, "lib/modules")
    release = os.listdir(below)[0]
    needed = list(modules(os.path.join(below, release)))
    files = [("bin", 0o40755, b""),
             ("bin/busybox", 0o100755, contents(os.path.join(root, "bin/busybox"))),
             ("init", 0o100755, (INIT % " ".join(name for name, _ in needed)).encode())]
    files += [(name, 0o100644, code) for name, code in needed]
    with open(path, "wb") as f:
        f.write(cpio(files))
    return os.path.join(kernel, "boot", "vmlinuz-" + release)


def network():
    """None, or the one port of ours that leads in."""
    ports = os.environ.get("ARM64_PORT")
    if not ports:
        return "none"
    return "user,model=virtio-net-pci,restrict=on,hostfwd=tcp:127.0.0.1:%s-10.0.2.15:%s" % tuple(ports.split(":"))


def main(where, work, script, seconds="900"):
    with tempfile.TemporaryDirectory(prefix="heaptop-arm64-", dir=os.environ.get("TMPDIR", "/var/tmp")) as tmp:
        initrd, disk = os.path.join(tmp, "initrd"), os.path.join(tmp, "work.img")
        kernel = initramfs(where, initrd)
        with open(os.path.join(work, "SCRIPT"), "w", encoding="utf-8") as f:
            f.write("exec sh /w/%s\n" % script)
        image(disk, work, 600)
        command = ["qemu-system-aarch64", "-M", "virt", "-cpu", "max,pauth-impdef=on", "-smp", "2",
                   "-m", "3G", "-nic", network(), "-nographic", "-no-reboot", "-kernel", kernel, "-initrd",
                   initrd, "-append", "console=ttyAMA0 quiet panic=-1",
                   "-drive", "if=none,id=a,format=raw,snapshot=on,file=" + root_image(where),
                   "-device", "virtio-blk-pci,drive=a",
                   "-drive", "if=none,id=b,format=raw,file=" + disk,
                   "-device", "virtio-blk-pci,drive=b"]
        return watch(command, float(seconds))


def watch(command, seconds):
    """Prints what the script prints, as it comes."""
    with subprocess.Popen(["timeout", "-k", "5", str(seconds)] + command, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as machine:
        signal.signal(signal.SIGTERM, lambda *_: machine.terminate())
        inside, before, status = False, [], None
        for line in machine.stdout:
            line = line.rstrip("\r\n")
            end = re.search(MARK + r" end (\d+)", line)
            if end:
                status = int(end.group(1))
                inside = False
            elif MARK + " begin" in line:
                inside = True
            elif inside:
                print(line, flush=True)
            else:
                before.append(line)
    if status is None:
        print("\n".join(before[-20:]), file=sys.stderr)
        return 124 if machine.returncode == 124 else 125
    return status


if __name__ == "__main__":
    if not 4 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
