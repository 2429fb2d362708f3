#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures of the screen in README.md and in man/heaptop-screen.7. Without arguments: what stands still in
README's (tabs, column headers, the bar) is what the screen of this tree shows; the manual's show canned
data, and are so to the last character. --write (make pictures): the manual's and the demo's are made anew,
and the tab line of the others, which show programs that are not in this tree, is set right. --write-manual
(make golden): the manual's alone."""
import os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
B = os.path.join(ROOT, os.environ.get("B", "build"))
README = os.path.join(ROOT, "README.md")
MAN = os.path.join(ROOT, "man", "heaptop-screen.7")
# The comment has options and a script, with semicolons between their lines.
MAN_PICTURE = re.compile(r'(^\.\\" picture: (\S*); ([^\n]*)\n\.Bd -literal\n)(.*?)(^\.Ed\n)', re.S | re.M)
ROFF = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}
PICTURE = re.compile(r"^```\n( heaptop  .*?)^```\n", re.S | re.M)
DEMO = ":size 100x24\n3\n:wait 26\n:save-display -\nq\nt\n"
# Each view once, as soon as it has something to show.
VIEWS = (":size 100x30\n:until page_load\n:save-display -\nj Enter\n:save-display -\nj\n:save-display -\nq t\n"
         ":save-display -\ni\n:save-display -\nF8\n:wait 2\n:save-display -\nTab\n:save-display -\nq\nt\n")
# A range on the timeline of a recording.
PAST = ":size 100x30\n^\ns (\n:save-display -\n"


def play(script, *options, program=("--", "./demo", "60")):
    """The screens that a script on the demo saves, one after the other."""
    with tempfile.TemporaryDirectory(prefix="heaptop-pictures-") as folder:
        parts = script.split("save-display -")
        shots = [os.path.join(folder, "%d" % i) for i in range(len(parts) - 1)]
        with open(os.path.join(folder, "script"), "w", encoding="utf-8") as f:
            f.write("".join(p for pair in zip(parts, ["save-display " + s for s in shots] + [""]) for p in pair))
        done = subprocess.run([os.path.join(B, "heaptop"), *options, "--script", f.name, *program],
                              cwd=B, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=100,
                              env=dict(os.environ, LC_ALL="C.UTF-8", XDG_CONFIG_HOME="/dev/null/none"))
        assert os.path.exists(shots[-1]), done.stderr
        return "".join(open(shot, encoding="utf-8").read() for shot in shots)


def man_picture(m):
    """The block again, with what its script shows now."""
    with tempfile.NamedTemporaryFile("w", prefix="heaptop-pictures-") as script:
        script.write(m[3].replace("; ", "\n") + "\n:save-display -\n")
        script.flush()
        shown = subprocess.run([os.path.join(B, "tests", "tui", "show", "show"), m[2], "-p", script.name], check=True,
                               stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               env=dict(os.environ, LC_ALL="C.UTF-8")).stdout
    assert shown.isascii(), "the manual's pictures are of ASCII"
    lines = ["".join(ROFF.get(c, c) for c in line) for line in shown.splitlines()]
    return m[1] + "".join(line + "\n" if line else "\\&\n" for line in lines) + m[5]


def man_check():
    with open(MAN, encoding="utf-8") as f:
        text = f.read()
    pictures_of_it = list(MAN_PICTURE.finditer(text))
    assert len(pictures_of_it) >= 3, "man/heaptop-screen.7 has no pictures"
    for m in pictures_of_it:
        now = man_picture(m)
        assert m.group() == now, f"not what is shown now (make pictures): {m[3]}: {now}"


def man_write():
    with open(MAN, encoding="utf-8") as f:
        text = MAN_PICTURE.sub(man_picture, f.read())
    with open(MAN, "w", encoding="utf-8") as f:
        f.write(text)


def tabs(line):
    """The tabs alone: where we are is the picture's own."""
    return re.sub(r"\[(\w+)[^]]*\]", r" \1 ", line[:72]).split()


def fixed(line):
    """What stands still in a line, or None: the tabs, the names of columns, the bar."""
    if "Sizes  Threads" in line:
        return " ".join(tabs(line))
    if re.search(r"\b1LIVE|\b1TOTAL|SIZE +RSS +LIVE|F10/q", line):
        return " ".join(re.sub(r"[▼▲]|MAPPING.*? SIZE", " ", line).split())
    return None


def pictures(text):
    return [m.group(1) for m in PICTURE.finditer(text)]


def check():
    with open(README, encoding="utf-8") as f:
        shown = pictures(f.read())
    assert shown, "README.md has no picture"
    with tempfile.TemporaryDirectory(prefix="heaptop-pictures-") as folder:
        recording = os.path.join(folder, "demo.rec")
        screens = play(VIEWS, "-d", "100ms", "--record", recording) + play(PAST, program=("-r", recording))
    now = {fixed(line) for line in screens.splitlines()}
    for picture in shown:
        for line in picture.splitlines():
            assert len(line) <= 100, f"wider than 100: {line!r}"
            assert fixed(line) is None or fixed(line) in now, f"not what is shown now (make pictures): {line!r}"


def write():
    made = play(DEMO)
    bar = next(line for line in made.splitlines() if "Sizes  Threads" in line)
    names = tabs(bar)

    def tab_line(m):
        line = m.group()
        here = re.search(r"\[([^]]*)\]", line).group(1)
        left = "".join(f"[{here}]" if name == here.split(" > ")[0] else f" {name} " for name in names)
        right = re.search(r"(?:   | {2,}(?=\S+$))(\S.*)$", line[len(left) - 1:])
        return left + (right.group(1).rjust(99 - len(left)) if right else "")

    with open(README, encoding="utf-8") as f:
        text = f.read()
    text = re.sub(r"^.*Sizes  Threads.*$", tab_line, text, flags=re.M)
    text = PICTURE.sub(lambda m: "```\n" + made + "```\n" if "./demo" in m.group(1) else m.group(), text)
    with open(README, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    if sys.argv[1:] in (["--write"], ["--write-manual"]):
        man_write()
        if sys.argv[1] == "--write":
            write()
        return 0
    failed = 0
    for name, test in (("README's pictures show what the screen shows", check),
                       ("the manual's pictures are what the screen shows", man_check)):
        try:
            test()
            print("ok - " + name)
        except AssertionError as e:
            failed = 1
            print("not ok - %s: %s" % (name, " ".join(str(e).split("\n"))))
    return failed


sys.exit(main())
