"""The machine and the versions that the figures were measured with."""

import os
import platform
import re
import subprocess
import time
from pathlib import Path

from . import places

LIBRARIES = ("bloscpack", "blosc", "blosc2", "numpy")
VERSIONS = "import importlib.metadata as m, platform; print('python', platform.python_version()); " \
           f"[print(name, m.version(name)) for name in {LIBRARIES!r}]"


def facts(setting, disk=None):
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "cpu": cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "virtual": " hypervisor " in read("/proc/cpuinfo").replace("\n", " "),
        "memory": memory(),
        "kernel": f"{platform.system()} {platform.release()}",
        "files": places.filesystem(setting.folder),
        "disk": disk and places.filesystem(disk),
        "load": os.getloadavg()[0],
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
    found = {"blpk": version([setting.command, "--version"])}
    commit = output(["git", "-C", str(places.ROOT), "rev-parse", "--short", "HEAD"])
    if re.fullmatch(r"[0-9a-f]{7,40}", commit):
        found["commit"] = commit
    if setting.python:
        for line in output([setting.python, "-c", VERSIONS]).splitlines():
            name, number = line.split()
            found[{"blosc": "python-blosc", "blosc2": "python-blosc2"}.get(name, name)] = number
    for name in places.TOOLS + ("cp",):
        if name in setting.tools:
            found[name] = version([setting.tools[name], "--version"])
    return found


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

    def note(self, found):
        now = stolen()
        found["machine"]["stolen"] = (now[1] - self.before[1]) / max(1, now[0] - self.before[0])
        found["seconds"] = round(time.monotonic() - self.begun)


def described(facts):
    """The machine as lines of Markdown."""
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    disk = f", disk {facts['disk']}" if facts["disk"] else ""
    kind = "virtual machine, " if facts["virtual"] else ""
    return [
        f"- {facts['date']}: {facts['cpu']}, {facts['cores']} cores, {kind}"
        f"{places.told(facts['memory'])} of memory, {facts['kernel']}",
        f"- files on {facts['files']}{disk}; load {facts['load']:.1f} at the start, "
        f"{facts.get('stolen', 0):.1%} of CPU time taken by the host",
        f"- {versions}",
    ]
