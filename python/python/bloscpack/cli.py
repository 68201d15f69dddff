"""The parts of Bloscpack 0.16's command that other programs import. The actual command is ``blpk``, a separate program."""

from __future__ import annotations

import argparse
import os
from typing import Any

from .exceptions import FileNotFound
from .version import __version__


def check_files(in_file: str, out_file: str, args: Any) -> None:
    """Raises an exception for a missing input or an existing output, unless ``args.force`` is set."""
    if not os.path.exists(in_file) and not args.force:
        raise FileNotFound(f"{in_file!r} does not exist")
    if os.path.exists(out_file) and not args.force:
        raise FileNotFound(f"{out_file!r} exists")


def create_parser() -> argparse.ArgumentParser:
    """A parser of the command's arguments."""
    parser = argparse.ArgumentParser(prog="bloscpack", description="Compress and decompress Bloscpack files.")
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument("-f", "--force", action="store_true", help="overwrite the output")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, help_ in (("compress", "compress a file"), ("decompress", "decompress a file")):
        command = commands.add_parser(name, help=help_)
        command.add_argument("in_file")
        command.add_argument("out_file")
    commands.add_parser("info", help="describe a file").add_argument("file_")
    return parser


def main() -> None:
    """Runs the command."""
    import json

    from . import file_io, inspect

    args = create_parser().parse_args()
    if args.command == "info":
        print(json.dumps(inspect.info(args.file_), indent=2))
        return
    check_files(args.in_file, args.out_file, args)
    run = file_io.pack_file_to_file if args.command == "compress" else file_io.unpack_file_from_file
    run(args.in_file, args.out_file)


if __name__ == "__main__":
    main()
