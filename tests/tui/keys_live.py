#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random keys, clicks, pastes and sizes for the real viewer, in a terminal emulator: with a program that runs, with
several, with one that has the keyboard, with one that is held at its end, and with a recording. It must not fail,
what it drew little by little must be what it draws anew, and when it ends, the terminal must be as it was.
keys_fuzz.c does the same to the screen alone, with data that are made up.

    keys_live.py [SECONDS [SEED]]

SECONDS of the viewers' processor time, with dice of their own (make soak); otherwise a few rounds, always the same."""
import glob, os, random, re, resource, signal, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from emulator import B, DEMO, EMULATOR, ENV, HEAPTOP, Emulator, check_painted
from terminal import LIMIT

LEAKS = os.path.join(B, "tests", "targets", "leaks")
SIZES = ((12, 40), (24, 80), (30, 100), (60, 200))
# What leads somewhere, more often than letters by chance do; most of them in every view.
KEYS = ("\t", "\x1b[Z", "\r", "\r", "\x1b", "\x1b", "t", "p", "w", "O", "U", "L", "`", "m", "?", "\x1bOQ", "\x1b[19~", "\x1b[20~",
        ",", ",", ".", "(", ")", "P", "^", "J", "s", "'", '"', "F", "\x1b[1;2D", "\x1b[1;2C", " ", "o", "c", "g", "v", "%", "z",
        "/", "\\", "n", "N", "j", "j", "k", "l", "l", "h", "G", "\x1b[6~", "\x1b[H", "3", "5", "<", ">", "{", "}", "[", "]", "+",
        "-", "E", "C", "K", "H", "A", "a", "i", "u", "_", "#", "y", "x", "\x1d", "e", "f", "W", "b", "B", "d", "M", "T", "I")
TEXTS = ("page_load\r", "live>1k\r", "0.2\r", "0\r", "x\x7f\x7fmark\r", "/re[/\r", "\x1b[200~a\nb\x1b[201~", "表\r", "\x15\r", "99999\r")
SANITIZER = re.compile(rb"ERROR: \w+Sanitizer|runtime error:")


class Keys:
    """The dice of a round, and what they threw, to say it when it fails."""

    def __init__(self, seed):
        self.dice, self.seed, self.thrown = random.Random(seed), seed, []

    def key(self):
        dice = self.dice
        kind = dice.random()
        if kind < 0.72:
            return dice.choice(KEYS)
        if kind < 0.80:
            return dice.choice(TEXTS)
        if kind < 0.92:
            return chr(dice.choice([c for c in range(33, 127) if chr(c) not in "qQ"]))
        if kind < 0.98:
            return "\x1b[<%d;%d;%dM" % (dice.choice((0, 0, 0, 64, 65)), dice.randint(1, 200), dice.randint(1, 60))
        return "q"

    def throw(self, s):
        if self.dice.random() < 0.06:
            size = self.dice.choice(SIZES + ((self.dice.randint(1, 60), self.dice.randint(1, 200)),))
            self.thrown.append("%dx%d" % size[::-1])
            s.resize(*size)
        else:
            self.thrown.append(self.key())
            s.type(self.thrown[-1])


def rests(s):
    """Whether it goes on: it has drawn what the keys led to. Otherwise one of them has ended it."""
    end = time.monotonic() + LIMIT
    while s.child.poll() is None and not (s.is_idle() and s.is_idle()):
        assert time.monotonic() < end, "it never rests"
        s.read(0.01)
    return s.child.poll() is None


def end_programs(folder):
    """Those that the viewer left running, by its own list."""
    listed = subprocess.run([HEAPTOP, "-l"], capture_output=True, text=True, check=False,
                            env=dict(ENV, HEAPTOP_DIR=folder)).stdout
    for pid in re.findall(r"^ *(\d+) ", listed, re.M):
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass


def play(keys, args, still, steps):
    """One viewer from its start until it ends, or has taken `steps` keys. `still`: no tick changes what it shows."""
    with tempfile.TemporaryDirectory(prefix="heaptop-keys-", dir=os.environ.get("TEST_MEMORY")) as folder:
        report = os.path.join(folder, "sanitizer")
        env = dict(ENV, EDITOR="true", HEAPTOP_DIR=folder, XDG_CONFIG_HOME=folder, ASAN_OPTIONS="log_path=%s:detect_leaks=0:exitcode=99" % report,
                   UBSAN_OPTIONS="log_path=%s:halt_on_error=1:exitcode=99" % report)
        s = Emulator(command=["env", "-C", folder, HEAPTOP, *args], size=keys.dice.choice(SIZES), env=env)
        try:
            s.wait(lambda seen: seen.alternate and str(seen).strip(), "the first frame")
            for i in range(steps):
                keys.throw(s)
                if i % 4 == 3 and not rests(s):
                    break
                if i % 16 == 15 and still:
                    s.type("\a")  # a prompt would take ^L
                    if not rests(s):
                        break
                    check_painted(s, (-3, -2, -1))
            if s.child.poll() is None:
                s.child.send_signal(signal.SIGTERM)
            s.end()  # reads the last that it wrote, too
            found = [open(f, "rb").read().decode(errors="replace") for f in glob.glob(report + "*")]
            assert not found and not SANITIZER.search(s.seen), found or s.seen[-2000:]
            assert s.child.returncode >= 0, "ended by signal %d" % -s.child.returncode
            assert s.child.returncode != 99, "a sanitizer ended it"
            look = s.look()
            left = "alternate %d, cursor %d, mouse %d" % (look.alternate, look.cursor, look.mouse)
            assert left == "alternate 0, cursor 1, mouse 0", "the terminal is not as it was: %s, status %d: %r" % (
                left, s.child.returncode, re.findall(rb"\x1b(?:\[\?[\d;]+[hl]|[78])", s.seen)[-20:])
        finally:
            s.close()
            end_programs(folder)


def record(path):
    """Some seconds of the demo, and a mark."""
    with tempfile.NamedTemporaryFile("w", prefix="heaptop-keys-") as script:
        script.write(":until page_load\nm\n:type begin\nEnter\n:wait 30\nQ\n")
        script.flush()
        subprocess.run([HEAPTOP, "-d", "100ms", "--record", path, "--script", script.name, "--", DEMO, "5"], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT,
                       env=dict(ENV, XDG_CONFIG_HOME="/dev/null/none"))


def kinds(recording):
    """Name, arguments, and whether it stands still."""
    many = "%s 600 & %s 600 & exec %s 600" % (DEMO, DEMO, DEMO)
    editor = "echo ready; stty raw -echo; while c=$(dd bs=1 count=1 2>/dev/null); do printf '\\033[%d;7H%s表' 3 \"$c\"; done"
    return (("a recording", ("-r", recording), True),
            ("a program", ("-d", "500ms", "--", DEMO, "600"), False),
            ("several", ("-d", "1", "--", "sh", "-c", many), False),
            ("one that has the keyboard", ("-d", "500ms", "--", "sh", "-c", editor), False),
            ("leaks, held at the end", ("-d", "500ms", "--hold", "--", LEAKS), False),
            ("readonly", ("-d", "500ms", "--readonly", "-t", "--", DEMO, "600"), False))


def used():
    """Processor time of the viewers that ended."""
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def rounds(recording, seconds, seed):
    """Each kind in turn, until the time is over; one round of each without one."""
    steps = 400 if seconds else 48
    count, begin = 0, used()
    while True:
        for name, args, still in kinds(recording):
            keys = Keys(seed)
            try:
                play(keys, args, still, steps)
            except (AssertionError, OSError) as e:
                print("not ok - %s: seed %d, after %r" % (name, seed, keys.thrown[-40:]))
                print(e, file=sys.stderr)
                return False
            count += len(keys.thrown)
            seed += 1
            if not seconds:
                print("ok - %s: %d keys" % (name, len(keys.thrown)), flush=True)
        if used() - begin >= seconds:
            break
    if seconds:
        print("ok - %d keys, in %.0f s of processor time, seeds to %d" % (count, used() - begin, seed - 1))
    return True


if __name__ == "__main__":
    if not os.access(EMULATOR, os.X_OK):
        print("skip - keys_live: built without libvterm (libvterm-dev)")
        sys.exit(0)
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    first = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time()) if wanted else 1
    signal.alarm(0 if wanted else 250)
    with tempfile.TemporaryDirectory(prefix="heaptop-keys-") as scratch:
        file = os.path.join(scratch, "demo.rec")
        record(file)
        sys.exit(not rounds(file, wanted, first))
