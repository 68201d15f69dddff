"""Puts tables into a page between two marks, and leaves alone what stands around them."""

import sys


def marks(name):
    return f"<!-- begin: {name} -->", f"<!-- end: {name} -->"


def write(path, name, lines):
    begin, end = marks(name)
    with open(path) as file:
        text = file.read()
    before, found, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        sys.exit(f"'{path}' has no lines '{begin}' and '{end}'")
    with open(path, "w") as file:
        file.write("\n".join([before + begin, "", *lines, "", end + after]))
