#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program on the arm64 machine, seen by this machine's heaptop over a port: what the desk reports, by names and
classes of leaks, is what heaptop reports there.

    ARM64=DIR B=build-aarch64-linux-gnu tests/arm64/desk.py [HEAPTOP]

DIR is what tests/arm64/root.sh made; HEAPTOP (default build/heaptop) that of this machine. The port is
one of 127.0.0.1, and the machine reaches nothing else."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
B = os.environ.get("B", "build-aarch64-linux-gnu")
INSIDE = 7000  # the port in the machine
TOKEN = "of this one test"
SECONDS = 900
CLASSES = ("definite", "indirect", "possible")
# The agent may scan. It serves until the machine is ended.
SCRIPT = """cd /w
mkfifo gate
exec 3<>gate
LD_PRELOAD=$PWD/%(b)s/libheaptop.so %(b)s/tests/targets/leaks wait <gate >said &
pid=$!
until grep -q '^ready' said; do sleep 0.1; done
chmod 600 token
%(b)s/heaptop --no-config -b -n 1 -d 60 --format json -a $pid >live.json && echo "LIVE $(cat live.json | tr -d '\\n')"
%(b)s/heaptop --no-config --leak-check --format json -o leaks.json -a $pid
echo "LEAKS $(cat leaks.json | tr -d '\\n')"
%(b)s/heaptop --serve steer:0.0.0.0:%(port)d --token-file token -a $pid 2>&1 &
agent=$!
sleep 2
echo "SERVED $pid"
wait $agent
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def put(work, name, text):
    path = os.path.join(work, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o600)
    return path


def assemble(work):
    for name in ("heaptop", "libheaptop.so", "tests/targets/leaks"):
        to = os.path.join(work, B, name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, B, name), to)
    put(work, "desk.sh", SCRIPT % {"b": B, "port": INSIDE})


def named(report):
    """Function -> live blocks and bytes, of call sites in the program."""
    sums = {}
    for site in report["sites"]:
        for frame in site["stack"]:
            if frame["module"].endswith("/leaks"):
                blocks, size = sums.get(frame["function"], (0, 0))
                sums[frame["function"]] = blocks + site["live_blocks"], size + site["live_bytes"]
                break
    return sums


def check(number, what, here, there):
    good = here == there and here
    print("%s %d - %s%s" % ("ok" if good else "not ok", number, what, "" if good else ": %s, there %s" % (here, there)))
    return bool(good)


def desk(heaptop, where, token, work, root):
    """What it says here: a frame, and a leak scan."""
    env = {**os.environ, "XDG_CACHE_HOME": os.path.join(work, "cache"), "XDG_CONFIG_HOME": "/dev/null/none"}
    options = ["--token-file", token, "--sysroot", root, "--binpath", os.path.join(work, B, "tests/targets"), where]
    live = subprocess.run([heaptop, "-b", "-n", "1", "-d", "60", "--format", "json", *options], env=env, check=True,
                          stdout=subprocess.PIPE).stdout
    out = os.path.join(work, "desk.json")
    subprocess.run([heaptop, "--leak-check", "--format", "json", "-o", out, *options], env=env, check=True)
    with open(out, encoding="utf-8") as f:
        return json.loads(live), json.load(f)


def compare(live, leaks, live_there, leaks_there):
    totals = ("allocs", "frees", "live_bytes", "live_blocks", "peak_live_bytes")
    good = check(1, "totals", {t: live["totals"][t] for t in totals}, {t: live_there["totals"][t] for t in totals})
    good &= check(2, "call sites by name", named(live), named(live_there))
    good &= check(3, "leaks by class", {c: leaks["leaks"][c] for c in CLASSES},
                  {c: leaks_there["leaks"][c] for c in CLASSES})
    return good


def main(heaptop=os.path.join(ROOT, "build/heaptop")):
    where = os.environ.get("ARM64")
    if not where or not shutil.which("qemu-system-aarch64") or not os.access(heaptop, os.X_OK):
        print("skip - arm64 at this desk: needs ARM64=DIR (tests/arm64/root.sh), qemu-system-aarch64 and " + heaptop)
        return 0
    with tempfile.TemporaryDirectory(dir="/var/tmp") as work:
        port, said = free_port(), {}
        assemble(work)
        token = put(work, "token", TOKEN + "\n")
        with subprocess.Popen([os.path.join(HERE, "guest.py"), where, work, "desk.sh", str(SECONDS)],
                              env={**os.environ, "ARM64_PORT": "%d:%d" % (port, INSIDE)}, stdout=subprocess.PIPE,
                              text=True) as machine:
            for line in machine.stdout:
                word, _, rest = line.rstrip().partition(" ")
                said[word] = rest
                if word in ("LIVE", "LEAKS"):
                    continue
                print("# " + line.rstrip(), flush=True)
                if word == "SERVED":
                    break
            try:
                live, leaks = desk(heaptop, "tcp://127.0.0.1:%d" % port, token, work, os.path.join(where, "root"))
                good = compare(live, leaks, json.loads(said["LIVE"]), json.loads(said["LEAKS"]))
            finally:
                machine.terminate()
                machine.communicate()
    return not good


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
