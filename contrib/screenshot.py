#!/usr/bin/env python3
"""Draws the picture of the README from real output: runs commands on a pseudo-terminal and writes what they print as SVG.

    cargo build --release --locked --package blpk && contrib/screenshot.py docs/pictures/terminal.svg
"""

import html
import os
import pty
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = 84
COMMANDS = (
    "blpk compress app.log",
    "blpk info --plot app.log.blp",
    "blpk verify app.log.blp",
    "blpk import prices.csv prices",
    "blpk cat prices",
)
COLORS = {"31": "#ff7b72", "32": "#7ee787", "33": "#f2cc60", "34": "#79c0ff", "36": "#76e3ea"}
WIDTH, HEIGHT, MARGIN = 8.4, 19, 16


def make(folder):
    """The files that the commands work on; the same bytes each time."""
    noise = random.Random(20)
    with open(folder / "app.log", "wb") as file:
        for part in range(40):
            for line in range(6000):
                file.write(b"2026-03-01T%02d:%02d:%02d INFO worker-%d request %d done in %d ms\n"
                           % (part % 24, line // 60 % 60, line % 60, noise.randrange(8), part * 6000 + line, noise.randrange(300)))
            if part % 10 == 7:
                file.write(noise.randbytes(1_500_000))
    with open(folder / "prices.csv", "w") as file:
        file.write("day,symbol,close,volume\n")
        price = 100.0
        for row in range(5000):
            price = max(1, price + noise.gauss(0, 1))
            file.write(f"20{10 + row // 336:02}-{row // 28 % 12 + 1:02}-{row % 28 + 1:02},{noise.choice(('ABC', 'XYZ', 'QRS'))},"
                       f"{price:.2f},{noise.randrange(10**6)}\n")


def output(command, folder, blpk):
    """What a command prints on a terminal."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "PATH": f"{blpk.parent}:{os.environ['PATH']}"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(command.split(), cwd=folder, stdin=follower, stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    parts = []
    while True:
        try:
            part = os.read(leader, 1 << 16)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    os.close(leader)
    if process.wait():
        sys.exit(f"status {process.returncode}: {command}")
    return b"".join(parts).decode().replace("\r\n", "\n")


def spans(line):
    """The parts of a line, each with its style."""
    bold, color, drawn = False, None, []
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if not part.startswith("\x1b"):
            if part:
                style = (' font-weight="bold"' if bold else "") + (f' fill="{color}"' if color else "")
                drawn.append(f"<tspan{style}>{html.escape(part)}</tspan>")
            continue
        for code in part[2:-1].split(";"):
            if code in ("", "0"):
                bold, color = False, None
            bold = bold or code == "1"
            color = COLORS.get(code, color)
    return "".join(drawn)


def drawn(lines):
    width, height = COLUMNS * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    rows = [f'<text x="{MARGIN}" y="{MARGIN + (number + 0.75) * HEIGHT:.0f}" xml:space="preserve">{spans(line)}</text>'
            for number, line in enumerate(lines) if line]
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" '
        'font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" fill="#e6edf3">',
        "<title>blpk compresses a log, draws its chunks, and shows a table</title>",
        '<rect width="100%" height="100%" rx="8" fill="#161b22"/>', *rows, "</svg>", ""])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    blpk = ROOT / "target" / "release" / "blpk"
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder))
        for command in COMMANDS:
            lines += [f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m", *output(command, folder, blpk).splitlines()]
    Path(sys.argv[1]).write_text(drawn(lines))


if __name__ == "__main__":
    main()
