# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of the bench in Markdown that is as readable in a terminal, and their place in a file."""

import re
import textwrap

COLUMNS = 100
BEGIN, END = "<!-- make bench-readme writes from here -->", "<!-- to here -->"


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
    """Puts the text between the two marks of the file."""
    with open(path, encoding="utf-8") as f:
        old = f.read()
    marked = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.S)
    if len(marked.findall(old)) != 1:
        raise SystemExit("%s has no place for the tables: %s ... %s" % (path, BEGIN, END))
    with open(path, "w", encoding="utf-8") as f:
        f.write(marked.sub(lambda _: "%s\n%s\n%s" % (BEGIN, text.strip(), END), old))
