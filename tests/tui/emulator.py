#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The screen in a terminal emulator (libvterm): what a user sees, cell by cell, with colours and
attributes, and what state the terminal is in afterwards. terminal.py looks at the bytes; here they
have been understood. Nothing waits for a time: a step waits for what it must lead to, and for the
viewer to have nothing more to say."""
import os, random, re, signal, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import terminal
from terminal import ENV, LIMIT, SHOW, Screen

B = os.path.abspath(os.environ.get("B", "build"))
HEAPTOP, DEMO = os.path.join(B, "heaptop"), os.path.join(B, "demo")
EMULATOR = os.path.join(B, "tests", "tui-emulator")
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
ENV = dict(ENV, XDG_CONFIG_HOME="/dev/null/none")
CLEAR = b"\x1b[H\x1b[2J"
# How the signs of tui/screen_dump.h look in a terminal: colour, background, bold, reverse.
LOOKS = {".": "--..", "b": "--b.", "d": "--..", "r": "--.r", "R": "--br", "u": "--u.", "U": "--U.",
         "4": "02..", "5": "06..", "6": "06..", "7": "2-..", "8": "1-b.", "9": "1-..", "A": "6-..", "C": "06..", "D": "h1b."}
failed = 0


# libvterm 0.1 takes only the first of several modes in one sequence.
SEVERAL = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
# The beginning of a sequence or of a letter: the emulator gets whole ones.
PARTIAL = re.compile(rb"(\x1b(\[[0-?]*[ -/]*|\][^\a\x1b]*\x1b?|[ -/]+)?|[\xc0-\xdf]|[\xe0-\xef][\x80-\xbf]?"
                     rb"|[\xf0-\xf7][\x80-\xbf]{0,2})?\Z")


def one_by_one(sequence):
    return b"".join(b"\x1b[?%s%s" % (mode, sequence[2]) for mode in sequence[1].split(b";"))


class Look:
    """One look at the emulator."""

    def __init__(self, read_line):
        state = read_line().split()
        self.rows, self.cols = int(state[0]), int(state[1])
        self.alternate, self.cursor, self.mouse = (int(x) for x in state[2:5])
        self.at, self.pen = (int(state[5]), int(state[6])), state[7]
        self.text = [read_line().rstrip() for _ in range(self.rows)]
        looks = [read_line() for _ in range(self.rows)]
        self.looks = [[line[i:i + 4] for i in range(0, 4 * self.cols, 4)] for line in looks]

    def line(self, pattern):
        """The first line that matches."""
        return next((y for y, line in enumerate(self.text) if re.search(pattern, line)), -1)

    def __str__(self):
        return "\n".join(self.text)


class Emulator(Screen):
    """What runs on the pty, and the terminal that shows it."""

    def __init__(self, *args, command=None, size=(24, 80), env=ENV, **more):
        self.vterm = subprocess.Popen([EMULATOR], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.size = size
        self.fed = 0
        super().__init__(*args, command=command, size=size, env=env, **more)

    def resize(self, rows, cols):
        self.tell("size %d %d" % (rows, cols))
        super().resize(rows, cols)

    def tell(self, line, data=b""):
        self.vterm.stdin.write(line.encode() + b"\n" + data)
        self.vterm.stdin.flush()

    def answer(self):
        line = self.vterm.stdout.readline().decode()
        assert line, f"the emulator ended: {self.vterm.wait(LIMIT)}"
        return line.rstrip("\n")

    def show(self, data):
        """What another program writes, before or after."""
        self.tell("feed %d" % len(data), data)

    def read(self, seconds):
        still = super().read(seconds)
        whole = len(self.seen) - len(PARTIAL.search(self.seen, self.fed).group())
        if whole > self.fed:
            self.show(SEVERAL.sub(one_by_one, self.seen[self.fed:whole]))
            self.fed = whole
        return still

    def look(self):
        self.tell("look")
        return Look(self.answer)

    def sends(self, what):
        """What the terminal would send now for a key or a click."""
        self.tell(what)
        return bytes.fromhex(self.answer())

    def press(self, *keys):
        for key in keys:
            self.keys(self.sends("key " + key if len(key) > 1 else "type " + key))

    def type(self, text):
        self.keys(text.encode())

    def viewer(self):
        return self.child.pid

    def is_idle(self):
        """It has read all keys, sleeps, and all that it wrote has been read."""
        if terminal.select.select([self.slave], [], [], 0)[0]:
            return False
        with open("/proc/%d/stat" % self.viewer()) as f:
            asleep = f.read().rsplit(")", 1)[1].split()[0] == "S"
        return asleep and not terminal.select.select([self.master], [], [], 0)[0]

    def settled(self):
        """A look at a whole frame, and not at a part of one."""
        end = terminal.time.monotonic() + LIMIT
        while not self.is_idle() or not self.is_idle():
            assert terminal.time.monotonic() < end, "it never rests"
            self.read(0.01)
        return self.look()

    def wait(self, holds, what):
        end = terminal.time.monotonic() + LIMIT
        while True:
            seen = self.settled()
            if holds(seen):
                return seen
            assert terminal.time.monotonic() < end, f"never saw {what!r}:\n{seen}"
            assert self.read(0.2), f"closed before {what!r}"

    def wait_text(self, pattern):
        return self.wait(lambda seen: seen.line(pattern) >= 0, pattern)

    def wait_repainted(self):
        """^L paints all of it again."""
        start = len(self.seen)
        self.type("\x0c")
        self.wait_for(CLEAR, start)
        return self.settled()

    def close(self):
        super().close()
        self.vterm.stdin.close()
        self.vterm.wait()
        self.vterm.stdout.close()


def first_difference(was, now, messages):
    """The first cell that is not the same, told; the lines of messages and the age of a freeze apart."""
    frozen = re.compile(r"FROZEN \d+:\d\d")
    for y in range(was.rows):
        if y - was.rows in messages:
            continue
        a, b = (frozen.sub("FROZEN", s.text[y]) for s in (was, now))
        if a != b:
            return f"line {y}: {a!r} is {b!r} when painted again"
        for x in range(was.cols):
            if not looks_same(was.looks[y][x], now.looks[y][x]):
                return f"line {y}, column {x}, looks {was.looks[y][x]}, and {now.looks[y][x]} painted again: {a!r}"
    return None


def looks_same(a, b):
    """Only the background of a blank is visible, so only that counts."""
    return a == b or (a[1] == b[1] and a[3] == b[3] == ".")


def check_painted(s, messages=(-2,)):
    """What was drawn little by little is what ^L draws anew. `messages`: lines, from the end, that may say something."""
    was = s.settled()
    now = s.wait_repainted()
    assert (was.rows, was.cols) == (now.rows, now.cols)
    different = first_difference(was, now, messages)
    assert not different, different


# ---- canned data: the screen as curses has it, and as a terminal shows it --------------------

# Each view by keys, and by the script of tests/tui/scenarios.h.
VIEWS = (("sites", ""), ("tree", "tjjl"), ("tree-up", "tijj"), ("detail", "j\r"), ("help", "?"),
         ("filtered", "\\live>10M rate>0\rj"), ("prompt", "\\json"), ("grouped", "gfjj"),
         ("group-choice", "gmg"), ("sizes", "j\t\t"), ("threads", "\t\t\tj"), ("modules", "\t\t\t\tj"),
         ("map", "\x1b[19~jll"), ("processes", "pj"))


def golden(name):
    """The script of a golden file, and its lines at 80x24."""
    with open(os.path.join(GOLDEN, name + ".txt"), encoding="utf-8") as f:
        parts = dict(part.partition("\n")[::2] for part in ("\n" + f.read()).split("\n==== ")[1:])
    return parts["script"] + "\n", parts["80x24"].splitlines()


def drawn(script, size, *options):
    """What the same script leaves in curses: its lines, and their looks with a sign for each cell."""
    with tempfile.TemporaryDirectory(prefix="heaptop-drawn-") as folder:
        path = os.path.join(folder, "script")
        shots = [os.path.join(folder, name) for name in ("text", "looks")]
        with open(path, "w", encoding="utf-8") as f:
            f.write(":size %dx%d\n%s:save-display %s\n:save-looks %s\n" % (size[1], size[0], script, *shots))
        subprocess.run([SHOW, *options, "-p", path], env=ENV, stdin=subprocess.DEVNULL, check=True, timeout=LIMIT)
        text, looks = (open(shot, encoding="utf-8").read().splitlines() for shot in shots)
    return text, [line.ljust(size[1], ".") for line in looks]


def different_look(seen, text, looks):
    """The first cell that does not look as in curses; a blank may have any colour."""
    for y, line in enumerate(looks):
        for x, sign in enumerate(line):
            if not looks_same(seen.looks[y][x], LOOKS[sign]) and not (
                    x < len(text[y].rstrip()) and text[y][x] == " " and seen.looks[y][x][3] == LOOKS[sign][3] == "."):
                return f"line {y}, column {x} looks {seen.looks[y][x]}, not {sign}: {text[y]!r}"
    return None


def canned(name, keys, size, options=(), drawn_options=(), **env):
    script, lines = golden(name)
    text, looks = drawn(script, size, *options, *drawn_options)
    assert size != (24, 80) or text == lines, f"{name}: not the golden text"
    s = Emulator("-k", "-d", "1000", *options, size=size, env=dict(ENV, **env))
    s.wait_text("LIVE")
    s.type(keys)
    seen = s.wait(lambda seen: seen.text == text, name)
    different = different_look(seen, text, looks)
    assert not different, f"{name} {options}: {different}"
    s.child.send_signal(signal.SIGTERM)  # Q would be typed into a prompt
    s.end()
    s.close()


def views_look_as_curses_drew_them():
    for name, keys in VIEWS:
        canned(name, keys, (24, 80), drawn_options=("-C",))
        canned(name, keys, (30, 100), options=("-U",), drawn_options=("-C",))


def without_colours_they_look_as_curses_drew_them():
    for name, keys in VIEWS[:4]:
        canned(name, keys, (24, 80), NO_COLOR="1")


# ---- a real program -------------------------------------------------------------------------


class Watch(Emulator):
    """heaptop on the demo, below a line that was on the terminal before."""

    BEFORE = "user@host:~$ heaptop -- ./demo"

    def __init__(self, *options, command=None, size=(30, 100), **more):
        run = [HEAPTOP, *options, "--", DEMO, "600"]
        super().__init__(command=(command or []) + run, size=size, **more)
        self.pid = 0

    def resize(self, rows, cols):
        first = not hasattr(self, "begun")
        super().resize(rows, cols)
        if first:
            self.begun = True
            self.show(self.BEFORE.encode() + b"\r\n")

    def viewer(self):
        """Itself, or the one job of the shell around it."""
        if self.child.args[0] == HEAPTOP:
            return self.child.pid
        with open("/proc/%d/task/%d/children" % (self.child.pid, self.child.pid)) as f:
            jobs = f.read().split()
        return int(jobs[0]) if jobs else self.child.pid

    def begin(self):
        """Until the names are there; no frame comes from then on unless a key asks for it."""
        self.wait_text(r"(?s)page_load.* demo\.c:\d+")
        self.type("d60\r")
        seen = self.wait(lambda seen: seen.line("  60s  ") == 0 and seen.line(r"\?\?") < 0, "60s, and all names")
        self.pid = int(re.search(r"pid (\d+)", str(seen)).group(1))
        return seen

    def close(self):
        super().close()
        if self.pid:
            end_program(self.pid)


def end_program(pid):
    """Kills the demo, and removes what it leaves."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    listed = subprocess.run([HEAPTOP, "-l"], capture_output=True, text=True, check=False).stdout
    for path in re.findall(rf"^ *{pid} .* (/\S+/heaptop-\S+)$", listed, re.M):
        os.unlink(path)


def check_usable(s, before=Watch.BEFORE):
    """The terminal is as it was: what was on it, its modes, and it shows what is written next."""
    seen = s.look()
    assert seen.text[0].startswith(before), f"what was there before is gone:\n{seen}"
    assert not seen.alternate, "the alternate screen is still there"
    assert seen.cursor, "the cursor is hidden"
    # The emulator's answer to DA1 (background.c) may still wait to be sent.
    assert not seen.mouse and s.sends("click 3 3") in (b"", b"\x1b[?1;2c"), "the mouse is still reported"
    assert seen.pen == "--...", f"the pen is {seen.pen}"
    assert s.sends("key Up") == b"\x1b[A", "the keypad is in its other mode"
    lines = ["%3d qxlkmj the quick brown fox" % i for i in range(2 * seen.rows)]
    s.show("\r\n".join([""] + lines).encode())
    seen = s.look()
    assert seen.text == lines[-seen.rows:], f"the terminal does not scroll or write as it should:\n{seen}"
    assert all(look == "--.." for line in seen.looks for look in line)


def start_sort_filter_freeze():
    s = Watch("-d", "100ms")
    try:
        seen = s.begin()
        assert seen.alternate and not seen.cursor and seen.mouse
        head, body = seen.line("1LIVE"), seen.line("^>")
        assert body == head + 1
        assert "".join(seen.looks[body]) == "06.." * 100, "the row under the cursor"
        assert seen.looks[head][2] == "06.." and seen.looks[head][40] == "02..", "the column that sorts"
        check_painted(s)
        s.press("Down", "5")
        seen = s.wait_text("5BLOCKS▼")
        x = seen.text[head].index("5BLOCKS")
        assert seen.looks[head][x] == "06.." and seen.looks[head][2] == "02.."
        blocks = [int(n.replace(",", "")) for n in re.findall(r"^.{33,36} +([\d,]+) +[\d.]+k? ", str(seen), re.M)]
        assert blocks == sorted(blocks, reverse=True)
        check_painted(s)
        s.keys(s.sends("click %d %d" % (head, seen.text[head].index("1LIVE") + 1)))
        s.wait_text("1LIVE▼")
        check_painted(s)
        s.press("F4")
        s.type("page_load")
        assert s.wait_text("page_load$|page_load *▏").alternate
        s.press("Enter")
        seen = s.wait_text("filter: page_load")
        rows = seen.text[head + 1:seen.line(r"^ \d+-\d+ of \d+ sites?")]
        assert rows and all("page_load" in row for row in rows if row.strip()), rows
        check_painted(s)
        s.press("Esc")
        s.type(" ")
        seen = s.wait_text("FROZEN 0:")
        assert seen.looks[0][seen.text[0].index("FROZEN")] != seen.looks[0][1], "FROZEN stands out"
        check_painted(s)
        s.press("Q")
        s.end()
        check_usable(s)
        s.check_restored()
    finally:
        s.close()


def last_output(seen):
    """The last line that the program has written to the Output view."""
    return next((line for line in reversed(seen.text) if " s  cache " in line), None)


def every_view_is_painted():
    s = Watch("-d", "100ms")
    try:
        s.begin()
        for keys, shows in (("t", r"\[Tree\]"), ("i", "BOTTOM-UP"), ("\t", r"\[Sizes\]"), ("\t", r"LIVE: its blocks"),
                            ("\t", r"\[Modules\]"), ("\t", r"\[Leaks\]"), ("\t", r"RSS \S+ = heap"), ("\t", r"\[Output\]"), ("\t", r"\[Sites\]"),
                            ("\r", r"STACK, \d+"), ("\x1b", "1LIVE"), ("?", "Moving"), ("q", "1LIVE"), ("p", "2STATE")):
            s.type(keys)
            s.wait_text(shows)
            if "Output" in shows:  # another line of the program may come at any time but right after one
                last = last_output(s.settled())
                s.wait(lambda seen, last=last: last_output(seen) not in (None, last), "another line of the program")
            check_painted(s)
        s.press("Q")
        s.end()
        check_usable(s)
    finally:
        s.close()


def storm_of_resizes():
    s = Watch("-d", "100ms")
    dice = random.Random(7)
    try:
        s.begin()
        for size in ((30, 100), (24, 80), (60, 200)):
            for _ in range(40):
                s.resize(dice.randint(1, 60), dice.randint(1, 200))
                if dice.random() < 0.3:
                    s.press("Down")
                s.read(0)
            s.resize(*size)
            s.wait(lambda seen: seen.line(r"F1Help.*F10/q") == size[0] - 1, "the bar in the last line")
            check_painted(s)
        # Smaller and back before anybody could look: what the terminal cut off must come back.
        for _ in range(20):
            s.resize(60, 90)
            s.resize(60, 200)
            s.wait(lambda seen: len(seen.text[6]) > 90 and len(seen.text[0]) > 90, "what was cut off")
        check_painted(s)
        s.press("Q")
        s.end()
        check_usable(s, "")  # the emulator cuts off what does not fit
    finally:
        s.close()


def a_scroll_region_is_not_left():
    """Resized while curses scrolls, a terminal is left with the region of the size before."""
    for sent in (None, signal.SIGTERM, signal.SIGSEGV):
        s = Watch("-d", "100ms")
        try:
            s.begin()
            s.show(b"\x1b[1;3r")
            if sent:
                s.child.send_signal(sent)
            else:
                s.resize(24, 80)
                s.wait(lambda seen: seen.line(r"F1Help.*F10/q") == 23, "the bar in the last line")
                check_painted(s)
                s.press("Q")
            s.end()
            check_usable(s, "user@host" if sent else "")
        except AssertionError as e:
            raise AssertionError(f"signal {sent}: {e}") from e
        finally:
            s.close()


def the_cursor_comes_back():
    """Curses saves the cursor's place to scroll, while it is hidden; libvterm saves that with it."""
    for sent in (None, signal.SIGTERM, signal.SIGSEGV):
        s = Watch("-d", "100ms")
        try:
            s.begin()
            s.show(b"\x1b7\x1b8")
            if sent:
                s.child.send_signal(sent)
            else:
                s.press("Q")
            s.end()
            check_usable(s)
        except AssertionError as e:
            raise AssertionError(f"signal {sent}: {e}") from e
        finally:
            s.close()


def a_resize_amid_a_scroll_leaves_the_emulator_whole():
    """libvterm alone writes outside its memory when a window becomes smaller than its scroll region."""
    s = Emulator(command=["true"])
    try:
        s.tell("size 30 100")
        s.show(b"\x1b[?1049h\x1b[17;26r\x1b[4;7H")
        s.tell("size 10 90")
        assert s.look().at == (3, 6), "the cursor moved"
        s.show(b"\x1b[17;1H\x1b[3T\n\x1bM\x1b[1;30r")
        s.tell("size 10 1")
        s.show("表".encode())
        for rows in range(11, 60):
            s.tell("size %d 90" % rows)
        assert s.look().rows == 59
    finally:
        s.close()


def suspend_and_resume():
    report, report_w = os.pipe()
    go_r, go = os.pipe()
    job = [sys.executable, terminal.__file__, "job", str(report_w), str(go_r)]
    s = Watch("-d", "100ms", command=job, pass_fds=(report_w, go_r))
    try:
        s.begin()
        s.type("5")
        s.wait_text("5BLOCKS▼")
        s.type("\x1a")
        while not terminal.select.select([report], [], [], 0.02)[0]:
            assert s.read(0.02)
        assert os.read(report, 4) == b"same", "stopped with the screen's modes"
        while terminal.select.select([s.master], [], [], 0)[0]:
            s.read(0)
        check_usable(s)
        os.write(go, b"g")
        seen = s.wait_text("5BLOCKS▼")
        assert seen.alternate and seen.mouse and not seen.cursor
        assert seen.line("qxlkmj") < 0, "what was written meanwhile is still there"
        check_painted(s)
        s.press("Q")
        s.end()
        assert not s.look().alternate and not s.look().mouse and s.look().cursor
    finally:
        for fd in (report, report_w, go_r, go):
            os.close(fd)
        s.close()


def in_a_pipeline():
    """Its input and output are the program's; the screen is where the terminal is."""
    r, w = os.pipe()
    s = Watch("-d", "100ms", stdin=r, stdout=w)
    os.close(w)
    try:
        s.begin()
        check_painted(s)
        s.press("Q")
        s.end()
        check_usable(s)
        assert os.read(r, 64).startswith(b"demo: "), "the program's output is not where it was sent"
    finally:
        os.close(r)
        s.close()


def whatever_ends_it():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGSEGV, signal.SIGABRT):
        s = Watch("-d", "100ms")
        try:
            s.begin()
            s.press("j")
            s.child.send_signal(number)
            status = s.end()
            if number in (signal.SIGSEGV, signal.SIGABRT):
                assert status == -number, f"{status} after signal {number}"
            check_usable(s)
            s.check_restored()
        except AssertionError as e:
            raise AssertionError(f"signal {number}: {e}") from e
        finally:
            s.close()


def run(test):
    global failed
    try:
        test()
        print(f"ok - {test.__name__}", flush=True)
    except (AssertionError, subprocess.SubprocessError, OSError) as e:
        failed += 1
        print(f"not ok - {test.__name__}: {type(e).__name__}", flush=True)
        print(e, file=sys.stderr)


if __name__ == "__main__":
    if not os.access(EMULATOR, os.X_OK):
        print("skip - emulator: built without libvterm (libvterm-dev)")
        sys.exit(0)
    signal.alarm(280)
    wanted = sys.argv[1:]
    for test in (views_look_as_curses_drew_them, without_colours_they_look_as_curses_drew_them,
                 start_sort_filter_freeze, every_view_is_painted, storm_of_resizes, a_scroll_region_is_not_left,
                 the_cursor_comes_back, a_resize_amid_a_scroll_leaves_the_emulator_whole, suspend_and_resume, in_a_pipeline, whatever_ends_it):
        if not wanted or test.__name__ in wanted:
            run(test)
    sys.exit(failed != 0)
