"""usage: copy_peer.py BYTES; runs with NumPy.

Prints how long a memory copy of BYTES bytes takes, with both sides touched before.
"""

import json
import resource
import sys
import time

import numpy as np


def main():
    count = int(sys.argv[1])
    source, target = np.ones(count, "u1"), np.ones(count, "u1")
    np.copyto(target, source)
    used, begun = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    np.copyto(target, source)
    wall, now = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF)
    user, system = now.ru_utime - used.ru_utime, now.ru_stime - used.ru_stime
    print(json.dumps({"wall": wall, "user": user, "system": system}))


if __name__ == "__main__":
    main()
