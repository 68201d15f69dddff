"""Compares the command `blpk` with the real Bloscpack, datasets with the real bcolz, and arrays with Caterva and
python-blosc2. See README.md."""

import argparse
import os
import sys
import time

import bcolz
import blosc
import blosc2
import bloscpack
from bloscpack.constants import CNAME_AVAIL

import append
import arrays
import chunks2
import datasets
import doors
import exchange
import habits
import matrix
import pipes
import plugins
import read
import records
import recovered
import store_turns
import stores
import written
import zarr
import zarr_turns
from common import Command, Place, Tally, prepare_reference

PARTS = {part.__name__: part for part in (
    written, read, pipes, append, habits, recovered, records, datasets, arrays, exchange, plugins,
    chunks2, stores, store_turns, zarr, zarr_turns, matrix, doors)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blpk", required=True, help="the command under test")
    parser.add_argument("--reference", required=True, help="the command of Bloscpack")
    parser.add_argument("parts", nargs="*", metavar="PART", help="parts to run, all by default: " + " ".join(PARTS))
    chosen = parser.parse_args()
    for part in chosen.parts:
        if part not in PARTS:
            parser.error("unknown part '%s'; known parts: %s" % (part, " ".join(PARTS)))

    prepare_reference()
    print("reference: bloscpack %s, blosc %s (C-Blosc %s; %s)" % (
        bloscpack.__version__, blosc.__version__,
        blosc.blosclib_version.split()[0], " ".join(CNAME_AVAIL)))
    print("           bcolz %s (C-Blosc %s; %s)" % (
        bcolz.__version__, bcolz.blosc_version()[0], " ".join(bcolz.blosc_compressor_list())))
    print("           python-blosc2 %s (C-Blosc2 %s)" % (blosc2.__version__, blosc2.blosclib_version.split()[0]),
          flush=True)
    blpk, reference = (Command(os.path.abspath(program))
                       for program in (chosen.blpk, chosen.reference))
    passed = failed = 0
    for name in chosen.parts or PARTS:
        tally, begun = Tally(name), time.monotonic()
        place = Place()
        PARTS[name].run(tally, blpk, reference, place)
        if tally.passed + tally.failed < PARTS[name].CASES:
            tally.failed += 1
            print("FAILED %s: fewer than %d cases ran" % (name, PARTS[name].CASES),
                  file=sys.stderr)
        print("%s (%.1f s)" % (tally.line(), time.monotonic() - begun), flush=True)
        passed, failed = passed + tally.passed, failed + tally.failed
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
