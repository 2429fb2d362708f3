# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of the bench in Markdown that is as readable in a terminal, and their place in a file."""

import re
import textwrap

COLUMNS = 100
BEGIN, END = "<!-- make bench-readme writes %s from here -->", "<!-- to here -->"
PLACE = re.compile(BEGIN % "(.*?)" + "\n(.*?)" + END, re.S)


def paragraph(text):
    return textwrap.fill(text, COLUMNS, break_long_words=False, break_on_hyphens=False)


class Section:
    """One table. `key` names it in the results, `head` is the sentence above it, `columns` are (title,
    least width); rows() are the names of what is measured, measure(row, rounds) gives a result that
    JSON can hold, lines(row, result) the cells of one or more lines."""

    key = head = ""
    columns = []
    asked_only = False  # measured only when it is asked for
    ordered = False  # printed when all is measured, in the order of order()

    def rows(self):
        raise NotImplementedError

    def measure(self, row, rounds):
        raise NotImplementedError

    def lines(self, row, result):
        raise NotImplementedError

    def order(self, results):
        """The rows as they are to be printed."""
        return list(results)

    def notes(self, results):
        """Sentences below the table."""
        return []

    def line_format(self, cells):
        texts = ["%-*s" % (width, cell) if i == 0 else "%*s" % (width, cell)
                 for i, (cell, (_, width)) in enumerate(zip(cells, self.columns))]
        return "| %s |" % " | ".join(texts)

    def heading(self):
        rule = ["-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, (_, w) in enumerate(self.columns)]
        titles = self.line_format([title for title, _ in self.columns])
        return [paragraph(self.head), "", titles, "|%s|" % "|".join(rule)]

    def text(self, results):
        """The whole table of what was measured."""
        lines = self.heading()
        for row in self.order(results):
            lines += [self.line_format(cells) for cells in self.lines(row, results[row])]
        for note in self.notes(results):
            lines += ["", paragraph(note)]
        return "\n".join(lines) + "\n"


def readme_write(path, text):
    """Fills the places of the file between two marks: text(keys) for the sections that the first one
    names ("programs, storms"). A place that it gives nothing for stays as it is."""
    with open(path, encoding="utf-8") as f:
        old = f.read()

    def place(found):
        new = text(found[1].split(", "))
        return "%s\n%s\n%s" % (BEGIN % found[1], new.strip(), END) if new else found[0]

    if not PLACE.search(old):
        raise SystemExit("%s has no place for tables: %s ... %s" % (path, BEGIN % "SECTION, SECTION", END))
    with open(path, "w", encoding="utf-8") as f:
        f.write(PLACE.sub(place, old))
