"""usage: repeat.py FILE BYTES; writes the content of a file to a pipe again and again, as fast as the pipe takes it."""

import contextlib
import fcntl
import mmap
import sys

PIECE = 1 << 20
F_SETPIPE_SZ = 1031


def main():
    path, left = sys.argv[1], int(sys.argv[2])
    # Where the system does not allow it, the pipe keeps its size.
    with contextlib.suppress(OSError):
        fcntl.fcntl(1, F_SETPIPE_SZ, PIECE)
    with open(path, "rb") as file, open(1, "wb", buffering=0) as out:
        view = memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
        at = 0
        while left:
            sent = out.write(view[at:at + min(PIECE, left)])
            left, at = left - sent, (at + sent) % len(view)


if __name__ == "__main__":
    main()
