#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the screen, from its escape sequences: what a terminal (libvterm) understood becomes a page of
HTML, cell by cell, and with chromium a PNG beside it.

    render.py OUT.html [-s ROWSxCOLS] [-t dark|light|unknown] [-o] [STEP]... [-- COMMAND]

Without COMMAND it is tests/tui/show, canned data that stand still. STEP: keys to type ("jj"), with names in brackets
("\\\\live>1M<Enter>"); a text to wait for ("?RANGE"); "!" takes a picture, as the end does. -o: COMMAND is all of it
("heaptop -r FILE"), not what heaptop runs."""
import argparse, html, os, re, shutil, signal, subprocess, sys, tempfile, unicodedata

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import emulator
from emulator import ENV, Emulator

ANSWER_SECONDS = 0.5

# xterm's sixteen colours, and what the three kinds of terminals have where a program asks for none.
XTERM = (0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
         0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff)
PLAIN = {"dark": (0xe5e5e5, 0x000000), "light": (0x000000, 0xffffff), "unknown": (0xe5e5e5, 0x000000)}
THEME = {"dark": {"COLORFGBG": "15;0"}, "light": {"COLORFGBG": "0;15"}, "unknown": {}}
NAMED = {"Up": "\x1b[A", "Down": "\x1b[B", "Right": "\x1b[C", "Left": "\x1b[D", "Esc": "\x1b", "Enter": "\r", "Tab": "\t",
         "S-Tab": "\x1b[Z", "Bksp": "\x7f", "PgDn": "\x1b[6~", "PgUp": "\x1b[5~", "Home": "\x1b[H", "End": "\x1b[F",
         "F1": "\x1bOP", "F2": "\x1bOQ", "F3": "\x1bOR", "F4": "\x1bOS", "F5": "\x1b[15~", "F6": "\x1b[17~",
         "F7": "\x1b[18~", "F8": "\x1b[19~", "F9": "\x1b[20~", "F10": "\x1b[21~"}


def color(letter, plain):
    if letter == "-":
        return plain
    index = "01234567abcdefgh".find(letter)
    return XTERM[index] if index >= 0 else 0xff00ff


def cell_colors(look, theme):
    """The front and the back of a cell, of its four letters (tests/tui/emulator/emulator.c)."""
    front, back = color(look[0], PLAIN[theme][0]), color(look[1], PLAIN[theme][1])
    return (back, front) if look[3] == "r" else (front, back)


def line_html(text, looks, theme):
    out, x = [], 0
    for char in text.ljust(len(looks)):
        if x >= len(looks):
            break
        front, back = cell_colors(looks[x], theme)
        style = "color:#%06x;background:#%06x" % (front, back)
        style += ";font-weight:bold" if looks[x][2] in "bU" else ""
        style += ";text-decoration:underline" if looks[x][2] in "uU" else ""
        out.append('<span style="%s">%s</span>' % (style, html.escape(char)))
        x += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return "".join(out)


def page(shots, theme):
    front, back = PLAIN[theme]
    body = "".join("<pre>%s</pre>" % "".join("<div>%s</div>" % line_html(t, l, theme) for t, l in zip(s.text, s.looks))
                   for s in shots)
    return ("<!doctype html><meta charset=utf-8><style>body{margin:8px;background:#808080}pre{font:15px/18px 'DejaVu Sans "
            "Mono',monospace;margin:0 0 8px;width:max-content;color:#%06x;background:#%06x}</style>%s" % (front, back, body))


def png(path, shots):
    """Beside the page; False without chromium."""
    browser = shutil.which("chromium")
    if not browser:
        return False
    width, height = 24 + round(9.04 * shots[0].cols), 16 + sum(18 * s.rows + 8 for s in shots)
    with tempfile.TemporaryDirectory(prefix="heaptop-render-") as home:
        subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        "--disable-dev-shm-usage", "--user-data-dir=" + home, "--window-size=%d,%d" % (width, height),
                        "--screenshot=" + os.path.splitext(path)[0] + ".png", "file://" + os.path.abspath(path)],
                       stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=120, env=dict(os.environ, HOME=home))
    return True


def play(screen, steps):
    shots = []
    for step in steps:
        if step == "!":
            shots.append(screen.settled())
        elif step.startswith("?") and len(step) > 1:
            screen.wait_text(step[1:])
        else:
            typed = re.sub(r"<([\w-]+)>", lambda m: NAMED[m[1]], step)
            screen.keys(typed.encode().decode("unicode_escape").encode())
            # The viewer sleeps until the kernel brings the keys; most keys change something.
            screen.read(ANSWER_SECONDS)
            screen.settled()
    if not steps or steps[-1] != "!":
        shots.append(screen.settled())
    return shots


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("-s", dest="size", default="30x100")
    p.add_argument("-t", dest="theme", choices=THEME, default="dark")
    p.add_argument("-o", dest="own", action="store_true")
    p.add_argument("step", nargs="*")
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    a = p.parse_intermixed_args(sys.argv[1:at])
    command = sys.argv[at + 1:]
    if command and not a.own:
        command = [emulator.HEAPTOP, "--", *command]
    env = dict(ENV, **THEME[a.theme])
    s = Emulator("-k", "-d", "1000", command=command or None, size=tuple(map(int, a.size.split("x"))), env=env)
    if not command:
        s.wait_text("LIVE")
    shots = play(s, a.step)
    with open(a.out, "w", encoding="utf-8") as f:
        f.write(page(shots, a.theme))
    s.child.send_signal(signal.SIGTERM)
    s.end()
    s.close()
    print(a.out if not png(a.out, shots) else os.path.splitext(a.out)[0] + ".png")


if __name__ == "__main__":
    main()
