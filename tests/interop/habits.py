"""The same arguments for both commands: everything that scripts written for the
Python tool rely on must be the same.

Each case runs each command in a folder of its own with the same files in it.
It compares success or failure, the status if scripts can test for the
reference's, the names of the files afterwards, the content of every plain
file, and the content that the reference reads from every packed one.
"""

import json
import shutil

import bloscpack

from common import METADATA, Failure, Look, equal, expect, numbers, reference_unpack

CASES = 98
DATA, MORE = numbers(20_000), numbers(700, seed=3)
FIELDS = ("format_version", "offsets", "metadata", "checksum", "typesize",
          "chunk_size", "last_chunk", "nchunks")

# Where none of these is given, we choose the settings of Blosc by a sample of the data.
SETTINGS = {"-t", "-l", "-s", "-c", "--typesize", "--clevel", "--no-shuffle", "--codec"}

# Name, files that exist before, arguments.
PACKED, PLAIN = "in.blp", "in"
SAME = (
    # file naming
    ("compress", PLAIN, "compress in"),
    ("compress-alias", PLAIN, "c in"),
    ("compress-to", PLAIN, "compress in out"),
    ("compress-to-folder", PLAIN, "c in sub/out.blp"),
    ("decompress", PACKED, "decompress in.blp"),
    ("decompress-alias", PACKED, "d in.blp"),
    ("decompress-to", PACKED, "decompress in.blp out"),
    ("decompress-no-extension", "in.dat", "decompress in.dat"),
    ("decompress-e", "in.dat", "decompress -e in.dat out"),
    ("decompress-e-long", "in.dat", "d --no-check-extension in.dat out"),
    ("decompress-e-no-out", "in.dat", "decompress -e in.dat"),
    ("decompress-e-with-extension", PACKED, "d -e in.blp out"),
    # existing files
    ("compress-exists", "in in.blp", "compress in"),
    ("compress-to-exists", "in out", "compress in out"),
    ("compress-force", "in in.blp", "-f compress in"),
    ("compress-force-long", "in in.blp", "--force compress in"),
    ("decompress-exists", "in in.blp", "decompress in.blp"),
    ("decompress-to-exists", "out in.blp", "decompress in.blp out"),
    ("decompress-force", "in in.blp", "-f decompress in.blp"),
    ("compress-missing", "", "compress in"),
    ("compress-missing-and-exists", "in.blp", "compress in"),
    ("decompress-missing", "", "decompress in.blp"),
    ("compress-no-folder", PLAIN, "compress in nowhere/out.blp"),
    # options
    ("options", PLAIN, "c -t 4 -l 9 -s -c zstd -z 10K -k sha256 -o in"),
    ("options-long", PLAIN, "compress --typesize 4 --clevel 3 --codec lz4 "
                            "--chunk-size 4K --checksum md5 --no-offsets in"),
    ("no-shuffle-long", PLAIN, "compress --no-shuffle in"),
    ("options-after", PLAIN, "compress in out -t 2 -l 1"),
    ("threads", PLAIN, "-n 1 compress in"),
    ("threads-long", PLAIN, "--nthreads 2 compress in"),
    ("verbose", PLAIN, "-v compress in"),
    ("verbose-long", PLAIN, "--verbose compress in"),
    ("debug", PLAIN, "-d compress in"),
    ("debug-long", PLAIN, "--debug compress in"),
    ("force-and-threads", "in in.blp", "-f -n 1 c in"),
    *(("codec-" + name, PLAIN, "c -c %s in" % name)
      for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")),
    *(("checksum-" + name, PLAIN, "c -k %s in" % name)
      for name in ("None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256",
                   "sha384", "sha512")),
    *(("chunk-size-" + size, PLAIN, "c -z %s in" % size)
      for size in ("1000", "100B", "0.5K", "2.5K", "16K", "1M", "0.001G", "max")),
    ("metadata", "in meta.json", "c -m meta.json in"),
    ("metadata-long", "in meta.json", "c --metadata meta.json in"),
    ("metadata-decompress", "with-metadata.blp", "d with-metadata.blp"),
    # usage
    ("no-subcommand", "", ""),
    ("unknown-subcommand", PLAIN, "squeeze in"),
    ("unknown-option", PLAIN, "compress --nonsense in"),
    ("unknown-codec", PLAIN, "c -c nosuch in"),
    ("unknown-checksum", PLAIN, "c -k nosuch in"),
    ("level-10", PLAIN, "c -l 10 in"),
    ("level-word", PLAIN, "c -l high in"),
    ("too-many", "in", "compress in out third"),
    ("verbose-and-debug", PLAIN, "-v -d compress in"),
    ("help", "", "--help"),
    ("help-short", "", "-h"),
    ("help-compress", "", "compress --help"),
    ("help-decompress", "", "d -h"),
    ("version", "", "--version"),
    # info
    ("info", PACKED, "info in.blp"),
    ("info-alias", "with-metadata.blp", "i with-metadata.blp"),
    ("info-missing", "", "info in.blp"),
    ("info-other", PLAIN, "info in"),
)

# The reference fails too, but may leave an empty or partial output; we must
# leave none.
REFUSED = (
    ("decompress-other", "other.blp", "decompress other.blp"),
    ("decompress-damaged", "damaged.blp", "decompress damaged.blp"),
    ("decompress-cut", "cut.blp", "decompress cut.blp"),
    ("decompress-empty", "empty.blp", "decompress empty.blp"),
    ("metadata-missing", PLAIN, "compress -m meta.json in"),
    ("metadata-not-json", "in other.blp", "compress -m other.blp in"),
    ("chunk-size-0", PLAIN, "compress -z 0 in"),
    ("chunk-size-3G", PLAIN, "compress -z 3G in"),
    ("chunk-size-word", PLAIN, "compress -z big in"),
    ("typesize-0", PLAIN, "compress -t 0 in"),
    ("typesize-256", PLAIN, "compress -t 256 in"),
    ("threads-0", PLAIN, "-n 0 compress in"),
    ("threads-257", PLAIN, "-n 257 compress in"),
)


APPEND = (
    ("append", "in.blp more", "append in.blp more"),
    ("append-alias", "in.blp more", "a in.blp more"),
    ("append-options", "in.blp more", "append -t 4 -l 9 -s -c zlib in.blp more"),
    ("append-no-extension", "in.dat more", "append in.dat more"),
    ("append-e", "in.dat more", "append -e in.dat more"),
    ("append-missing", "more", "append in.blp more"),
    ("append-new-missing", "in.blp", "append in.blp more"),
    ("append-metadata", "with-metadata.blp more meta2.json",
     "append -m meta2.json with-metadata.blp more"),
)


def run(tally, blpk, reference, place):
    # A reference that cannot even start would match every refusal.
    tally.case("reference", lambda: reference.ok("--version", cwd=place.folder()))
    stock = prepare(place)
    for check, cases in ((same, SAME), (same, APPEND), (refused, REFUSED)):
        tally.cases([(name, check, blpk, reference, place, stock, files, arguments)
                     for name, files, arguments in cases])


def prepare(place):
    """Creates each file that a case may ask for."""
    stock = place.folder()
    for name, content in (("in", DATA), ("out", b"old"), ("more", MORE), ("empty.blp", b""),
                          ("other.blp", bytes(range(256)) * 9)):
        (stock / name).write_bytes(content)
    (stock / "meta.json").write_text(json.dumps(METADATA))
    # With all keys of the other, since the command keeps the keys that are not named.
    (stock / "meta2.json").write_text(json.dumps({**dict.fromkeys(METADATA, 7), "b": 2}))
    bloscpack.pack_bytes_to_file(DATA, str(stock / "in.blp"), chunk_size=6000)
    bloscpack.pack_bytes_to_file(DATA, str(stock / "with-metadata.blp"), metadata=METADATA,
                                 chunk_size=6000)
    whole = (stock / "in.blp").read_bytes()
    shutil.copy(stock / "in.blp", stock / "in.dat")
    damaged = bytearray(whole)
    damaged[-300] ^= 1
    (stock / "damaged.blp").write_bytes(damaged)
    (stock / "cut.blp").write_bytes(whole[:-300])
    return stock


def both(blpk, reference, place, stock, files, arguments):
    """Runs both commands; yields (folder, result) for each."""
    for command in (reference, blpk):
        folder = place.folder()
        (folder / "sub").mkdir()
        for name in files.split():
            shutil.copy(stock / name, folder / name)
        yield folder, command.run(*arguments.split(), cwd=folder)


def same(blpk, reference, place, stock, files, arguments):
    (theirs, wanted), (ours, found) = both(blpk, reference, place, stock, files, arguments)
    message = found.stderr.decode(errors="replace")
    # The reference's status 1 means everything except wrong usage, even its own
    # tracebacks; scripts can rely only on these two messages.
    said = wanted.stdout
    if wanted.returncode in (0, 2) or b"exists!" in said or b"does not exist!" in said:
        equal(found.returncode, wanted.returncode, "status (%s)" % message)
    expect((found.returncode == 0) == (wanted.returncode == 0),
           "status", found.returncode, "where the reference has", wanted.returncode, message)
    if found.returncode != 0:
        expect(message, "failed without a message on standard error")
    equal(names(ours), names(theirs), "files afterwards")
    for name in names(theirs):
        same_file(ours / name, theirs / name, arguments.split())


def refused(blpk, reference, place, stock, files, arguments):
    (_, wanted), (ours, found) = both(blpk, reference, place, stock, files, arguments)
    expect(wanted.returncode != 0, "the reference accepts this")
    expect(found.returncode != 0, "accepted")
    expect(found.stderr, "failed without a message on standard error")
    equal(names(ours), sorted(files.split()), "files afterwards")
    for name in files.split():
        equal((ours / name).read_bytes(), (stock / name).read_bytes(), name)


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")
                  if path.is_file())


def same_file(ours, theirs, arguments):
    content = theirs.read_bytes()
    if ours.read_bytes() == content:
        return
    if not content.startswith(b"blpk"):
        raise Failure("%s differs" % ours.name)
    equal(reference_unpack(ours), reference_unpack(theirs), "what is in " + ours.name)
    header, wanted = Look(ours).header, Look(theirs).header
    checksum_asked = any(option in arguments for option in ("-k", "--checksum"))
    for field in FIELDS:
        value = wanted[field]
        if field == "typesize" and not SETTINGS.intersection(arguments):
            continue
        if field == "checksum" and value == "adler32" and not checksum_asked:
            value = header[field] if header[field] == "crc32" else value   # our default
        equal(header[field], value, "%s of %s" % (field, ours.name))
