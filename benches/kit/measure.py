"""Measures one process (wall time, CPU time, peak memory), or several in turn."""

import json
import os
import resource
import sys
import threading
import time
from dataclasses import asdict, dataclass


@dataclass
class Run:
    """Times in seconds, peak memory in KiB."""
    wall: float
    user: float
    system: float
    peak: int

    @property
    def cpu(self):
        return self.user + self.system


class Failed(Exception):
    """A process ended with a status other than 0."""


def started(argv, stdout=os.devnull, env=None, stdin=os.devnull):
    """Starts a process and returns its id. `stdin` and `stdout` are paths or file descriptors."""
    actions = []
    for number, at, flags in ((0, stdin, os.O_RDONLY), (1, stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)):
        if isinstance(at, int):
            actions.append((os.POSIX_SPAWN_DUP2, at, number))
        else:
            actions.append((os.POSIX_SPAWN_OPEN, number, str(at), flags, 0o666))
    environment = {**os.environ, **(env or {})}
    return os.posix_spawnp(argv[0], [str(one) for one in argv], environment, file_actions=actions)


class Peak(threading.Thread):
    """Watches the peak memory of a process while it runs.

    For a small process, `wait4` reports the memory of its parent, because the two are the same until the new program is
    loaded. The kernel's figure for the running program is free of that, but has to be read often.
    """

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path, self.peak = f"/proc/{pid}/status", 0
        self.start()

    def run(self):
        argv0 = os.readlink("/proc/self/exe")
        while True:
            try:
                # Until the other program is loaded, this is still our own.
                if os.readlink(self.path.replace("status", "exe")) != argv0:
                    with open(self.path) as status:
                        found = [line for line in status if line.startswith("VmHWM:")]
                    self.peak = max(self.peak, int(found[0].split()[1]))
            except (OSError, IndexError):
                return
            time.sleep(0.001)


def ended(pid, argv, begun, watch=None):
    """Waits for a process and returns what it used."""
    _, status, used = os.wait4(pid, 0)
    wall = time.perf_counter() - begun
    code = os.waitstatus_to_exitcode(status)
    if code:
        raise Failed(f"status {code}: {' '.join(map(str, argv))}")
    peak = used.ru_maxrss
    if watch:
        watch.join()
        if peak <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss and watch.peak:
            peak = watch.peak
    return Run(wall, used.ru_utime, used.ru_stime, peak)


def run(argv, stdout=os.devnull, env=None, watch=False):
    """Runs a command. With `watch`, the peak memory is right even for a small process, but the time may be disturbed."""
    begun = time.perf_counter()
    pid = started(argv, stdout, env)
    return ended(pid, argv, begun, Peak(pid) if watch else None)


def run_inside(argv, folder, env=None):
    """Runs a program that times itself and prints `{"wall": s, "user": s, "system": s, ...}`; returns both."""
    said = os.path.join(folder, "said.json")
    whole = run(argv, said, env)
    with open(said) as file:
        told = json.load(file)
    os.remove(said)
    return Run(told.pop("wall"), told.pop("user"), told.pop("system"), whole.peak), told


def turns(names, rounds):
    """Yields `(round, name)`: all names in turn, each round starting with the next name. Round 0 is a warm-up."""
    names = list(names)
    for number in range(rounds + 1):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            yield number, name


class Results(dict):
    """Runs by name, as they are written to JSON."""

    def add(self, number, name, done):
        one = self.setdefault(name, {"warm": None, "runs": []})
        if number:
            one["runs"].append({"round": number, **asdict(done)})
        else:
            one["warm"] = asdict(done)

    def too_slow(self, number, name, seconds):
        """Whether the program takes so long that three rounds are enough."""
        return number > 3 and self[name]["warm"]["wall"] > seconds


def in_turn(steps, rounds, slow=float("inf")):
    """Runs `steps`, a dict of functions `round -> Run`, in turn; returns the results."""
    results = Results()
    for number, name in turns(steps, rounds):
        if not results.too_slow(number, name, slow):
            results.add(number, name, steps[name](number))
    return results


def say(*words):
    print(*words, file=sys.stderr, flush=True)
