# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers of what the consumers of formats print. Not a test itself."""

import re

TOKEN = re.compile(r'\s*(?:(\w+)\s*(?::\s*("(?:[^"\\]|\\.)*"|[\w.+-]+)|(\{))|(\}))', re.S)


def unquoted(value):
    """A value of protoc's text form: numbers, words, strings with octal escapes of UTF-8."""
    if value.startswith('"'):
        def byte(m):
            return bytes([int(m[1], 8)]) if m[1] else {b"n": b"\n", b"r": b"\r", b"t": b"\t"}.get(m[2], m[2])
        return re.sub(rb"\\(?:([0-7]{3})|(.))", byte, value[1:-1].encode(), flags=re.S).decode(errors="surrogateescape")
    return int(value) if re.fullmatch(r"-?\d+", value) else value


def proto_text(text):
    """What protoc --decode prints, as nested dictionaries of lists: field -> values."""
    message, open_messages, at = {}, [], 0
    text = text.rstrip()
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise ValueError("no text of protoc: " + text[at:at + 60])
        at = found.end()
        name, value, opens, closes = found.groups()
        if closes:
            message = open_messages.pop()
        elif opens:
            inner = {}
            message.setdefault(name, []).append(inner)
            open_messages.append(message)
            message = inner
        else:
            message.setdefault(name, []).append(unquoted(value))
    return message
