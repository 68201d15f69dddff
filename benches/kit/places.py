"""Finds the command, the Python with the peers, the tools, and folders with enough room."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BASE = ROOT / "target" / "bench-commands"
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


def command(path):
    """The command to measure; exits if it is missing."""
    path = Path(path) if path else ROOT / "target" / "release" / "blpk"
    if not os.access(path, os.X_OK):
        sys.exit(f"no command at '{path}': run cargo build --release --locked --package blpk")
    return str(path.resolve())


def python():
    """The interpreter of an environment with the peers; the environment is rebuilt when requirements.txt has changed."""
    needs = Path(__file__).with_name("requirements.txt")
    venv = BASE / "venv"
    has = venv / "requirements.installed"
    if not has.exists() or has.read_text() != needs.read_text():
        print(f"installing the peers into {venv.relative_to(ROOT)} ...", file=sys.stderr)
        shutil.rmtree(venv, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = [venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--use-pep517"]
        subprocess.run([*pip, "--requirement", needs], check=True)
        has.write_text(needs.read_text())
    return str(venv / "bin" / "python")


def tools(install):
    """The programs on the path, by name. With `install`, root gets missing programs from apt-get."""
    missing = [name for name in TOOLS if not shutil.which(name)]
    if missing and install and os.geteuid() == 0 and shutil.which("apt-get"):
        done = subprocess.run(["apt-get", "install", "--yes", "--no-install-recommends", *missing],
                              stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            print("apt-get failed; `apt-get update` may help", file=sys.stderr)
    for name in TOOLS:
        if not shutil.which(name):
            print(f"{name}: not on the path, skipped", file=sys.stderr)
    return {name: path for name in (*TOOLS, "cp", "cat", "cmp", "true", "sh", "strace") if (path := shutil.which(name))}


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


def scratch(wanted, need):
    """A new folder: in `wanted`, otherwise in /dev/shm if that has room for `need` bytes, otherwise in target/."""
    if wanted:
        Path(wanted).mkdir(parents=True, exist_ok=True)
    elif (os.path.isdir("/dev/shm") and filesystem("/dev/shm") == "tmpfs"
          and min(shutil.disk_usage("/dev/shm").free, available() - (2 << 30)) > need):
        wanted = "/dev/shm"
    else:
        print(f"/dev/shm has no room for {told(need)}: using target/ for the files", file=sys.stderr)
        wanted = BASE
        wanted.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="bench-commands-", dir=wanted)
