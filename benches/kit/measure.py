"""One process measured: wall time, time on processors, peak memory; and several in turn."""

import json
import os
import resource
import sys
import threading
import time
from dataclasses import asdict, dataclass


@dataclass
class Run:
    """Seconds, and KiB at the peak."""
    wall: float
    user: float
    system: float
    peak: int

    @property
    def cpu(self):
        return self.user + self.system


class Failed(Exception):
    """A process ended with another status than 0."""


def started(argv, stdout=os.devnull, env=None, stdin=os.devnull):
    """The process id. `stdin` and `stdout` are paths, or open files by number."""
    actions = []
    for number, at, flags in ((0, stdin, os.O_RDONLY), (1, stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)):
        if isinstance(at, int):
            actions.append((os.POSIX_SPAWN_DUP2, at, number))
        else:
            actions.append((os.POSIX_SPAWN_OPEN, number, str(at), flags, 0o666))
    environment = {**os.environ, **(env or {})}
    return os.posix_spawnp(argv[0], [str(one) for one in argv], environment, file_actions=actions)


class Peak(threading.Thread):
    """Looks at the peak of a process while it runs.

    `wait4` counts, for a small process, the memory of the one that started it: until the new program is loaded, both
    are the same. What the kernel tells of the running program has nothing of that, but it has to be looked at often.
    """

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path, self.peak = f"/proc/{pid}/status", 0
        self.start()

    def run(self):
        argv0 = os.readlink("/proc/self/exe")
        while True:
            try:
                # Still this program, before the other one is loaded.
                if os.readlink(self.path.replace("status", "exe")) != argv0:
                    with open(self.path) as status:
                        found = [line for line in status if line.startswith("VmHWM:")]
                    self.peak = max(self.peak, int(found[0].split()[1]))
            except (OSError, IndexError):
                return
            time.sleep(0.001)


def ended(pid, argv, begun, watch=None):
    """Waits for a process and tells what it took."""
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
    """Runs a command. With `watch` its peak memory is right however small it is, and its time may be disturbed."""
    begun = time.perf_counter()
    pid = started(argv, stdout, env)
    return ended(pid, argv, begun, Peak(pid) if watch else None)


def run_inside(argv, folder, env=None):
    """Runs a program that times itself and prints `{"wall": s, "user": s, "system": s, ...}`; that, and the rest."""
    said = os.path.join(folder, "said.json")
    whole = run(argv, said, env)
    with open(said) as file:
        told = json.load(file)
    os.remove(said)
    return Run(told.pop("wall"), told.pop("user"), told.pop("system"), whole.peak), told


def turns(names, rounds):
    """`(round, name)`: all of them in turn, each round begins with the next one. Round 0 is not to be counted."""
    names = list(names)
    for number in range(rounds + 1):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            yield number, name


class Results(dict):
    """Runs by name; what is written as JSON."""

    def add(self, number, name, done):
        one = self.setdefault(name, {"warm": None, "runs": []})
        if number:
            one["runs"].append({"round": number, **asdict(done)})
        else:
            one["warm"] = asdict(done)

    def too_slow(self, number, name, seconds):
        """Whether three rounds are enough of something that takes that long."""
        return number > 3 and self[name]["warm"]["wall"] > seconds


def in_turn(steps, rounds, slow=float("inf")):
    """Runs each of `steps`, a dict of functions `round -> Run`, in turn; returns the results."""
    results = Results()
    for number, name in turns(steps, rounds):
        if not results.too_slow(number, name, slow):
            results.add(number, name, steps[name](number))
    return results


def say(*words):
    print(*words, file=sys.stderr, flush=True)
