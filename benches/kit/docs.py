"""Where results go: a file of JSON, and a page, between two marks, where what stands around them is left alone."""

import json
import os
import sys


def keep(found, path):
    """All that was measured until now, whole at every moment."""
    beside = f"{path}.part"
    with open(beside, "w") as file:
        json.dump(found, file, indent=1)
    os.replace(beside, path)


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
