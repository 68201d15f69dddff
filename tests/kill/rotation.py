#!/usr/bin/env python3
"""Kills the real command while it appends to a log that rotates, beside a follower.

    tests/kill/rotation.py [--kills N] [--seed N] target/release/blpk

No record of an append that has succeeded is lost, none is there twice, and the follower prints all of them in order.
Needs only Python's standard library.
"""

import argparse
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BATCH = 40


def run(*arguments, **options):
    done = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{arguments}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def parts_of(log):
    """The parts that are complete, by number."""
    found = {int(re.search(r"-(\d+)\.blp$", path.name)[1]): path for path in log.parent.glob("log-*.blp")}
    return [found[number] for number in sorted(found)]


class Log:
    def __init__(self, blpk, log):
        self.blpk, self.log = blpk, log
        # What is known of the parts that were read before: the number of the part, and that of the first record after it.
        self.part, self.first = 1, 0

    def check(self, path, wanted):
        """Reads a file, whose records must continue the log, and returns the number of the record after it."""
        numbers = [int(line) for line in run(self.blpk, "records", "unpack", path).split()]
        if numbers != list(range(wanted, wanted + len(numbers))):
            sys.exit(f"{path}: {numbers[:3]} to {numbers[-3:]}, wanted from {wanted}")
        return wanted + len(numbers)

    def end(self):
        """The number of the record after the last."""
        rotation = re.search(r'"rotation":\s*{\s*"part":\s*(\d+)', run(self.blpk, "info", "--json", self.log))
        newest = int(rotation[1]) if rotation else 1
        while self.part < newest:
            self.first = self.check(self.log.with_name(f"log-{self.part:06}.blp"), self.first)
            self.part += 1
        return self.check(self.log, self.first)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("blpk", type=Path)
    chosen = parser.parse_args()
    chance, blpk = random.Random(chosen.seed), chosen.blpk.resolve()
    print(f"seed {chosen.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.blp")
        run(blpk, "records", "pack", "--format", "3", "--quick", "/dev/null", log)
        # About half of the appends are killed: a kill makes the next ones later, a success makes them earlier.
        state, killed, end, usual = Log(blpk, log), 0, 0, 0.02
        with open(Path(folder, "followed"), "w+") as followed:
            follower = subprocess.Popen([blpk, "records", "unpack", "--follow", log], stdout=followed)
            while killed < chosen.kills:
                count = chance.randrange(1, BATCH)
                lines = "".join(f"{number:08}\n" for number in range(end, end + count))
                append = subprocess.Popen(
                    [blpk, "records", "append", "--rotate", "1K", log], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
                )
                append.stdin.write(lines)
                append.stdin.close()
                try:
                    append.wait(chance.random() * usual)
                except subprocess.TimeoutExpired:
                    append.kill()
                append.wait()
                if append.returncode == -signal.SIGKILL:
                    killed, usual = killed + 1, usual * 1.1
                    found = state.end()
                    if found not in (end, end + count):
                        sys.exit(f"{found} records after a kill, wanted {end} or {end + count}")
                    end = found
                elif append.returncode:
                    sys.exit(f"append: {append.returncode} {append.stderr.read()}")
                else:
                    usual *= 0.9
                    end += count
                append.stderr.close()
            if state.end() != end:
                sys.exit(f"{state.end()} records, wanted {end}")
            run(blpk, "verify", *parts_of(log), log)
            deadline = time.monotonic() + 60
            while (size := Path(followed.name).stat().st_size) < 9 * end and time.monotonic() < deadline:
                time.sleep(0.1)
            follower.terminate()
            follower.wait()
            followed.seek(0)
            if [int(line) for line in followed] != list(range(end)):
                sys.exit(f"the follower printed {size} bytes of {9 * end}, or not in order")
        print(f"{killed} kills, {end} records in {state.part} parts: none lost, none twice, all followed")


if __name__ == "__main__":
    main()
