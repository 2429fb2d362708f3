#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The screen on a real pty: whatever ends it, the terminal is as it was. Nothing here waits for a
time: each step waits for what it needs to see, and a stuck program fails by the limit."""
import ast, base64, fcntl, os, pty, re, select, shutil, signal, struct, subprocess, sys, tempfile, termios, time

SHOW = os.path.join(os.environ.get("B", "build"), "tests", "tui", "show", "show")
LIMIT = 30.0
ENV = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8")
ENV.pop("LINES", None)
ENV.pop("COLUMNS", None)
LEFT = b"\x1b[?1049l"  # the alternate screen was left
CURSOR = b"\x1b[?12l\x1b[?25h"
failed = 0


class Screen:
    """tui/show as a session leader on its own pty."""

    def __init__(self, *args, command=None, size=(30, 100), env=ENV, **redirect):
        self.master, slave = pty.openpty()
        self.resize(*size)
        # Kept open, to look at the modes afterwards; a hang-up needs it closed.
        self.slave = slave
        self.before = termios.tcgetattr(slave)
        self.seen = b""

        def lead():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        files = {"stdin": slave, "stdout": slave, "stderr": slave}
        files.update(redirect)
        self.child = subprocess.Popen(command or [SHOW, *args], env=env, preexec_fn=lead, **files)

    def resize(self, rows, cols):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            try:
                self.seen += os.read(self.master, 65536)
            except OSError:
                return False
        return True

    def wait_for(self, what, start=0):
        end = time.monotonic() + LIMIT
        while what not in self.seen[start:]:
            assert time.monotonic() < end, f"never saw {what!r}; last: {self.seen[-300:]!r}"
            assert self.read(0.2), f"closed before {what!r}"

    def keys(self, data):
        os.write(self.master, data)

    def end(self):
        limit = time.monotonic() + LIMIT
        while self.child.poll() is None:
            assert time.monotonic() < limit, "did not end"
            self.read(0.05)
        while select.select([self.master], [], [], 0)[0] and self.read(0):
            pass
        return self.child.returncode

    def close(self):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        for fd in (self.master, self.slave):
            try:
                os.close(fd)
            except OSError:
                pass

    def check_restored(self):
        assert termios.tcgetattr(self.slave) == self.before, "the modes are not as they were"
        assert LEFT in self.seen, "the alternate screen was not left"
        assert CURSOR in self.seen or b"\x1b[?25h" in self.seen, "the cursor stayed hidden"


def quits_by_key():
    for key in (b"q", b"Q", b"\x1b[21~"):
        s = Screen()
        s.wait_for(b"LIVE")
        s.keys(key)
        assert s.end() == 0, f"status after {key!r}"
        s.check_restored()
        s.close()


def lone_escape_is_no_sequence():
    s = Screen()
    s.wait_for(b"LIVE")
    s.keys(b"\x1b")
    s.wait_for(b"nothing to go back to")
    s.keys(b"\x1b[Bj\x1bOB\r")
    s.wait_for(b"STACK")
    s.keys(b"Q")
    assert s.end() == 0
    s.close()


def unknown_sequences_are_no_characters():
    """Esc, [, 1, 7 and D would go back, to the site before, and sort."""
    s = Screen()
    s.wait_for(b"LIVE")
    s.keys(b"\r")
    s.wait_for(b"STACK")
    left, other = (b"\x1b[1;5D", b"Ctrl-Left"), b"that key"
    for keys, name in (left, (b"\x1b[1;17D", other), (b"\x1b[15;2~", b"Shift-F5"), (b"\x1bOz", other), left,
                       (b"\x1b[[A", other), left, (b"\xc3\xa4", b"that letter"), (b"\x1bq", b"Alt-q"),
                       (b"\x1b]10;rgb:0000/0000/0000\x1b\\", other), left, (b"\x1bPq\x1b\\", other), left):
        start = len(s.seen)
        s.keys(keys)
        s.wait_for(name, start)
    s.keys(b"\x0c")  # painted anew: it is the same view still
    start = len(s.seen)
    s.wait_for(b"STACK", start)
    s.keys(b"Q")
    assert s.end() == 0
    s.close()



def pasted_text_runs_no_command():
    """Not even q, Q and Enter; a prompt takes it as text."""
    s = Screen()
    s.wait_for(b"LIVE")
    assert b"\x1b[?2004h" in s.seen, "pastes are not marked"
    start = len(s.seen)
    s.keys(b"\x1b[200~Qq\rQ\x1b[201~")
    s.wait_for(b"pasted text is ignored", start)
    s.keys(b"/")
    start = len(s.seen)
    s.keys(b"\x1b[200~Shard\x1b[201~\r")
    s.wait_for(b"Shard", start)
    s.keys(b"Q")
    assert s.end() == 0
    assert b"\x1b[?2004l" in s.seen[start:], "the mode stays"
    s.close()


def the_background_decides_the_colours():
    """A terminal that does not answer is waited for no longer than a moment; a late answer is no key."""
    for value, color in (("0;15", b"\x1b[34m"), ("15;0", b"\x1b[96m"), ("", b"\x1b[36m")):
        s = Screen(env=dict(ENV, COLORFGBG=value))
        s.wait_for(b"LIVE")
        assert b"\x1b]11;?" in s.seen, "the background was not asked for"
        assert color in s.seen, (value, s.seen)
        start = len(s.seen)
        s.keys(b"\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?62;c" + b"_")
        s.wait_for(b"_ does nothing", start)
        assert b"that key" not in s.seen[start:]
        s.keys(b"Q")
        assert s.end() == 0
        s.close()


def an_unknown_terminal_runs_no_sequence():
    """Sequences of keys that its terminfo, vt100's, does not have."""
    s = Screen(env=dict(ENV, TERM="nonesuch"))
    s.wait_for(b"LIVE")
    for keys, name in ((b"\x1b[15~", b"F5"), (b"\x1b[3~", b"Delete"), (b"\x1b[1;5A", b"Ctrl-Up"),
                       (b"\x1bOz", b"that key"), (b"\x1b[24;2~", b"Shift-F12")):
        start = len(s.seen)
        s.keys(keys)
        s.wait_for(name, start)
    s.keys(b"Q")
    assert s.end() == 0
    s.close()


def ends_by_signal():
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        s = Screen()
        s.wait_for(b"LIVE")
        s.child.send_signal(sig)
        assert s.end() == 1
        s.check_restored()
        assert b"tui_run: -4, signal %d" % sig in s.seen.split(LEFT)[-1]
        s.close()


def control_c_ends():
    s = Screen()
    s.wait_for(b"LIVE")
    s.keys(b"\x03")
    s.end()
    s.check_restored()
    assert b"signal 2" in s.seen
    s.close()


def crash_restores_and_tells():
    s = Screen("-c", "1", "-d", "100")
    assert s.end() == -signal.SIGSEGV
    s.check_restored()
    assert b"said on stderr" in s.seen.split(LEFT)[-1], "stderr was lost"
    s.close()


def sent_crash_signals_restore():
    for sig in (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL):
        s = Screen()
        s.wait_for(b"LIVE")
        s.child.send_signal(sig)
        assert s.end() == -sig
        s.check_restored()
        s.close()


def hang_up_ends():
    s = Screen()
    s.wait_for(b"LIVE")
    os.close(s.slave)
    os.close(s.master)
    # SIGHUP is ignored by some parents' children; either way it must end.
    s.child.wait(LIMIT)
    s.close()


def hang_up_without_a_signal_ends():
    # As under nohup: only poll can tell.
    s = Screen(command=["sh", "-c", 'trap "" HUP; exec "$0"', SHOW])
    s.wait_for(b"LIVE")
    os.close(s.slave)
    os.close(s.master)
    s.child.wait(LIMIT)
    s.close()


def end_of_input_ends():
    # A terminal's input cannot be /dev/null, but a pty's other end can send EOF.
    s = Screen()
    s.wait_for(b"LIVE")
    s.keys(b"\x04" * 3)  # in our mode ^D is a key and no end
    s.wait_for(b"> keeps its line")
    s.keys(b"q")
    assert s.end() == 0
    s.close()


def resizes():
    s = Screen(size=(24, 80))
    s.wait_for(b"LIVE")
    for i in range(60):
        s.resize(5 + i % 50, 20 + i * 7 % 200)
    s.resize(5, 30)
    s.wait_for(b"30x5, need 40x8")
    at = len(s.seen)
    s.resize(30, 100)
    s.wait_for(b"F10/q", at)
    s.resize(1, 1)
    s.keys(b"q")
    assert s.end() == 0
    s.check_restored()
    s.close()


def job_shell():
    """A shell with one job, run inside the pty: says when it stops, continues it when told."""
    report, go = int(sys.argv[2]), int(sys.argv[3])
    job = sys.argv[4:] or [SHOW]
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    modes = termios.tcgetattr(0)
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execv(job[0], job)
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            os._exit(os.waitstatus_to_exitcode(status) & 127)
        os.tcsetpgrp(0, os.getpid())
        os.write(report, b"same" if termios.tcgetattr(0) == modes else b"diff")
        os.read(go, 1)
        os.tcsetpgrp(0, pid)
        os.kill(pid, signal.SIGCONT)


def suspend_and_back():
    report, report_w = os.pipe()
    go_r, go = os.pipe()
    s = Screen(command=[sys.executable, __file__, "job", str(report_w), str(go_r)],
               pass_fds=(report_w, go_r))
    s.wait_for(b"F10/q")
    at = len(s.seen)
    s.keys(b"\x1a")
    limit = time.monotonic() + LIMIT
    while not select.select([report], [], [], 0.05)[0]:
        assert time.monotonic() < limit, "did not stop"
        s.read(0.05)
    assert os.read(report, 4) == b"same", "stopped with the screen's modes"
    while select.select([s.master], [], [], 0)[0]:
        s.read(0)
    assert LEFT in s.seen[at:], "stopped on the alternate screen"
    s.resize(12, 60)
    at = len(s.seen)
    os.write(go, b"g")
    s.wait_for(b"F10/q", at)
    assert b"LIVE" in s.seen[at:]
    s.keys(b"q")
    assert s.end() == 0
    s.check_restored()
    for fd in (report, report_w, go_r, go):
        os.close(fd)
    s.close()


def redirected_uses_the_terminal():
    with open(os.devnull, "r+b") as null:
        s = Screen(stdin=null, stdout=null)
        s.wait_for(b"LIVE")
        s.keys(b"q")
        assert s.end() == 0
        s.check_restored()
        s.close()


def no_terminal_is_an_error():
    r = subprocess.run([SHOW], stdin=subprocess.DEVNULL, capture_output=True, env=ENV,
                       start_new_session=True, timeout=LIMIT)
    assert r.returncode == 1 and b"tui_run: -25" in r.stderr, r
    assert r.stdout == b""


def terminals():
    for term in ("linux", "dumb", "vt100", "screen", "tmux-256color", "no-such-terminal", ""):
        s = Screen(env=dict(ENV, TERM=term))
        s.wait_for(b"server")
        s.keys(b"jj?qq")
        assert s.end() == 0, term
        assert termios.tcgetattr(s.slave) == s.before
        if term == "linux":
            # Names of the program may be more; what we draw ourselves is not.
            assert "▼".encode() not in s.seen and "█".encode() not in s.seen
        s.close()


def plain_locale():
    s = Screen(env=dict(ENV, LC_ALL="C"))
    s.wait_for(b"server")
    s.keys(b"q")
    assert s.end() == 0
    assert max(s.seen) < 128, "a byte that this locale has no letter for"
    s.close()


def frames_end_it():
    s = Screen("-n", "3", "-d", "100")
    assert s.end() == 0
    s.check_restored()
    s.close()


def mouse():
    s = Screen("-d", "60000")
    s.wait_for(b"F10/q")
    s.keys(b"\x1b[<0;20;13M\x1b[<0;20;13m")
    s.wait_for(b"> keeps its line")
    at = len(s.seen)
    s.keys(b"\x1b[<65;20;13M\x1b[<0;12;6M")
    s.wait_for(b"TOP-DOWN", at)
    s.keys(b"q")
    assert s.end() == 0
    s.close()
    s = Screen("-M")
    s.wait_for(b"F10/q")
    s.keys(b"q")
    s.end()
    assert b"\x1b[?1000h" not in s.seen and b"\x1b[?1006" not in s.seen
    s.close()


def drag_on_the_timeline():
    s = Screen("-t", "-d", "60000")
    s.wait_for(b"F10/q")
    assert s.seen.index(b"\x1b[?1002h") > s.seen.index(b"1000h"), "the last request holds"
    # Pressed on the line, moved while it is held, released below it; then the right button.
    s.keys(b"\x1b[<0;12;5M")
    s.wait_for(b"PAST")
    s.keys(b"\x1b[<32;20;5M\x1b[<32;30;14M\x1b[<0;30;14m")
    at = len(s.seen)
    s.keys(b"\x1b[<2;20;5M\x1b[<2;20;5m")
    s.wait_for(b"s ends it", at)
    ends = re.search(rb"RANGE (\d+):(\d\d)-(\d+):(\d\d)", s.seen[at:])
    start, cursor = (int(ends[i]) * 60 + int(ends[i + 1]) for i in (1, 3))
    # The 13th and the 23rd of some 55 cells, of 12:41.
    assert 120 < start < 240 and 240 < cursor < 400, ends
    s.keys(b"q")
    assert s.end() == 0
    assert s.seen.rindex(b"\x1b[?1002l") > s.seen.index(b"RANGE")
    s.close()


def output_is_shown_when_it_comes():
    r, w = os.pipe()
    s = Screen("-d", "60000", "-f", str(r), pass_fds=(r,))
    s.wait_for(b"F10/q")
    s.keys(b"\033[Z")
    s.wait_for(b"line 302")
    at = len(s.seen)
    os.write(w, b"x" * 7)  # seven lines
    s.wait_for(b"09:", at)
    os.close(w)  # and its end does not make the loop spin or stop
    os.close(r)
    s.keys(b"q")
    assert s.end() == 0
    s.close()


def editor_tells(path):
    """The editor of the tests: says what it was given and stays until a line comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open(path, "w") as f:
        f.write(repr({"argv": sys.argv[3:], "terminal": [os.isatty(fd) for fd in (0, 1, 2)],
                      "env": {k: v for k, v in os.environ.items()
                              if k.startswith("HEAPTOP_") or k == "LD_PRELOAD"}}))
    print("EDITOR HERE", flush=True)
    sys.stdin.readline()


def editor_screen(path, **env):
    command = f"{sys.executable} {os.path.abspath(__file__)} editor {path}"
    s = Screen("-d", "100", env=dict(ENV, **{"VISUAL": "", "EDITOR": command, **env}))
    s.wait_for(b"F10/q")
    s.keys(b"j\r")
    s.wait_for(b"SOURCE")
    return s


def editor_gets_the_terminal_and_gives_it_back():
    with tempfile.NamedTemporaryFile() as told:
        s = editor_screen(told.name, HEAPTOP_DIR="/nowhere",
                          LD_PRELOAD="/nowhere/libheaptop.so")
        s.keys(b"e")
        s.wait_for(b"EDITOR HERE")
        assert termios.tcgetattr(s.slave) == s.before and LEFT in s.seen, "it is not its own"
        s.keys(b"\x03")  # for the editor, not for us
        at = len(s.seen)
        s.keys(b"\n")
        s.wait_for(b"back from", at)
        assert b"SOURCE" in s.seen[at:], "the screen was not painted again"
        s.keys(b"Q")
        assert s.end() == 0
        s.check_restored()
        s.close()
        got = ast.literal_eval(told.read().decode())
    assert got["argv"] == ["+214", "/src/cache.cc"], got
    assert got["terminal"] == [True] * 3, got
    assert got["env"] == {"LD_PRELOAD": ""}, got


def editor_that_is_not_there_is_told():
    s = editor_screen("/dev/null", VISUAL="no-such-editor --wait")
    s.keys(b"e")
    s.wait_for(b"no-such-editor --wait exited with status 127: command not found")
    s.keys(b"Q")
    assert s.end() == 0
    s.check_restored()
    s.close()


def editor_ends_with_us():
    with tempfile.NamedTemporaryFile() as told:
        s = editor_screen(told.name)
        s.keys(b"e")
        s.wait_for(b"EDITOR HERE")
        s.child.send_signal(signal.SIGTERM)
        assert s.end() == 1
        assert termios.tcgetattr(s.slave) == s.before
        s.close()


def stack_goes_to_the_clipboard():
    s = editor_screen("/dev/null")
    s.keys(b"y")
    s.wait_for(b"\x1b]52;c;c2l0ZSAxNzog")
    s.wait_for(b"7 frames of site 17")
    s.keys(b"Q")
    assert s.end() == 0
    s.close()


def gnu_screen_passes_the_clipboard_on():
    if not shutil.which("screen"):
        return "screen is not installed (make deps)"
    with tempfile.TemporaryDirectory(prefix="heaptop-screen-") as folder:
        s = Screen(command=["screen", "-c", "/dev/null", SHOW, "-d", "1000", "-k"],
                   env=dict(ENV, SCREENDIR=folder, TERM="xterm-256color"))
        s.wait_for(b"LIVE")
        s.keys(b"j\r")
        s.wait_for(b"SITE 17")
        s.keys(b"y")
        s.wait_for(b"7 frames of site 17")
        sent = re.search(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\a", s.seen)
        assert sent, "nothing went to the clipboard"
        text = base64.b64decode(sent[1]).decode()
        assert text.startswith("site 17: ") and "__libc_start_main" in text, text
        s.keys(b"Q")
        s.end()
        s.close()
    return None


def run(test):
    global failed
    try:
        skipped = test()
        print(f"skip - {test.__name__}: {skipped}" if skipped else f"ok - {test.__name__}", flush=True)
    except (AssertionError, subprocess.TimeoutExpired) as e:
        failed += 1
        print(f"not ok - {test.__name__}: {e}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["job"]:
        job_shell()
    if sys.argv[1:2] == ["editor"]:
        editor_tells(sys.argv[2])
        sys.exit(0)
    signal.alarm(280)
    for test in (quits_by_key, lone_escape_is_no_sequence, unknown_sequences_are_no_characters,
                 pasted_text_runs_no_command, an_unknown_terminal_runs_no_sequence,
                 the_background_decides_the_colours, ends_by_signal, control_c_ends,
                 crash_restores_and_tells, sent_crash_signals_restore, hang_up_ends,
                 hang_up_without_a_signal_ends, end_of_input_ends, resizes, suspend_and_back,
                 redirected_uses_the_terminal, no_terminal_is_an_error, terminals, plain_locale,
                 frames_end_it, mouse, drag_on_the_timeline, output_is_shown_when_it_comes,
                 editor_gets_the_terminal_and_gives_it_back, editor_that_is_not_there_is_told,
                 editor_ends_with_us, stack_goes_to_the_clipboard, gnu_screen_passes_the_clipboard_on):
        run(test)
    sys.exit(failed != 0)
