"""Where results go: a JSON file, and a page of tables, which are replaced between two marks; the rest of the page is kept."""

import json
import os
import sys

from .measure import Failed


def keep(found, path):
    """Saves all measurements so far; the file is complete at every moment."""
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
        sys.exit(f"'{path}' does not contain the lines '{begin}' and '{end}'")
    with open(path, "w") as file:
        file.write("\n".join([before + begin, "", *lines, "", end + after]))


def reported(chosen, measured, summary, part):
    """Measures, or loads saved measurements; prints the tables, and updates the page if asked to. Returns the measurements."""
    if chosen.made:
        with open(chosen.made) as file:
            found = json.load(file)
    else:
        try:
            found = measured(chosen)
        except Failed as why:
            sys.exit(f"benchmark failed; the measurements so far are saved: {why}")
    tables = summary(found)
    print("\n".join(tables))
    if chosen.docs:
        write(os.path.join(chosen.docs, f"{part}.md"), part, tables)
    return found
