"""Where results go: a file of JSON, and a page, between two marks, where what stands around them is left alone."""

import json
import os
import sys

from .measure import Failed


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


def reported(chosen, measured, summary, part):
    """Measures, or takes what was kept; prints the tables and puts them on the page if asked to. Gives what was found."""
    if chosen.made:
        with open(chosen.made) as file:
            found = json.load(file)
    else:
        try:
            found = measured(chosen)
        except Failed as why:
            sys.exit(f"it failed, what there is until now is kept: {why}")
    tables = summary(found)
    print("\n".join(tables))
    if chosen.docs:
        write(os.path.join(chosen.docs, "benchmarks.md"), part, tables)
    return found
