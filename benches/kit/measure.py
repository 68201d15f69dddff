"""Measures one process (wall time, CPU time, page faults, peak memory), or several in turn."""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

# The largest part of the slowest round by the fastest of a program. Rows above it are measured again, and marked if they stay so.
SPREAD = 1.5
# With these, memory that a process frees stays with it: a warm process works on pages that it has, whatever its allocator would do.
KEEPS = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(64 << 20)}


@dataclass
class Run:
    """Times in seconds, minor page faults, peak memory in KiB, and the sum of what was read."""
    wall: float = 0
    cpu: float = 0
    faults: float = 0
    peak: int = 0
    sum: int | None = None


class Failed(Exception):
    """A process ended with a status other than 0, or cannot do a task."""


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
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_minflt, peak)


def run(argv, stdout=os.devnull, env=None, watch=False):
    """Runs a command. With `watch`, the peak memory is right even for a small process, but the time may be disturbed."""
    begun = time.perf_counter()
    pid = started(argv, stdout, env)
    return ended(pid, argv, begun, Peak(pid) if watch else None)


class Server:
    """A program that answers each line of its input, a task, with what it took, as JSON."""

    def __init__(self, argv, env=None, split=False):
        """With `split`, the program expects words instead of a JSON list."""
        self.argv, self.split = argv, split
        self.process = subprocess.Popen([str(one) for one in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **KEEPS, **(env or {})})

    def __call__(self, *words):
        line = " ".join(map(str, words)) if self.split else json.dumps(words)
        try:
            print(line, file=self.process.stdin, flush=True)
            answer = json.loads(self.process.stdout.readline())
        except (OSError, ValueError) as why:
            answer = {"failed": why}
        if "failed" in answer:
            raise Failed(f"{Path(self.argv[0]).name}, {line}: {answer['failed']}")
        return Run(**answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def peer(python, code, *arguments, env=None):
    """A server of the functions of `code`."""
    return Server([python, Path(__file__).with_name("serve.py"), code, *arguments], env)


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


def is_wide(results):
    """Whether a program's slowest round takes so much longer than its fastest that the row is not to be trusted; of ten rounds and
    more, without a tenth at both ends."""
    for one in results.values():
        times = sorted(run["wall"] for run in one["runs"])
        cut = len(times) // 10
        if times and times[-1 - cut] > SPREAD * times[cut]:
            return True
    return False


def in_turn(steps, rounds, slow=float("inf"), again=True):
    """Runs `steps`, a dict of functions `round -> Run`, in turn, and once more if the times vary too much; returns the results."""
    results = Results()
    for number, name in turns(steps, rounds):
        if not results.too_slow(number, name, slow):
            results.add(number, name, steps[name](number))
    sums = {one["warm"]["sum"] for one in results.values()} - {None}
    if len(sums) > 1:
        raise ValueError(f"the programs read different values: { {name: one['warm']['sum'] for name, one in results.items()} }")
    return in_turn(steps, rounds, slow, False) if again and is_wide(results) else results


def printed(argv, env=None, again=True):
    """Cells of a program that takes the turns itself: it prints a line of JSON for each run. Those that vary too much are run again."""
    cells = {}
    out = subprocess.run([str(one) for one in argv], env={**os.environ, **KEEPS, **(env or {})}, stdout=subprocess.PIPE, text=True, check=True)
    for line in out.stdout.splitlines():
        run = json.loads(line)
        task, program = run.pop("task"), run.pop("program")
        figures = {name: run.pop(name) for name in ("wall", "cpu", "faults")}
        cell = cells.setdefault(task, {"task": task, **run, "results": Results()})
        rounds = cell["results"].get(program, {"runs": ()})["runs"]
        cell["results"].add(len(rounds) + 1, program, Run(**figures))
    for task in [task for task in cells if again and is_wide(cells[task]["results"])]:
        cells.update({one["task"]: one for one in printed([*argv, *task.split(" ")], env, False) if one["task"] == task})
    return list(cells.values())


def instructions(argv):
    """The instructions of a command, by callgrind; None without it."""
    if not shutil.which("valgrind"):
        return None
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *map(str, argv)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    return int(found[1]) if found else None


def say(*words):
    print(*words, file=sys.stderr, flush=True)
