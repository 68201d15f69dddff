#!/usr/bin/env python3
"""Imports mutated Arrow and Parquet files with the command: no panic reaches the user.

    tests/mutated.py [--files N] [--seed N] [target/release/blpk]

The crates that read these formats panic on some damaged files. For each mutated file the command must end by itself
within some seconds, with status 0 or that of an error, and with one error at most, in a line on standard error.
Prints how many files gave which status; fails if one of them breaks a rule.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "testdata"))
import archives  # noqa: E402

LONGEST_RUN = 60  # seconds
STATUSES = range(0, 10)  # of the command itself; 101 is a panic, and a signal is negative


def mutated(content, rng):
    """The content with some bits, bytes or runs changed, mostly in the metadata at the end, or cut."""
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        near_end = rng.random() < 0.6
        at = rng.randrange(max(0, len(content) - 2000), len(content)) if near_end else rng.randrange(len(content))
        kind = rng.randrange(5)
        if kind == 0:
            content[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            content[at] = rng.choice([0, 1, 0x7f, 0x80, 0xff])
        elif kind == 2:
            run = rng.randrange(1, 9)
            content[at:at + run] = rng.randbytes(len(content[at:at + run]))
        elif kind == 3:
            source = rng.randrange(len(content))
            content[at:at + 8] = content[source:source + len(content[at:at + 8])]
        elif rng.random() < 0.1:
            del content[at:]
            if not content:
                break
    return bytes(content)


def broken_rule(blpk, path, folder):
    """Imports a file; returns the status and the rule that was broken, if one was."""
    out = folder / (path.name + ".out")
    command = [blpk, "import", "-q", str(path), str(out), "--layout", "bcolz"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=LONGEST_RUN, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return None, f"did not end within {LONGEST_RUN} s"
    finally:
        shutil.rmtree(out, ignore_errors=True)
    # Details follow the error on indented lines.
    messages = [line for line in done.stderr.splitlines() if not line.startswith("  ")]
    if done.returncode not in STATUSES:
        return done.returncode, f"status {done.returncode}: {done.stderr[:300]}"
    # The message itself may say that a crate panicked; a backtrace, or a place in its sources, may not.
    if "panicked at" in done.stderr or "RUST_BACKTRACE" in done.stderr or len(messages) > 1:
        return done.returncode, f"standard error: {done.stderr[:600]}"
    return done.returncode, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("blpk", nargs="?", default=ROOT / "target" / "release" / "blpk")
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    blpk = str(pathlib.Path(chosen.blpk).resolve())
    exchange = archives.unpacked() / "exchange"
    samples = sorted(exchange.glob("*.parquet")) + sorted(exchange.glob("*.arrow*"))
    assert samples, "no files to mutate"
    statuses, failures = collections.Counter(), 0
    with tempfile.TemporaryDirectory(prefix="blpk-mutated-") as folder:
        folder = pathlib.Path(folder)

        def one(number):
            sample = samples[number % len(samples)]
            rng = random.Random(f"{chosen.seed} {number}")
            path = folder / f"{number}{sample.suffix}"
            path.write_bytes(mutated(sample.read_bytes(), rng))
            result = broken_rule(blpk, path, folder)
            if not result[1]:
                path.unlink()
            return (number, sample.name, *result)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for number, name, status, why in pool.map(one, range(chosen.files)):
                statuses[status] += 1
                if why:
                    failures += 1
                    print(f"{name}, seed {chosen.seed}, file {number}: {why}", file=sys.stderr)
    counts = ", ".join(f"status {status}: {count}" for status, count in sorted(statuses.items(), key=str))
    print(f"{chosen.files} mutated files; {counts}; {failures} broke a rule")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
