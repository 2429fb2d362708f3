#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of --format html in a headless browser, at two widths, in light and dark: what it draws is the report's,
names stay text, keys work, nothing is wider than the window."""

import json
import os
import re
import struct
import zlib

from proving import (HEAPTOP, LIBRARY, case, check, check_equal, environment, need, run, run_cases, scratch,
                     segment_files, target)

WIDE, NARROW, SMALL = (1200, 900), (400, 800), (300, 400)
# Runs after the page's own script; each step adds what it sees.
PROBE_HEAD = r"""
const seen = {}, $ = (q) => document.querySelector(q), all = (q) => [...document.querySelectorAll(q)];
const key = (k) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true }));
const focused = () => document.activeElement.getAttribute("aria-label");
"""
PROBE = r"""
seen.total = document.body.dataset.total;
seen.title = document.title;
seen.images = all("img").length;
seen.overflow = document.documentElement.scrollWidth - window.innerWidth;
seen.rows = all("#sites tr").map((tr) => [tr.dataset.site, tr.querySelector("td").title]);
seen.names = all("td.site button").map((b) => b.textContent);
seen.boxes = all("#rows div").map((d) => d.getAttribute("aria-label"));
seen.dark = matchMedia("(prefers-color-scheme: dark)").matches;
seen.shown = all("#head th").filter((th) => th.offsetParent !== null).length;
$("#rows div[tabindex='0']").focus();
key("ArrowDown");
seen.below = focused();
key("Enter");
seen.zoomed = [focused(), all("#rows .over").length, $("#out").disabled];
key("Escape");
seen.back = focused();
all("#values button")[3].click();
seen.allocs = document.querySelector("#rows .whole").getAttribute("aria-label");
$("#find").value = "DESCEND";
$("#find").dispatchEvent(new Event("input"));
seen.found = [$("#found").textContent, all("#rows .hit").length > 0, all("#sites tr").length];
$("td.site button").click();
seen.stack = all("td.site ol li").map((li) => li.textContent);
$("#inverted").click();
seen.inverted = all("#rows div[aria-level='2']").map((d) => d.getAttribute("aria-label"));
$("#graph svg").dispatchEvent(new KeyboardEvent("keydown", { key: "Home" }));
seen.when = $("#when").textContent;
"""
PROBE_TAIL = r"""
document.documentElement.dataset.seen = JSON.stringify(seen);
"""


def page_of(*arguments):
    """A killed program's page, and its JSON report."""
    env = environment(LD_PRELOAD=LIBRARY, HEAPTOP_DEPTH="1024")
    check_equal(run([target("odd_names"), *arguments], env=env).returncode, -9, "the program")
    path = segment_files()[0]
    page, rep = (run([HEAPTOP, "-r", path, "--format", f]).stdout for f in ("html", "json"))
    os.unlink(path)
    return page.decode(), json.loads(rep)


def browser(page, size, *options):
    """What a browser says of a page."""
    path = os.path.join(scratch, "page.html")
    with open(path, "w", encoding="utf-8") as f:
        f.write(page)
    done = run([need("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
                "--user-data-dir=" + os.path.join(scratch, "profile"), "--window-size=%d,%d" % size,
                "--virtual-time-budget=5000", *options, "file://" + path],
               env=dict(environment(), HOME=scratch), timeout=120)
    check_equal(done.returncode, 0, "the browser (%s)" % done.stderr.decode(errors="replace"))
    return done.stdout.decode(errors="replace")


def seen_of(page, size, *options, probe=PROBE):
    probed = page.replace("</body>", '<script nonce="heaptop">%s%s%s</script></body>' % (PROBE_HEAD, probe, PROBE_TAIL))
    dom = browser(probed, size, "--dump-dom", *options)
    found = re.search(r'data-seen="([^"]*)"', dom)
    check(found, "the page's script failed")
    text = found[1]
    for entity, char in (("&quot;", '"'), ("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", "\xa0"), ("&amp;", "&")):
        text = text.replace(entity, char)
    return json.loads(text)


def brightness(page, size, *options):
    """The mean of all bytes of a picture of the page."""
    path = os.path.join(scratch, "page.png")
    browser(page, size, "--screenshot=" + path, *options)
    with open(path, "rb") as f:
        data = f.read()
    at, body = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", data[at + 8:at + 18])
        elif kind == b"IDAT":
            body += data[at + 8:at + 8 + length]
        at += 12 + length
    check_equal((width, height, depth, color in (2, 6)), (*size, 8, True), "the picture")
    return mean(zlib.decompress(body), width * (3 if color == 2 else 4), height, 3 if color == 2 else 4)


def mean(raw, stride, height, step):
    """Of PNG's filtered lines (RFC 2083, 6)."""
    before, total = bytes(stride), 0
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride if kind else 0):
            a, b = line[i - step] if i >= step else 0, before[i]
            c = before[i - step] if i >= step else 0
            p = a + b - c
            paeth = a if abs(p - a) <= abs(p - b) and abs(p - a) <= abs(p - c) else b if abs(p - b) <= abs(p - c) else c
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        total += sum(line)
        before = line
    return total / (stride * height)


@case("the page draws the report, and names stay text")
def draws():
    page, rep = page_of("40")
    seen = seen_of(page, WIDE)
    check_equal(seen["total"], str(rep["totals"]["live_bytes"]), "the total")
    check_equal((seen["title"][:8], seen["images"]), ("heap of ", 0), "title and images")
    check_equal(seen["rows"], [[str(s["id"]), "{:,}".format(s["live_bytes"])] for s in sorted(
        rep["sites"], key=lambda s: -s["live_bytes"])], "rows of the table")
    check_equal(sorted(seen["names"]), sorted(s["stack"][0]["function"] for s in rep["sites"]), "names")
    check(any(b.startswith("</script><img src=x") for b in seen["boxes"]), "boxes are %s" % seen["boxes"])
    check_equal(seen["boxes"][0], "all call sites, %.1fk, 100.0%%" % (rep["totals"]["live_bytes"] / 1024), "the root")
    check(seen["below"].startswith("_start"), "below the root is " + seen["below"])
    check_equal(seen["zoomed"], [seen["below"], 1, False], "zoomed")
    check_equal(seen["back"], seen["boxes"][0], "zoomed out")
    check_equal(seen["allocs"], "all call sites, %d, 100.0%%" % rep["totals"]["allocs"], "by allocations")
    check_equal(seen["found"][1:], [True, 1], "found: " + seen["found"][0])
    check_equal((seen["stack"][0], len([n for n in seen["stack"] if n.startswith("descend")])), ("malloc", 40), "a stack")
    check(any(n.startswith("main") for n in seen["inverted"]), "inverted: %s" % seen["inverted"])
    check(re.fullmatch(r"\d+\.\d+ s: \S+ live \([\d,]+ bytes\)", seen["when"]), "the timeline says " + seen["when"])


def page_with(frames, sites):
    """A page of other data: names of frames, and for each site its parent node, its frame and its live bytes. Nodes
    are the sites' own, in their order, from 1 on."""
    page, _ = page_of("3")
    head, rest = page.split('id="data">\n')
    text, tail = rest.split("\n</script>", 1)
    data = json.loads(text)
    count = len(sites)
    data["frames"] = {"name": frames, "file": [""] * len(frames), "module": [""] * len(frames), "hidden": [0] * len(frames)}
    data["nodes"] = {"parent": [0] + [s[0] for s in sites], "frame": [0] + [s[1] for s in sites]}
    data["values"] = data["values"][:1]
    data["sites"] = {"id": list(range(count)), "function": ["malloc"] * count, "place": [""] * count,
                     "leaf": list(range(1, count + 1)), "title": [s[1] for s in sites], "values": [[s[2] for s in sites]]}
    return head + 'id="data">\n' + json.dumps(data) + "\n</script>" + tail


@case("numbers have a unit that leaves them below 1,000")
def units():
    sizes = (7, 999, 1023, 1024, 102300, 102390, 999 << 10, 1023400, 1048570, 1 << 20, 1073741000)
    seen = seen_of(page_with(["f"], [(0, 0, size) for size in sizes]), WIDE, probe="""
        seen.cells = [...document.querySelectorAll("#sites td.num")].map((td) => td.textContent).reverse();""")
    check_equal(seen["cells"], ["7", "999", "1023", "1.0k", "99.9k", "100k", "999k", "999k", "1.0M", "1.0M", "1.0G"], "sizes")


@case("the arrow down leads back to what is zoomed, below a node with larger children")
def arrows():
    seen = seen_of(page_with(["main", "large", "small"], [(0, 0, 1), (1, 1, 5000), (1, 2, 3000)]), WIDE, probe="""
        all("#rows div").find((d) => d.getAttribute("aria-label").startsWith("small")).click();
        seen.path = ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown"].map((k) => { key(k); return focused(); });""")
    check_equal([label.split(",")[0] for label in seen["path"]], ["main", "all call sites", "all call sites", "main", "small"],
                "path")


@case("keys with Alt, Control or Meta are the browser's")
def browser_keys():
    seen = seen_of(page_with(["f"], [(0, 0, 1)]), WIDE, probe="""
        const taken = (e, key, more) => !e.dispatchEvent(new KeyboardEvent("keydown",
            { key, bubbles: true, cancelable: true, ...more }));
        const places = [$("#rows div"), $("#graph svg")];
        seen.plain = places.map((e) => taken(e, "ArrowLeft", {}));
        seen.others = places.flatMap((e) => ["altKey", "ctrlKey", "metaKey"].map((m) => taken(e, "ArrowLeft", { [m]: true })));""")
    check_equal((seen["plain"], seen["others"]), ([True, True], [False] * 6), "keys that the page takes")


@case("a column says which way it is sorted")
def sorting():
    seen = seen_of(page_with(["b", "a", "c"], [(0, 0, 2), (0, 1, 3), (0, 2, 1)]), WIDE, probe="""
        const sorted = () => [all("td.site button").map((b) => b.textContent).join(""),
            ...all("#head th").map((th) => th.getAttribute("aria-sort"))];
        const click = (i) => { all("#head button").at(i).click(); return sorted(); };
        seen.sorted = [sorted(), click(0), click(-1), click(-1), click(0)];""")
    check_equal(seen["sorted"], [["abc", "descending", "none"], ["cba", "ascending", "none"], ["abc", "none", "ascending"],
                                 ["cba", "none", "descending"], ["abc", "descending", "none"]], "sorted")


@case("all of the tree is on a sheet of paper")
def printed():
    path = os.path.join(scratch, "page.pdf")
    browser(page_with(["main", "large", "small"], [(0, 0, 0), (1, 1, 8000), (1, 2, 2000)]), WIDE, "--print-to-pdf=" + path)
    text = run([need("pdftotext"), "-layout", path, "-"]).stdout.decode()
    check(re.search(r"large 7.8k +small 2.0k", text), "on paper: " + text)


@case("it fits a narrow window, with fewer columns")
def narrow():
    page, _ = page_of("1000")
    for size, columns in ((WIDE, 7), (NARROW, 2)):
        seen = seen_of(page, size)
        check(seen["overflow"] <= 0, "%d px too wide" % seen["overflow"])
        check(seen["shown"] == columns or seen["shown"] == columns + 1, "%d columns" % seen["shown"])


@case("a program without a call site has a page, too")
def nothing():
    page, _ = page_of("0")
    path = os.path.join(scratch, "page.html")
    dom = browser(page, WIDE, "--dump-dom")
    check('data-total="0"' in dom and "all call sites" in dom, path)


@case("light and dark")
def dark():
    page, _ = page_of("3")
    light = brightness(page, SMALL)
    darker = brightness(page, SMALL, "--blink-settings=preferredColorScheme=0")
    check(light > 200 and darker < 90, "brightness %d and %d" % (light, darker))


run_cases()
