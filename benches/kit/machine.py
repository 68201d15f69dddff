"""The machine and the versions that the figures were measured with."""

import os
import platform
import re
import subprocess
import time
from pathlib import Path

from . import places

LIBRARIES = ("bcolz-zipline", "blosc", "blosc2", "bloscpack", "caterva", "duckdb", "numcodecs", "numpy", "pandas", "pyarrow", "zarr")


def facts(setting):
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "commit": output(["git", "-C", str(places.ROOT), "rev-parse", "--short", "HEAD"]),
        "changed": bool(output(["git", "-C", str(places.ROOT), "status", "--porcelain", "--untracked-files=no"])),
        "cpu": cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "virtual": " hypervisor " in read("/proc/cpuinfo").replace("\n", " "),
        "memory": memory(),
        "kernel": f"{platform.system()} {platform.release()}",
        "files": places.filesystem(setting.folder),
        "disk": places.filesystem(places.ROOT),
        "load": os.getloadavg()[0],
        "rounds": setting.rounds,
        "versions": versions(setting),
    }


def read(path):
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def cpu():
    """The model name that the processor reports; virtual machines often shorten it."""
    found = re.search(r"^model name\s*:\s*(.*)$", read("/proc/cpuinfo"), re.MULTILINE)
    return found.group(1).strip() if found else platform.machine()


def memory():
    found = re.search(r"^MemTotal:\s*(\d+)", read("/proc/meminfo"), re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0


def output(argv):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.strip()


def versions(setting):
    found = {"rustc": version(["rustc", "--version"])}
    for python, has in setting.pythons.items():
        for name in LIBRARIES:
            if name in has:
                found.setdefault(name, []).append(has[name])
        found.setdefault("python", []).append(version([python, "--version"]))
    for name in (*places.TOOLS, "cp"):
        if name in setting.tools:
            found[name] = version([setting.tools[name], "--version"])
    return {name: one if isinstance(one, str) else " and ".join(sorted(set(one))) for name, one in found.items()}


def version(argv):
    """The first number with a dot in the output."""
    told = re.search(r"\d+\.\d+(\.\d+)?", output(argv))
    return told.group(0) if told else "unknown"


def stolen():
    """Ticks of all processors, and how many of these the host gave to other guests."""
    words = read("/proc/stat").split("\n", 1)[0].split()[1:9]
    ticks = [int(word) for word in words]
    return (sum(ticks), ticks[7]) if len(ticks) == 8 else (1, 0)


class Clock:
    """Measures the duration, and the share of CPU time that the host took meanwhile."""

    def __init__(self):
        self.begun, self.before = time.monotonic(), stolen()

    def note(self, facts):
        now = stolen()
        facts["stolen"] = (now[1] - self.before[1]) / max(1, now[0] - self.before[0])
        facts["seconds"] = round(time.monotonic() - self.begun)


def described(facts):
    """The machine as lines of Markdown."""
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    kind = "virtual machine, " if facts["virtual"] else ""
    return [
        f"- {facts['date']}, commit {facts['commit']}{' with changes' if facts['changed'] else ''}; {facts['rounds']} rounds; "
        f"{facts['seconds'] / 60:.0f} minutes",
        f"- {facts['cpu']}, {facts['cores']} cores, {kind}{places.told(facts['memory'])} of memory, {facts['kernel']}",
        f"- files on {facts['files']}, disk {facts['disk']}; load {facts['load']:.1f} at the start, "
        f"{facts['stolen']:.1%} of CPU time taken by the host",
        f"- {versions}",
    ]
