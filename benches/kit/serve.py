"""usage: serve.py CODE [ARGUMENT..]; a peer in a process of its own.

Answers each line of its input, a JSON list `[task, argument..]`, with what the function `task` of CODE took, as JSON. CODE calls
`took(act)` around the work that counts, and finds the arguments in ARGUMENTS. Memory that is used again in a later round should be
kept between the calls. The sum of what a function returns is part of the answer, so that programs can be compared.
"""

import json
import resource
import sys
import time

# The folder of this program has modules whose names are those of others.
sys.path.pop(0)
spent = {}


def cost():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"wall": time.perf_counter(), "cpu": used.ru_utime + used.ru_stime, "faults": used.ru_minflt}


def took(act):
    """Runs `act`, and adds what it took to the answer."""
    before = cost()
    found = act()
    for name, now in cost().items():
        spent[name] = spent.get(name, 0) + now - before[name]
    return found


def total(found):
    """The sum of the words of 64 bits, or of the bytes if there is no whole number of words; numbers are taken as they are."""
    if found is None or isinstance(found, int):
        return found
    import numpy as np

    octets = np.frombuffer(found, "u1") if isinstance(found, bytes) else np.ascontiguousarray(found).reshape(-1).view("u1")
    return int((octets.view("<u8") if octets.size % 8 == 0 else octets).sum(dtype="u8"))


def main():
    names = {"took": took, "total": total, "ARGUMENTS": sys.argv[2:]}
    exec(compile(sys.argv[1], "peer", "exec"), names)
    for line in sys.stdin:
        task, *words = json.loads(line)
        spent.clear()
        try:
            found = names[task](*words)
            found = None if isinstance(found, str) else total(found)
        except Exception as why:
            print(json.dumps({"failed": f"{type(why).__name__}: {why}"}), flush=True)
            continue
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps({**spent, "peak": peak, "sum": found}), flush=True)


if __name__ == "__main__":
    main()
