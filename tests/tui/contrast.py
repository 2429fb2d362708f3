#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contrast of what a terminal shows, cell by cell: each view on dark and on light backgrounds, from the escape
sequences, as libvterm understood them. WCAG 2.1 wants 4.5 to 1 of text. Dim is left to the terminal: libvterm has none."""
import os, signal, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "emulator")]
import emulator
from emulator import EMULATOR, ENV, Emulator
from render import PLAIN, THEME, cell_colors

LEAST = 4.5
# What terminals come with, besides black and white.
BACKGROUNDS = {"dark": (0x000000, 0x111111, 0x1a1a1a), "light": (0xffffff, 0xfdf6e3, 0xeeeeee)}
# Each view's keys, and a text that it then shows. Together they have every colour.
VIEWS = (("", "LIVE"), ("j\r", "STACK"), ("tjjl", "SELF"), ("\\live>10M rate>0\r", "filter"), ("\t\t", "BLOCK SIZE"),
         ("\t\t\t", "FREE/s"), ("\t\t\t\t", "NAMES"), ("L", "scanning"), ("\x1b[20~\r", "Grows"), ("pj", "COMMAND"),
         ("\x1b[19~", "OCCUPANCY"), ("?", "Moving"), ("\x1bOQ", "SETTINGS|ORDER|order"), ("\t\t\t\t\t\t\t", "GET /index"),
         ("j\rE", "FREED AFTER"), ("`", "GREW"), ("w", "FREED; ALLOCATED"), ("O", "HELD BY"), ("U", "EQUAL"))
# What the views and the lines around them show in other states: results of scans, prompts and choices, other moments.
STATES = (("L", "definite"), ("L\x1b[20~\r", "from the root down"), ("LO\r", "quotes"), ("Uj", "COPIES"), ("/json", "json"), ("/json\r", "json"),
          ("\\live>", "live>"), ("gm", "group|GROUP"), ("x", "saved"), ("m\r", "marked|mark"), (",,", "PAST"), ("P", "PEAK"),
          ("s(((", "RANGE|range"), (" ", "FROZEN"), ("o", "held"), ("c", "growth columns"), ("3G", "RATE"), ("_", "does nothing"),
          ("%", "%"), ("H", "all frames"))


def luminance(rgb):
    def linear(value):
        c = value / 255
        return c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
    return 0.2126 * linear(rgb >> 16) + 0.7152 * linear(rgb >> 8 & 255) + 0.0722 * linear(rgb & 255)


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def poor_cells(seen, theme):
    """(contrast, line, column, sign) of cells whose sign cannot be read; and how many have a sign."""
    poor, signs = [], 0
    for y, text in enumerate(seen.text):
        for x, sign in enumerate(text):
            if sign == " " or x >= seen.cols:
                continue
            signs += 1
            front, back = cell_colors(seen.looks[y][x], theme)
            backs = BACKGROUNDS[theme] if back == PLAIN[theme][1] else (back,)
            least = min(contrast(front, b) for b in backs)
            if least < LEAST:
                poor.append((round(least, 1), y, x, sign))
    return poor, signs


def looked_at(options, keys, text, theme):
    s = Emulator(*options, env=dict(ENV, **THEME[theme]), size=(30, 100))
    s.wait_text("LIVE")
    s.type(keys)
    seen = s.wait_text(text)
    s.child.send_signal(signal.SIGTERM)
    s.end()
    s.close()
    return seen


def check_theme(theme):
    assert contrast(0x767676, 0xffffff) > LEAST > contrast(0x777777, 0xffffff), "the formula"
    colors = set()
    for options, keys, text in [(("-k", "-d", "1000"), *v) for v in VIEWS] + [(("-L", "-t", "-d", "200"), *s) for s in STATES]:
        seen = looked_at(options, keys, text, theme)
        poor, signs = poor_cells(seen, theme)
        assert signs > 200, f"{text}: only {signs} cells"
        assert not poor, f"{text}: {len(poor)} cells cannot be read on {theme}: {poor[:5]}: {seen.text[poor[0][1]]!r}"
        colors |= {look[:2] for line in seen.looks for look in line}
    assert len(colors) >= 5, f"hardly any colours: {colors}"


def on_dark_backgrounds():
    check_theme("dark")


def on_light_backgrounds():
    check_theme("light")


if __name__ == "__main__":
    if not os.access(EMULATOR, os.X_OK):
        print("skip - contrast: built without libvterm (libvterm-dev)")
        sys.exit(0)
    signal.alarm(250)
    for test in (on_dark_backgrounds, on_light_backgrounds):
        emulator.run(test)
    sys.exit(emulator.failed != 0)
