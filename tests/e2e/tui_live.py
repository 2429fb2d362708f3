#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real screen on a real program, in tmux: what a user sees and types. Waits for what is to be
seen, never for a time."""
import os, re, shutil, signal, subprocess, sys, tempfile, time

B = os.path.abspath(os.environ.get("B", "build"))
HEAPTOP, DEMO = os.path.join(B, "heaptop"), os.path.join(B, "demo")
LIMIT = 60.0
failed = 0


class Tmux:
    def __init__(self, command, size=(100, 30)):
        self.dir = tempfile.mkdtemp(prefix="heaptop-tui-")
        self.socket = os.path.join(self.dir, "s")
        self.rc = os.path.join(self.dir, "rc")
        shell = f"cd {self.dir}; {command}; echo $? > {self.rc}.new; mv {self.rc}.new {self.rc}; sleep 600"
        env = dict(os.environ, LC_ALL="C.UTF-8", TERM="xterm-256color",
                   XDG_CONFIG_HOME=os.path.join(self.dir, "no-config"))
        env.pop("TMUX", None)
        subprocess.run(["tmux", "-f", "/dev/null", "-S", self.socket, "new-session", "-d", "-x",
                        str(size[0]), "-y", str(size[1]), shell], env=env, check=True)

    def tmux(self, *args):
        return subprocess.run(["tmux", "-S", self.socket, *args], check=True,
                              capture_output=True, text=True).stdout

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def wait(self, *patterns):
        """Until all are seen at once: what is captured may be a part of a frame."""
        end = time.monotonic() + LIMIT
        while True:
            text = self.screen()
            missing = [p for p in patterns if not re.search(p, text)]
            if not missing:
                return text
            assert time.monotonic() < end, f"never saw {missing} in:\n{text}"
            time.sleep(0.05)

    def status(self):
        end = time.monotonic() + LIMIT
        while not os.path.exists(self.rc):
            assert time.monotonic() < end, "did not end:\n" + self.screen()
            time.sleep(0.05)
        with open(self.rc) as f:
            return int(f.read())

    def pid(self):
        return int(re.search(r"pid (\d+)", self.wait(r"pid \d+")).group(1))

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True)
        shutil.rmtree(self.dir, ignore_errors=True)


def end_program(pid):
    """Kills it, and removes what it leaves: the segment of a program that was killed."""
    if not pid:
        return
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    listed = subprocess.run([HEAPTOP, "-l"], capture_output=True, text=True).stdout
    for path in re.findall(rf"^ *{pid} .* (/dev/shm/heaptop-\S+)$", listed, re.M):
        os.unlink(path)


def rows(text):
    """The table's rows, below its header."""
    lines = text.splitlines()
    head = next(i for i, l in enumerate(lines) if "1LIVE" in l)
    return [l for l in lines[head + 1:] if re.match(r"[> ] *[\d.]+[kMG]? ", l)]


def live_demo():
    pid = 0
    t = Tmux(f"{HEAPTOP} -d 200ms -- {DEMO}")
    try:
        text = t.wait(r"page_load.* demo\.c:\d+", "● LIVE", "RSS", "hwm", "Ops", "faults", r"\[Sites\] Tree", "F10/q")
        assert max(len(l) for l in text.splitlines()) <= 100, f"over 100 columns:\n{text}"
        t.keys("j", "Enter")
        t.wait(r"STACK, \d+ frames", "BLOCK SIZE", "LIFETIME")
        t.keys("Escape")
        t.wait(r"1LIVE▼")
        t.keys("Tab")
        t.wait(r"(?s)\[Tree\].*page_load")
        t.keys("i", "j")
        t.wait(r"(?s)BOTTOM-UP.*> .*page_load")
        t.keys("Tab", "BTab", "BTab", "BTab")
        t.wait(r"demo: a cache")
        t.keys("Tab", "5")
        t.wait(r"5BLOCKS▼", r"\A(?![\s\S]*\?\?)")  # names that come later are shown among frozen rows, too
        t.keys("Space")
        frozen = rows(t.wait(r"FROZEN 0:0[1-9]"))
        later = rows(t.wait(r"([3-9]|\d\d) newer snapshots are waiting"))
        assert frozen == later, f"frozen: {frozen}\nlater: {later}"
        t.keys("Space")
        t.wait("● LIVE")
        t.keys("?")
        t.wait("Moving")
        t.keys("Escape")  # with another key at once it would be Alt
        t.wait(r"5BLOCKS▼")
        t.keys("x")
        t.wait("(?i)export as")
        t.keys("Enter")
        saved = re.search(r"saved (\S+\.txt)", t.wait(r"saved \S+\.txt")).group(1)
        with open(os.path.join(t.dir, saved)) as f:
            text = f.read()
        assert "page_load" in text, f"saved:\n{text}"
        t.tmux("resize-window", "-x", "40", "-y", "8")
        t.wait(r"\? help")
        t.tmux("resize-window", "-x", "20", "-y", "4")
        t.wait(r"need 40x8")
        t.tmux("resize-window", "-x", "80", "-y", "24")
        t.wait(r"F10/q")
        pid = t.pid()
        t.keys("q")
        t.wait("still runs")
        t.keys("q")
        t.status()
    finally:
        end_program(pid)
        t.close()


def on_a_small_stack():
    """ncurses alone needs more to start with."""
    t = Tmux(f"prlimit --stack=65536 {HEAPTOP} -d 200ms -- {DEMO}")
    try:
        t.wait(r"page_load.* demo\.c:\d+", "● LIVE")
        t.keys("Enter")
        t.wait(r"STACK, \d+ frames")
        t.keys("Escape")
        t.wait("1LIVE")
        t.keys("L")
        t.wait("scan 1", "definite")
        t.keys("F8")
        t.wait("RSS [0-9.]+M = heap")
        t.keys("q")
        t.wait("t ends it")
        t.keys("t")
        status = t.status()
        assert status == 0, f"status {status}"
    finally:
        t.close()


def a_program_that_is_ended():
    t = Tmux(f"{HEAPTOP} -d 60 -- {DEMO}")
    t.wait(r"up 0:0[1-9](?s:.*)page_load")  # the first frames do not wait for a whole delay
    pid = t.pid()
    t.keys("q")
    t.wait("t ends it")
    t.keys("t")
    assert t.status() == 0  # demo ends in good order on SIGTERM
    assert not os.path.exists("/proc/%d" % pid)
    t.close()


def segments_of(pid):
    listed = subprocess.run([HEAPTOP, "-l"], capture_output=True, text=True).stdout
    return re.findall(rf"^ *{pid} .* (/\S+/heaptop-\S+)$", listed, re.M)


def children_are_hung_up_with_the_program():
    t = Tmux(f"mkdir shm; HEAPTOP_DIR=$PWD/shm {HEAPTOP} -d 200ms -- sh -c 'sleep 300; true'")
    shm = os.path.join(t.dir, "shm")
    try:
        t.wait("● LIVE")
        end = time.monotonic() + LIMIT
        while len(os.listdir(shm)) < 2:
            assert time.monotonic() < end, "the child is not recorded"
            time.sleep(0.05)
        # And one that was hung up before it had made its segment.
        gone = subprocess.Popen("true")
        gone.wait()
        open(os.path.join(shm, f"heaptop-{gone.pid}-1-0"), "w").close()
        t.keys("q")
        t.wait("t ends it")
        t.keys("t")
        t.status()
        left = os.listdir(shm)
        told = subprocess.run([HEAPTOP, "-l"], env=dict(os.environ, HEAPTOP_DIR=shm),
                              capture_output=True, text=True).stdout
        assert not left, f"{left}\n{told}"
    finally:
        t.close()


def a_program_that_is_left_cleans_up():
    """The viewer leaves first: the segment goes with the program, without anyone's help."""
    t = Tmux(f"mkfifo go; {HEAPTOP} -d 200ms -- bash -c 'read -r line < go; exit 0'")
    t.wait("● LIVE")
    pid = t.pid()
    t.keys("q")
    t.wait("still runs")
    t.keys("q")
    assert t.status() == 0
    left = segments_of(pid)
    assert len(left) == 1, left
    with open(os.path.join(t.dir, "go"), "w") as go:
        go.write("on\n")
    end = time.monotonic() + LIMIT
    while os.path.exists(left[0]):
        assert time.monotonic() < end, left[0] + " is still there"
        time.sleep(0.05)
    t.close()


def a_hang_up_reaches_the_program():
    t = Tmux(f"{HEAPTOP} -- {DEMO}")
    t.wait("page_load")
    pid = t.pid()
    left = segments_of(pid)
    assert len(left) == 1, left
    t.close()
    end = time.monotonic() + LIMIT
    while os.path.exists(left[0]) or os.path.exists("/proc/%d" % pid):
        assert time.monotonic() < end, "%s or %d is still there" % (left[0], pid)
        time.sleep(0.05)


def a_program_that_ends():
    for code, status, word in (("exit 3", 3, "exited 3"), ("kill -SEGV $$", 139, "killed by SIGSEGV")):
        t = Tmux(f"{HEAPTOP} -d 200ms -- bash -c 'echo said at the end; {code}'")
        try:
            t.wait(word, r"\A(?![\s\S]*● LIVE)")
            t.keys("BTab")
            t.wait("said at the end")
            t.keys("q")
            assert t.status() == status
            # What a crash leaves behind is named on the way out; it is ours to remove.
            for left in re.findall(r"/dev/shm/heaptop\S+", t.screen().replace("\n", "")):
                os.unlink(left)
        finally:
            t.close()


def vim_has_the_keyboard():
    """A full-screen program is seen as on a terminal of its own, and edits a file by the keys that it gets."""
    path = os.path.join(tempfile.mkdtemp(prefix="heaptop-e2e-"), "poem")
    with open(path, "w", encoding="ascii") as f:
        f.write("one\ntwo\n")
    t = Tmux(f"{HEAPTOP} -d 200ms -- vim -u NONE -N {path}")
    try:
        t.wait(r"● LIVE")
        t.keys("BTab")
        text = t.wait(r"\[Output\]", r"(?m)^one$", r"(?m)^two$", r"(?m)^~$")
        t.keys("C-]")
        t.wait("the keyboard is the program's")
        t.keys("Down", "A")
        t.wait("-- INSERT --")
        for keys in (" q Q", "Escape", ":set number", "Enter"):
            t.keys(keys)
        text = t.wait(r"(?m)^ +1 one$", r"(?m)^ +2 two q Q$")
        t.keys("C-]")
        t.wait(r"\^\] Enter type to the program")
        t.keys("C-]")
        t.wait("the keyboard is the program's")
        for keys in (":wq", "Enter"):
            t.keys(keys)
        t.wait("exited 0", "the keyboard is heaptop's again", r"\A(?![\s\S]*INSERT)")
        t.keys("q")
        assert t.status() == 0
        with open(path, encoding="ascii") as f:
            assert f.read() == "one\ntwo q Q\n"
    finally:
        t.close()
        shutil.rmtree(os.path.dirname(path))


def attached():
    demo = subprocess.Popen([DEMO], env=dict(os.environ, LD_PRELOAD=os.path.join(B, "libheaptop.so")),
                            stdout=subprocess.PIPE)
    demo.stdout.readline()  # it runs
    t = Tmux(f"{HEAPTOP} -d 200ms -a {demo.pid}")
    try:
        t.wait(r"page_load.* demo\.c:\d+")
        t.keys("BTab")
        t.wait(r"\[Output\]", "a terminal or file of its own")
        t.keys("q")
        assert t.status() == 0
        assert demo.poll() is None, "leaving ended the program"
    finally:
        end_program(demo.pid)
        demo.wait()
        demo.stdout.close()
        t.close()


def what_is_suppressed_stays_so():
    # The next scan does not show it until the next look, which is seconds away.
    t = Tmux(f"{HEAPTOP} -d 4 -- {os.path.join(B, 'tests/targets/leaks')} wait", (160, 30))
    try:
        t.wait("LIVE")
        t.keys("BTab")
        t.wait("ready")  # all its blocks are there
        t.keys("L")
        # Five calls in one line: their addresses tell them apart.
        t.wait("definite_plain ‹0x[0-9a-f]+› +leaks.c")
        for keys in ("/", "definite_plain", "Enter", "!"):
            t.keys(keys)
        t.wait("suppressed 500 in 5")
        t.keys("L")
        assert "suppressed 500 in 5" in t.wait("scan 2")
        t.keys("q")
        t.wait("t ends it")
        t.keys("t")
        t.status()
    finally:
        t.close()


def the_events_of_a_site():
    env = dict(os.environ, LD_PRELOAD=os.path.join(B, "libheaptop.so"))
    program = subprocess.Popen([os.path.join(B, "tests/targets/asked")], env=env, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    program.stdout.readline()

    def ask(line):
        program.stdin.write(line.encode() + b"\n")
        program.stdin.flush()
        assert program.stdout.readline() == b"done\n", line

    ask("keep 10")
    t = Tmux(f"{HEAPTOP} -d 200ms -a {program.pid}")
    try:
        t.wait(r"asked_keep")
        for keys in ("/", "asked_keep", "Enter", "Enter"):
            t.keys(keys)
        t.wait(r"SITE \d+ +asked_keep", "E events")
        t.keys("E")
        t.wait(r"Site detail > Events\]", "waiting for the next allocation at this site")
        ask("turn 100")  # it writes events within 32 of them; these are not the site's
        ask("keep 3")
        text = t.wait("3 allocations, 3 of the last 3 live")
        lines = re.findall(rf"(\d+:\d\d\.\d{{4}}) +{program.pid} asked +(1,000) +0x([0-9a-f]+) +live", text)
        assert len(lines) == 3 and len({l[2] for l in lines}) == 3, text
        ask("drop 13")
        text = t.wait("3 allocations, 0 of the last 3 live")
        assert not re.search(r"live$", text.split("FREED AFTER")[1], re.M), text
        t.keys("q", "q", "q")
        assert t.status() == 0
        program.stdin.close()
        assert program.wait(LIMIT) == 0
    finally:
        end_program(program.pid)
        program.wait()
        program.stdout.close()
        t.close()


def run(test):
    global failed
    try:
        test()
        print(f"ok - {test.__name__}", flush=True)
    except (AssertionError, subprocess.SubprocessError, StopIteration) as e:
        failed += 1
        print(f"not ok - {test.__name__}: {type(e).__name__}", flush=True)
        print(e, file=sys.stderr)


if not shutil.which("tmux"):
    print("skip - tui_live: no tmux")
    sys.exit(0)
for test in (live_demo, on_a_small_stack, a_program_that_is_ended, children_are_hung_up_with_the_program,
             a_program_that_is_left_cleans_up, a_program_that_ends, vim_has_the_keyboard, a_hang_up_reaches_the_program,
             attached, what_is_suppressed_stays_so, the_events_of_a_site):
    if not sys.argv[1:] or test.__name__ in sys.argv[1:]:
        run(test)
sys.exit(failed != 0)
