"""Finds the interpreters with the peers, the tools, and folders with enough room; builds programs."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BASE = ROOT / "target" / "bench"
TOOLS = ("zstd", "lz4", "pigz")
MIB = 1 << 20


def size(text):
    """`256M` in bytes."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    number, unit = (text[:-1], units[text[-1].upper()]) if text[-1:].upper() in units else (text, 1)
    return int(float(number) * unit)


def told(count):
    """A number of bytes for people: `256 MiB`."""
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} bytes"


def threads_of(cell):
    """`1 thread`, `2 threads`."""
    count = cell["threads"]
    return f"{count} thread{'' if count == 1 else 's'}"


class Missing(Exception):
    """A bench needs something that is not here."""


PACKAGES = "import importlib.metadata as m, json; print(json.dumps({d.name.lower(): d.version for d in m.distributions() if d.name}))"


class Setting:
    """What all benches share: the interpreters, the programs on the path, and a folder for files."""

    def __init__(self, quick, rounds, threads, pythons, folder):
        self.quick, self.rounds, self.threads, self.folder = quick, rounds, threads, folder
        self.pythons = {path: json.loads(subprocess.run([path, "-c", PACKAGES], stdout=subprocess.PIPE, check=True).stdout)
                        for path in pythons}
        self.tools = {name: path for name in (*TOOLS, "cp", "cat", "cmp", "true", "sh", "strace") if (path := shutil.which(name))}

    def size(self, whole, small):
        return small if self.quick else whole

    def python(self, *packages):
        """The first interpreter that has the packages; `zarr 2` is any version that begins with 2."""
        for path, has in self.pythons.items():
            wanted = (package.partition(" ") for package in packages)
            if all(f"{has.get(name, '')}.".startswith(f"{version}." if version else version) and name in has for name, _, version in wanted):
                return path
        raise Missing(f"no interpreter has {', '.join(packages)}")

    def built(self, *words, env=None):
        """The program that cargo builds with these options."""
        command = ["cargo", "build", "--locked", "--release", "--message-format=json-render-diagnostics", *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, cwd=ROOT, env={**os.environ, **(env or {})}, check=True)
        return [path for line in done.stdout.splitlines() if (path := json.loads(line).get("executable"))][-1]

    @cached_property
    def command(self):
        return self.built("--package", "blpk")

    def ours(self, *words, threads=None):
        return (self.command, "-q", "-n", str(threads or self.threads), *words)


def filesystem(path):
    """The file system type of a path, as reported by the kernel."""
    path, best, kind = str(Path(path).resolve()), "", "unknown"
    try:
        mounts = Path("/proc/mounts").read_text().splitlines()
    except OSError:
        return kind
    for line in mounts:
        _, at, name, *_ = line.split()
        below = path == at or path.startswith(at.rstrip("/") + "/")
        if below and len(at) >= len(best):
            best, kind = at, name
    return kind


def available():
    """Bytes of memory that are still available."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def scratch(quick):
    """A new folder: in /dev/shm if that has room for the largest bench, otherwise in target/."""
    need = (1 if quick else 14) << 30
    if os.path.isdir("/dev/shm") and filesystem("/dev/shm") == "tmpfs" and min(shutil.disk_usage("/dev/shm").free, available()) > need:
        return tempfile.TemporaryDirectory(prefix="bench-", dir="/dev/shm")
    print(f"/dev/shm has no room for {told(need)}: using target/ for the files", file=sys.stderr)
    return on_disk()


def on_disk():
    """A new folder in target/."""
    BASE.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="bench-", dir=BASE)
