"""Where results go: pages of tables, which are replaced between two marks; the rest of a page is kept."""

import re

from .places import ROOT

FOLDER = ROOT / "docs"


def marks(name):
    return f"<!-- begin: {name} -->", f"<!-- end: {name} -->"


def parts(page, name):
    """The text of a page before the mark, between the marks and after them."""
    begin, end = marks(name)
    before, found, rest = (FOLDER / page).read_text().partition(begin)
    inside, ended, after = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"docs/{page} does not contain the lines '{begin}' and '{end}'")
    return before, inside, after


def write(page, name, lines):
    begin, end = marks(name)
    before, _, after = parts(page, name)
    (FOLDER / page).write_text("\n".join([before + begin, "", *lines, "", end + after]))


def check(page, name, lines):
    """Fails unless the page has the marks, and every table has rows, each with as many cells as its head."""
    parts(page, name)
    tables = re.findall(r"(?:^\|.*\n)+", "\n".join([*lines, ""]), re.MULTILINE)
    for table in tables:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        if len(widths) != 1 or len(table.splitlines()) < 3:
            raise ValueError(f"{name}: no rows, or rows of different widths: {table[:300]}")
    return len(tables)
