#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures of the screen in README.md. Without arguments: what stands still in them (tabs, column
headers, the bar) is what the screen of this tree shows. --write (make pictures): the demo's is
made anew, and the tab line of the others, which show programs that are not in this tree, is set right."""
import os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
B = os.path.join(ROOT, os.environ.get("B", "build"))
README = os.path.join(ROOT, "README.md")
PICTURE = re.compile(r"^```\n( heaptop  .*?)^```\n", re.S | re.M)
DEMO = ":size 100x24\n3\n:wait 26\n:save-display -\nq\nt\n"
# Each view once, as soon as it has something to show.
VIEWS = (":size 100x30\n:until page_load\n:save-display -\nj Enter\n:save-display -\nj\n:save-display -\nq t\n"
         ":save-display -\ni\n:save-display -\nF8\n:wait 2\n:save-display -\nTab\n:save-display -\nq\nt\n")


def play(script, *options):
    """The screens that a script on the demo saves, one after the other."""
    with tempfile.TemporaryDirectory(prefix="heaptop-pictures-") as folder:
        parts = script.split("save-display -")
        shots = [os.path.join(folder, "%d" % i) for i in range(len(parts) - 1)]
        with open(os.path.join(folder, "script"), "w", encoding="utf-8") as f:
            f.write("".join(p for pair in zip(parts, ["save-display " + s for s in shots] + [""]) for p in pair))
        done = subprocess.run([os.path.join(B, "heaptop"), *options, "--script", f.name, "--", "./demo", "60"],
                              cwd=B, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=100,
                              env=dict(os.environ, LC_ALL="C.UTF-8", XDG_CONFIG_HOME="/nonexistent"))
        assert os.path.exists(shots[-1]), done.stderr
        return "".join(open(shot, encoding="utf-8").read() for shot in shots)


def tabs(line):
    """The tabs alone: where we are, and whether there is output, is the picture's own."""
    return re.sub(r"\[(\w+)[^]]*\]", r" \1 ", line[:64]).split()


def fixed(line):
    """What stands still in a line, or None: the tabs, the names of columns, the bar."""
    if "Sizes  Threads" in line:
        return " ".join(name for name in tabs(line) if name != "Output")
    if re.search(r"\b1LIVE|\b1TOTAL|SIZE +RSS +LIVE|F10/q", line):
        return " ".join(re.sub(r"[▼▲]|MAPPING.*? SIZE", " ", line).split())
    return None


def pictures(text):
    return [m.group(1) for m in PICTURE.finditer(text)]


def check():
    with open(README, encoding="utf-8") as f:
        shown = pictures(f.read())
    assert shown, "README.md has no picture"
    now = {fixed(line) for line in play(VIEWS, "-d", "100ms").splitlines()}
    for picture in shown:
        for line in picture.splitlines():
            assert len(line) <= 100, f"wider than 100: {line!r}"
            assert fixed(line) is None or fixed(line) in now, f"not what is shown now (make pictures): {line!r}"


def write():
    made = play(DEMO)
    bar = next(line for line in made.splitlines() if "Sizes  Threads" in line)
    names = [name for name in tabs(bar) if name != "Output"]

    def tab_line(m):
        line = m.group()
        here = re.search(r"\[([^]]*)\]", line).group(1)
        want = names + (["Output"] if "Output" in line else [])
        left = "".join(f"[{here}]" if name == here.split(" > ")[0] else f" {name} " for name in want)
        right = re.search(r"(?:   | {2,}(?=\S+$))(\S.*)$", line[len(left) - 1:])
        return left + (right.group(1).rjust(99 - len(left)) if right else "")

    with open(README, encoding="utf-8") as f:
        text = f.read()
    text = re.sub(r"^.*Sizes  Threads.*$", tab_line, text, flags=re.M)
    text = PICTURE.sub(lambda m: "```\n" + made + "```\n" if "./demo" in m.group(1) else m.group(), text)
    with open(README, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
        sys.exit(0)
    try:
        check()
        print("ok - README's pictures show what the screen shows")
    except AssertionError as e:
        print("not ok - README's pictures show what the screen shows: %s" % " ".join(str(e).split("\n")))
        sys.exit(1)
