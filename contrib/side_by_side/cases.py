"""The cases of contrib/side_by_side.py, by families."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import data
from bench import Case, Content, Step, limited, script

CODECS = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
FILTERS = ("none", "byte", "bit")
CHECKSUMS = ("None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512")
AIMS = ("speed", "balance", "size")
DATASET_LAYOUTS = ("bcolz", "blz", "blz-doc", "carray-doc")
LAYOUTS = (*DATASET_LAYOUTS, "caterva", "b2nd")
COMMANDS = (
    "compress", "decompress", "cat", "append", "patch", "reindex", "info", "ls", "import", "export", "convert",
    "dataset", "dataset append", "dataset trim", "dataset resize", "dataset set", "dataset attrs",
    "dataset add-column", "dataset delete-column", "dataset repair", "verify", "recover", "records", "records pack",
    "records unpack", "records get", "records append", "completions", "man",
)

# Runs steps with the old build on some files; gives the path of the result, `made`.
Make = Callable[[Mapping[str, Content], list[Step]], Path]
# Gives the output of the old build's `info --json` for a dataset or a frame.
Describe = Callable[[Path], dict[str, Any]]


def families(make: Make, describe: Describe, damages: int = 0) -> list[tuple[Iterable[Case], int]]:
    """Each family, and of how many cases --quick takes one; `damages` are more damaged files to recover."""
    return [
        (help_cases(), 1), (wrong_cases(), 1), (source_cases(), 3), (other_cases(), 1), (corpus_cases(), 37),
        (member_cases(), 7), (array_cases(describe), 41), (folder_cases(), 3), (import_cases(), 7),
        (exchange_cases(), 3), (csv_cases(), 3), (matrix_cases(), 19), (record_cases(), 6), (damage_cases(make), 17),
        (damaged_set_cases(), 13), (interrupted_cases(), 9), (interrupted_set_cases(), 19), (refused_cases(), 3),
        (recovery_cases(make, damages), 1),
    ]


def in_batches(items: list[Any], size: int) -> Iterator[tuple[int, list[Any]]]:
    for n in range(0, len(items), size):
        yield n // size, items[n : n + size]


def each(names: Iterable[str], text: str, **others: str) -> list[Step]:
    """The steps of a text for each of these names, as $name."""
    return [step for name in names for step in script(text, name=name, **others)]


# Bloscpack files

READ = """
    info $name
    info --json $name
    info --json - < $name
    info -v --auto $name
    verify $name
    verify -v $name
    verify --json $name
    verify - < $name
    d -n 2 - - < $name
    d --limit chunk=1K - $name.out3 < $name
    d --limit total=2K,ratio=3 - $name.out4 < $name
    cat $name
    cat --range 10..3000 $name
    cat --range 100000.. $name
    cat --range ..5 - < $name
    cat --chunk 0 $name
    cat --chunk 1 $name
"""

READ_MORE = """
    decompress -n 1 -e --metadata-out meta.json $name out1
    d -v -e --allow-unterminated $name out2
    cat --rows 1..3 $name
    cat --slice 0:2 $name
    records get $name 0 2
    records unpack -v $name rec
    records unpack - < $name
    export $name x.npy
    export $name x.csv
    export --to jsonl $name -
    ls .
    ls $name
"""

CONVERT = """
    convert -v --format 1 $name v1.blp
    convert --format 2 -c zstd -l 3 -k sha256 $name v2.blp
    convert --format 3 -z 1K --shuffle bit -c blosclz $name v3.blp
    convert -s $name same.blp
    convert $name same.blp
    convert -f -c snappy -k None $name same.blp
    recover -v $name r1.blp
    recover --json --fill $name r2.blp
    recover -f $name $name
"""

CHANGE = """
    append -v 0.blp extra
    append -c zstd -l 3 -t 4 --shuffle bit 1.blp < extra
    append -m meta 2.blp /dev/null
    append --max-app-chunks 3 -z 2K 3.blp extra
    patch -v --at 5 4.blp few
    patch --at 0 5.blp < extra
    reindex -v 6.blp
    records append -v 7.blp lines
    records append -0 -c zlib -l 2 8.blp < nul
    append -m meta 9.blp extra
"""

CHANGE_AGAIN = """
    append 0.blp extra
    append -z 512 3.blp < extra
    d 0.blp -
"""

EXTRAS = {"extra": data.walk(3_000, 1), "few": b"few bytes", "lines": data.lines(30, 2), "nul": b"a\0\0bc\0",
          "meta": data.METADATA}


def corpus_cases() -> Iterator[Case]:
    """Each Bloscpack file of testdata/, read, converted, recovered and changed."""
    copies = [f"{n}.blp" for n in range(10)]
    converting = script(CONVERT, name="in.blp") + each(LAYOUTS, "convert --layout $name -l 1 in.blp as-$name")
    converting += each(LAYOUTS, "verify as-$name \n info --json as-$name")
    changing = script(CHANGE) + each(copies, "verify --json $name \n d $name -") + script(CHANGE_AGAIN)
    for name, path in data.bloscpack_files().items():
        yield Case(f"bloscpack/{name}/read", {"in.blp": path}, script(READ + READ_MORE, name="in.blp"))
        yield Case(f"bloscpack/{name}/convert", {"in.blp": path}, converting)
        yield Case(f"bloscpack/{name}/change", {**dict.fromkeys(copies, path), **EXTRAS}, changing)


def member_cases() -> Iterator[Case]:
    """Two files in one, and what comes after a file."""
    files = list(data.bloscpack_files().items())
    steps = each(("both.blp", "junk.blp"), READ + "recover --json $name $name.rec \n reindex $name \n append $name few")
    for n in range(0, len(files) - 1, 12):
        (first, one), (second, two) = files[n], files[-n - 1]
        content = one.read_bytes()
        found: dict[str, Content] = {"both.blp": content + two.read_bytes(), "junk.blp": content + b"junk"}
        yield Case(f"members/{first}+{second}", {**found, "few": b"few bytes"}, steps)


def other_cases() -> Iterator[Case]:
    """Files that are of none of these formats."""
    files: dict[str, Content] = {"chunks.bin": data.TESTDATA / "blosc2" / "chunks.bin"}
    files["README.md"] = data.ROOT / "testdata/README.md"
    yield Case("others", files, each(files, READ + "c $name \n recover $name $name.rec"))


# Datasets and frames

READ_ARRAY = """
    info $name
    info -v $name
    info --json $name
    verify -v $name
    verify --json $name
    cat $name
    cat --rows 3..9 $name
    cat --range 3..70 $name
    cat --chunk 0 $name
    cat $name --slice=$axes
    cat $name --slice=-1
    cat $name --slice=::2
    cat $name --slice=0:40:1,0
    ls .
    ls --json .
    export -v $name x.npy
    export $name x.csv
    export $name x.jsonl
    export $name x.bin
    export $name x.parquet
    export --to csv --rows 2..7 $name -
    export --to npy $name - --slice=$axes
    export --to npy --dtype u1 $name -
    dataset attrs $name
"""

READ_COLUMN = """
    cat --rows ..9 in --column $name
    dataset attrs in --column $name
    export --to jsonl --rows 1..4 in - --columns $name
    convert -v in column-$name --column $name
"""

CONVERT_ARRAY = """
    convert --layout bcolz -c zstd -l 3 --shuffle bit --chunklen 64 -n 2 in other-bcolz
    convert --layout blz -c zlib -s in other-blz
    convert --layout blz-doc -k sha256 --superchunk 2 --spare 64 --chunklen 32 in other-blz-doc
    convert --layout carray-doc -k adler32 --superchunk 3 --spare 1K --chunklen 16 in other-carray-doc
    convert --layout caterva --sparse -c lz4hc -l 2 in other-caterva
    convert --layout b2nd --sparse -c blosclz --shuffle none --dtype u1 in other-b2nd
    convert --format 3 -c zstd -z 2K in other.blp
    convert --format 2 in other2.blp
    convert in same
    convert in same
    convert -f -l 9 in same
    ls --json .
"""

CHANGE_DATASET = """
    export in rows.npy
    export in rows.csv
    export --to csv --rows ..3 in few.csv
    export --to npy --rows ..2 in two.npy
    cat --rows ..2 in
    dataset append -v set0 rows.npy
    dataset append set0 few.csv
    dataset append -n 2 set1 rows.csv
    dataset append set1 rows.csv
    dataset trim -v set2 $half
    dataset trim set2 0
    dataset resize -v set3 $longer
    dataset resize set3 $half
    dataset attrs -v set4 unit '"EUR"'
    dataset attrs set4 list '[1, 2.50, {}]'
    dataset attrs set4 unit
    dataset attrs set4
    dataset attrs set4 --remove unit
    dataset attrs set4 --remove absent
    dataset attrs set4 bad {
    dataset set -v --rows ..2 set5 two.npy $column
    dataset set set5 $column --slice=$axes < zeros
    dataset set set5 $column --rows=0..1 < zeros4
    dataset set set5 $column --rows=0..1 < zeros8
    dataset set set5 $column --rows=0..4 < zeros
    dataset repair --dry-run --json set6
    dataset repair -v set6
    dataset repair --keep-rows --json set7
    dataset repair --drop-rows --json set8
    dataset repair --cut set9
"""

CHANGE_COLUMNS = """
    export --to npy in column.npy --columns $first
    dataset add-column -v set10 added column.npy
    dataset add-column --at 0 -c zstd set10 first column.npy
    dataset delete-column -v set10 $first
    dataset delete-column --keep set10 $last
"""

LOOK_AT_SET = """
    verify --json $name
    info --json $name
    cat $name $column
    export --to npy $name -
"""

ZEROS = {"zeros": bytes(64), "zeros4": bytes(4), "zeros8": bytes(8)}


def array_cases(describe: Describe) -> Iterator[Case]:
    """Each dataset and each frame of testdata/, read, converted and changed."""
    for kind, paths in (("datasets", data.dataset_folders()), ("frames", data.frame_paths())):
        for name, path in paths.items():
            about = describe(path)
            columns = [column["name"] for column in about.get("columns") or []]
            shape = about.get("shape") or [0]
            yield Case(f"{kind}/{name}/read", {"in": path}, reading_array(columns, len(shape)))
            yield Case(f"{kind}/{name}/convert", {"in": path}, converting_array())
            copies = dict.fromkeys(["in", *(f"set{n}" for n in range(11))], path)
            yield Case(f"{kind}/{name}/change", {**copies, **ZEROS}, changing_array(columns, shape))


def reading_array(columns: list[str], dimensions: int) -> list[Step]:
    steps = script(READ_ARRAY, name="in", axes=",".join(["1:"] * dimensions))
    return steps + each([*map(quoted, columns[:2]), "absent"], READ_COLUMN)


def quoted(name: str) -> str:
    """The name of a column as a word of a script."""
    return f"'{name}'" if name.isprintable() and "'" not in name else "unprintable"


def converting_array() -> list[Step]:
    steps = each(LAYOUTS, "convert -v --layout $name in as-$name") + script(CONVERT_ARRAY)
    made = [*(f"as-{layout}" for layout in LAYOUTS), *(f"other-{layout}" for layout in LAYOUTS), "same"]
    return steps + each(made, "verify $name \n info --json $name \n export --to npy $name -")


def changing_array(columns: list[str], shape: list[int]) -> list[Step]:
    column = f"--column {quoted(columns[0])}" if columns else ""
    sizes = {"half": str(shape[0] // 2), "longer": str(shape[0] + 700)}
    steps = script(CHANGE_DATASET, column=column, axes=",".join(["0:1"] * len(shape)), **sizes)
    first, last = (quoted(columns[n]) if columns else "absent" for n in (0, -1))
    steps += script(CHANGE_COLUMNS, first=first, last=last)
    return steps + each([f"set{n}" for n in range(11)], LOOK_AT_SET, column=column)


FOLDER = """
    ls all
    ls --json all
    verify all
    verify --json -n 2 all
    info all
    cat all
    convert all copy
    dataset repair all
"""


def folder_cases() -> Iterator[Case]:
    """Whole folders of datasets."""
    for path in sorted((data.TESTDATA / "datasets").iterdir()):
        if path.is_dir():
            yield Case(f"folders/{path.name}", {"all": path}, script(FOLDER))


# Files of other formats

IMPORTS = (
    "--layout bcolz", "--layout bcolz -c zstd -l 3 --shuffle bit --chunklen 64",
    "--layout bcolz -c blosclz --expected-rows 100000", "--layout blz -c zlib",
    "--layout blz -s -c snappy --chunklen 100", "--layout blz-doc",
    "--layout blz-doc -k sha512 --superchunk 2 --spare 64 --chunklen 32 -n 2", "--layout carray-doc",
    "--layout carray-doc -k md5 --superchunk 3 --spare 100 --chunklen 16", "--layout caterva",
    "--layout caterva --sparse -c lz4hc", "--layout b2nd", "--layout b2nd -c zstd -l 1 --shuffle none",
    "--layout b2nd --sparse --shuffle bit -n 2", "--layout b2nd --table",
)

IMPORT_SHAPES = """
    import --layout $name --chunkshape 7,9 in.npy $name-2
    import --layout $name --chunkshape 16 in.npy $name-1
    import --layout $name --chunkshape 3,4,5 in.npy $name-3
    import --layout $name --chunkshape 8,8 --blockshape 4,3 in.npy $name-b
    verify $name-1
    verify $name-2
    verify $name-3
    export --to npy $name-2 -
"""

IMPORT_MORE = """
    import --table in.npy table
    cat --column a table
    cat --column b --rows 3..70 table
    export --to jsonl --columns b,a table -
    export table table.csv
    import --table --layout carray-doc -c lz4 in.npy table2
    info table2
    verify table2
    cat $name --slice=$axes
    import in.npy $name
    import -f in.npy $name
    import --from npy - piped < in.npy
    import --from csv in.npy wrong
    c -v in.npy c.blp
    ls .
"""


def import_cases() -> Iterator[Case]:
    """Arrays of NumPy in all layouts, and out again."""
    imports = [step for n, options in enumerate(IMPORTS) for step in script(f"import -v {options} in.npy o{n}")]
    shapes = each(("carray-doc", "caterva", "b2nd"), IMPORT_SHAPES)
    made = [f"o{n}" for n in range(len(IMPORTS))]
    looks = each(made, "info --json $name \n cat $name \n verify $name \n export --to csv $name -")
    for name, (dimensions, content) in data.arrays().items():
        more = script(IMPORT_MORE, name="o11", axes=",".join(["1:"] * dimensions))
        yield Case(f"import/{name}", {"in.npy": content}, [*imports, *shapes, *looks, *more])


EXCHANGE = """
    import $name a
    import --table $name b
    import --layout blz-doc $name c
    import --layout b2nd $name d
    info $name
    verify $name
    cat $name
    export --to csv a -
    export --to jsonl b -
    dataset append a $name
    c $name e.blp
    info --auto --json $name
"""


def exchange_cases() -> Iterator[Case]:
    """The files of testdata/exchange."""
    for path in sorted((data.TESTDATA / "exchange").iterdir()):
        yield Case(f"exchange/{path.name}", {path.name: path}, script(EXCHANGE, name=path.name))


CSVS = {
    "plain": (data.csv(), ("", "--types day=datetime64[D],count=i4", "--types price=f4,name=U4",
                           "--layout carray-doc -c zstd")),
    "quotes": (b'a,b\n"x, ""y""",1\n"two\nlines",2\n,3\n',
               ("", "--types a=S4,b=u1", "--layout blz-doc", "--types b=i9")),
    "missing": (b"a,b,c\n1,,x\n,2.5,\n3,4,y\n",
                ("", "--fill 0", "--fill a=7", "--fill zz=1", "--types a=i4 --fill a=x")),
    "tab": (b"a\tb\n1\t2\n3\t4\n", ("", "--delimiter tab", "--delimiter ;", "--delimiter ab")),
    "ragged": (b"a,b\n1,2\n3\n4,5,6\n", ("", "--layout blz")),
    "types": (b"a,b\n1,2024-01-01\n300,2024-13-01\n",
              ("--types a=u1", "--types b=datetime64[D]", "--types b=M8", "--types c=i4")),
    "names": (b"a,a,,b/c\n1,2,3,4\n", ("", "--layout carray-doc")),
    "numbers": (b"a,b\n9223372036854775807,1e308\n-9223372036854775808,nan\n",
                ("", "--types a=f4,b=f2", "--types a=u8")),
    "times": (b"t\n2024-01-01T00:00:01\n2024-02-30T00:00:00\n",
              ("", "--types t=datetime64[s]", "--types t=timedelta64[s]")),
    "empty": (b"", ("",)), "header": (b"a,b\n", ("", "--types a=i4,b=f8")), "crlf": (b"a,b\r\n1,2\r\n", ("",)),
    "bytes": (b"a\n\xff\n", ("", "--types a=S3")),
}

CSV_STEPS = """
    import -v $options in.csv $name
    info --json $name
    info $name
    export --to csv $name -
    export --to jsonl $name -
    export $name $name.npy
    export $name $name.csv
    dataset append $name in.csv
    dataset append $name more.csv
    export --to bin --columns a $name -
    verify $name
"""


def csv_cases() -> Iterator[Case]:
    """CSV in, and out again."""
    for name, (content, all_options) in CSVS.items():
        steps = [step for n, options in enumerate(all_options)
                 for step in script(CSV_STEPS, name=f"t{n}", options=options.replace(";", "';'"))]
        steps += script("import --from csv - piped < in.csv \n ls --json .")
        yield Case(f"csv/{name}", {"in.csv": content, "more.csv": data.csv()}, steps)


# The matrix of options

MATRIX = """
    c $options $source $name.blp
    c $options - < $source
    d -n 2 $name.blp $name.out
    verify --json $name.blp
"""


def blosc_options() -> list[str]:
    """Compressors, levels, filters and element sizes; the other settings are drawn."""
    rng = random.Random(7)
    return [
        f"-c {codec} -l {level} --shuffle {shuffle} -t {typesize} -n {rng.choice((1, 1, 2, 4))}"
        f" -z {rng.choice(('1K', '3000', '10K', '64K', '1M', 'max'))}"
        f"{rng.choice(('', '', ' -o', f' -k {rng.choice(CHECKSUMS)}'))}"
        for codec in CODECS
        for level in range(10)
        for shuffle in FILTERS
        for typesize in (1, 2, 4, 8, rng.choice((3, 16, 24, 255)))
    ]


def container_options() -> list[str]:
    """Checksums, layouts, chunk sizes, offsets, metadata and threads."""
    return [
        f"--format {layout}{checksum}{offsets}{metadata} -z {size} -n {len(checksum + offsets + metadata) % 3 + 1}"
        for layout in (1, 2, 3)
        for checksum in ("", *(f" -k {checksum}" for checksum in CHECKSUMS[: 3 if layout == 1 else None]))
        for offsets in ("", " -o", " --max-app-chunks 0", " --max-app-chunks 17")
        for metadata in ("", " -m meta")
        for size in ("700", "20K")
    ]


def matrix_cases() -> Iterator[Case]:
    """Data compressed with all options, and decompressed."""
    files = {**data.sources(), "meta": data.METADATA}
    names = list(data.sources())
    for family, all_options in (("blosc", blosc_options()), ("container", container_options())):
        for number, batch in in_batches(all_options, 15):
            steps = [step for n, options in enumerate(batch)
                     for step in script(MATRIX, options=options, source=names[(number + n) % len(names)], name=str(n))]
            yield Case(f"matrix/{family}/{number}", files, steps + script("info --json 0.blp \n info 3.blp"))


SOURCE = """
    c -v in
    c in
    c -f -q in
    d in.blp
    d -f in.blp
    d -v in.blp -
    c --auto -c zlib -t 4 in auto.blp
    c --auto - auto2.blp < in
    info --auto --json in
    info --auto=size in.blp
    c --size $size - size.blp < in
    c --size 7 - size7.blp < in
    c --size 9999999 --format 2 - size9.blp < in
    c -m bad in bad.blp
    c -m absent in bad.blp
    d -e in bad
    cat in
    verify in
    info in
"""


def source_cases() -> Iterator[Case]:
    """Options that go with one source, and where input and output are."""
    autos = each(AIMS, "c --auto=$name -z 2K -v in $name-2K.blp \n c --auto=$name -v in $name.blp")
    for name, content in data.sources().items():
        yield Case(f"source/{name}", {"in": content, "bad": b"{"}, script(SOURCE, size=str(len(content))) + autos)


# Records

RECORDS = """
    records pack $options in $name
    records get $name 0 5..9 250..
    records get --raw $name 1
    records get --lengths $name ..3
    records get $name 99999
    records unpack $name $name.out
    records unpack -0 $name -
    records unpack --lengths - < $name
    info --json $name
    records append $name more
    records append -0 -c zstd $name < nul
    records append --lengths $name lengths
    append $name more
    patch --at 3 $name < nul
    verify --json $name
    records unpack $name
    info $name
    d $name -
    recover --json $name $name.rec
    convert --format 2 -c zstd $name $name.conv
"""

SEPARATORS = """
    records pack -v -0 --small nul 0.blp
    records pack -v --lengths lengths l.blp
    records pack open open.blp
    records pack --lengths torn torn.blp
    records pack - < in
    records pack new.blp < in
    records pack in
    records pack -m bad in x.blp
    records unpack 0.blp
    records unpack -f 0.blp
    records get l.blp 0 x
    records get - 1 < l.blp
    records get open.blp 2..1
    records pack --small --quick in y.blp
    records pack -f --small in 0.blp
"""


def record_options() -> list[str]:
    rng = random.Random(8)
    return [
        f"{packing} -c {codec} -l {rng.randrange(10)} --format {layout} -k {rng.choice(CHECKSUMS)}"
        f" -n {rng.choice((1, 2))}{rng.choice(('', ' -m meta', ' --dtype varchar'))}"
        for packing in ("", "--packed", "--packed -z 500", "--small", "--quick", "--packed -z 64")
        for codec in CODECS
        for layout in (2, 3)
    ] + ["", "--small", "--quick", "-m meta", "--format 3 --max-app-chunks 2", "--packed -z 16M", "-z 4K"]


def record_cases() -> Iterator[Case]:
    text, lengths = data.lines(300, 9), data.with_lengths(data.lines(20, 11))
    files = {"in": text, "more": data.lines(40, 10), "lengths": lengths, "meta": data.METADATA,
             "nul": b"1\0\0" + b"2" * 999 + b"\0"}
    for number, batch in in_batches(record_options(), 4):
        steps = [step for n, options in enumerate(batch) for step in script(RECORDS, options=options, name=f"{n}.blp")]
        yield Case(f"records/{number}", files, steps)
    others = {"nul": text.replace(b"\n", b"\0"), "torn": lengths[:-3], "open": b"a\nb\nno end", "bad": b"{"}
    yield Case("records/separators", {**files, **others}, script(SEPARATORS))


# Damage

DAMAGED_FILE = """
    verify $name
    verify --json $name
    info --json $name
    info $name
    d $name $name.out
    d - - < $name
    cat --range 50..5000 $name
    cat --chunk 1 $name
    records get $name 1 3..5
    recover --json $name $name.rec
    recover -v --fill $name $name.fill
    verify --json $name.rec
    records unpack $name
    append $name extra
    reindex $name
    patch --at 0 $name few
    d $name -
"""

# The files to damage: the plain data, and how it is packed.
SMOOTH, TEXT = data.walk(9_000, 12), data.lines(200, 13)
GRID = data.npy("'<i4'", (60, 50), data.walk(3_000, 15))
TO_DAMAGE = {
    "v3": (SMOOTH, "c -z 4K in made"), "v3meta": (SMOOTH, "c -z 4K -m meta -k sha256 in made"),
    "v3none": (SMOOTH, "c -z 4K -k None in made"), "v3nooff": (SMOOTH, "c -z 4K -o in made"),
    "v2": (SMOOTH, "c -z 4K --format 2 -m meta in made"), "v1": (SMOOTH, "c -z 4K --format 1 in made"),
    "piped": (SMOOTH, "c -z 4K -k md5 - made < in"), "one": (SMOOTH, "c -c zlib in made"),
    "each": (TEXT, "records pack -m meta in made"), "packed": (TEXT, "records pack --packed -z 500 --format 3 in made"),
    "small": (TEXT, "records pack --small in made"), "noise": (data.noise(9_000, 14), "c -z 3K in made"),
    "frame": (GRID, "import --from npy --layout b2nd in made"),
    "caterva": (GRID, "import --from npy --layout caterva -c zlib in made"),
}

RECOVERED_FILE = """
    verify --json d.blp
    recover --json d.blp r.blp
    recover --json --fill d.blp f.blp
"""

DAMAGED_SET = """
    verify $name
    verify --json $name
    info --json $name
    cat $name
    export --to csv $name -
    convert $name $name-copy
    dataset resize $name 5
    dataset repair --json $how $name
    verify --json $name
    cat $name
"""


def damage_cases(make: Make) -> Iterator[Case]:
    """Damaged files, read, recovered and changed."""
    for seed, (name, (content, command)) in enumerate(TO_DAMAGE.items()):
        intact = make({"in": content, "meta": data.METADATA}, script(command)).read_bytes()
        yield from damage_of(name, intact, seed, 24, 8)
    for seed, (name, path) in enumerate(list(data.bloscpack_files().items())[::6]):
        yield from damage_of(name, path.read_bytes(), seed, 6, 2)


def recovery_cases(make: Make, count: int) -> Iterator[Case]:
    """About so many damaged files, each a case of its own: all that is recovered of them has to be the same."""
    of_each = -(-count // (4 * len(TO_DAMAGE)))
    for seed, (name, (content, command)) in enumerate(TO_DAMAGE.items()):
        intact = make({"in": content, "meta": data.METADATA}, script(command)).read_bytes()
        for number, damaged in enumerate(data.damaged(intact, 1000 + seed, 2 * of_each, of_each)):
            yield Case(f"recovery/{name}/{number}", {"d.blp": damaged}, script(RECOVERED_FILE))


def damage_of(name: str, intact: bytes, seed: int, flips: int, cuts: int) -> Iterator[Case]:
    for number, batch in in_batches(data.damaged(intact, seed, flips, cuts), 10):
        files: dict[str, Content] = {f"{n}.blp": content for n, content in enumerate(batch)}
        yield Case(f"damage/{name}/{number}", {**files, **EXTRAS}, each(files, DAMAGED_FILE))


def damaged_set_cases() -> Iterator[Case]:
    """Damaged datasets and sparse frames, read and repaired."""
    paths = {**data.dataset_folders(), **{name: path for name, path in data.frame_paths().items() if path.is_dir()}}
    for seed, (name, path) in enumerate(list(paths.items())[::4]):
        files: dict[str, Content] = {}
        steps = []
        for n, (inner, content) in enumerate(data.damaged_in_folder(path, seed, 6)):
            files |= {f"d{n}": path, f"d{n}/{inner}": content}
            steps += script(DAMAGED_SET, name=f"d{n}", how=("", "--keep-rows", "--cut")[n % 3])
        yield Case(f"damage/{name}", files, steps + script("ls --json . \n verify ."))


# Changes that are interrupted, or fail

PACK_RECORDS = "records pack --packed -z 500 --format 3 lines a.blp"

INTERRUPTED = {
    "append": ("c -z 4K in a.blp", "append a.blp more"), "patch": ("c -z 4K in a.blp", "patch --at 3000 a.blp more"),
    "metadata": ("c -z 4K in a.blp", "append -m meta a.blp more"),
    "records": (PACK_RECORDS, "records append a.blp more"),
    "no-room": ("c -z 4K --max-app-chunks 0 in a.blp", "append a.blp more"),
    "v2": ("c -z 4K --format 2 in a.blp", "append a.blp more"), "new": ("", "c -z 4K in a.blp"),
    "recover": ("c -z 4K in a.blp", "recover a.blp b.blp"),
}

AFTER_INTERRUPTION = """
    info --json a.blp
    verify --json a.blp
    verify a.blp
    d -e a.blp -
    cat --range 1..9 a.blp
    recover --json a.blp r.blp
    records get a.blp 1
    patch --at 1 a.blp few
    append -v a.blp few
    records append a.blp few
    verify --json a.blp
    cat a.blp
    records unpack a.blp
    ls .
"""

INTERRUPTED_SETS = {
    "append": "dataset append set more.npy", "set": "dataset set --rows 100..600 set few.npy",
    "trim": "dataset trim set 700", "resize": "dataset resize set 5000",
    "import": "import -f --chunklen 100 more.npy set", "attrs": "dataset attrs set key 1",
}

AFTER_SET_INTERRUPTION = """
    info --json set
    verify --json set
    verify set
    cat set
    ls .
    dataset repair --dry-run --json set
    dataset attrs set k 1
    dataset append set few.npy
    verify --json set
    cat set
    dataset repair --json set
"""

ROWS = {"in.npy": data.integers(2_000, 19), "more.npy": data.integers(1_300, 20), "few.npy": data.integers(500, 21)}
SET_LAYOUTS = ("bcolz --chunklen 600", "blz --chunklen 600", "blz-doc --chunklen 600 --superchunk 2",
               "carray-doc --chunkshape 600 --superchunk 2 --spare 64")

TO_REFUSE = """
    c -z 4K -l 0 in new.blp
    d a.blp new
    append a.blp more
    patch --at 3000 a.blp more
    records append b.blp more
    records pack more c.blp
    recover a.blp r.blp
    convert a.blp d.blp
    import in.npy set
    import --layout b2nd in.npy frame
    export bcolz x.csv
"""

TO_REFUSE_OF_SET = """
    dataset append $name in.npy
    dataset resize $name 9000
    dataset set --rows ..500 $name few.npy
    convert $name new-$name
"""


def interrupted_cases() -> Iterator[Case]:
    """Files that the old build left in the middle of a change, when it was killed."""
    files = {"in": data.noise(60_000, 16), "more": data.noise(30_000, 17), "lines": data.lines(400, 18),
             "meta": data.METADATA, "few": b"few\n"}
    for name, (first, change) in INTERRUPTED.items():
        for size in (10, 400, 3_000, 9_000, 20_000, 40_000, 61_000, 62_000, 70_000, 90_000):
            prepare = script(first) + limited(script(change), size, True)
            yield Case(f"interrupted/{name}/{size}", files, script(AFTER_INTERRUPTION), prepare)


def interrupted_set_cases() -> Iterator[Case]:
    """Datasets that the old build left in the middle of a change."""
    for layout in SET_LAYOUTS:
        for name, change in INTERRUPTED_SETS.items():
            for size in (0, 100, 500, 1_000, 1_800, 3_000, 5_000):
                prepare = script(f"import --layout {layout} in.npy set") + limited(script(change), size, True)
                case = f"interrupted/{layout.split()[0]}/{name}/{size}"
                yield Case(case, ROWS, script(AFTER_SET_INTERRUPTION), prepare)


def refused_cases() -> Iterator[Case]:
    """Changes that fail, because files may not become so large."""
    files = {"in": data.noise(60_000, 16), "more": data.noise(30_000, 17), "lines": data.lines(400, 18), **ROWS}
    made = script("c -z 4K in a.blp \n records pack --packed -z 500 --format 3 lines b.blp")
    made += each(DATASET_LAYOUTS, "import --layout $name --chunklen 600 in.npy $name")
    changes = script(TO_REFUSE) + each(DATASET_LAYOUTS, TO_REFUSE_OF_SET)
    after = script("verify --json a.blp b.blp \n d a.blp - \n records unpack b.blp")
    after += each(DATASET_LAYOUTS, "verify --json $name \n cat $name")
    for size in (0, 100, 1_000, 5_000, 30_000, 61_000, 70_000):
        yield Case(f"refused/{size}", files, limited(changes, size, False) + after, made)


# Usage

WRONG_SETTINGS = """
    frobnicate
    c --frobnicate data
    c data out more
    c -l 10 data
    c -l -1 data
    c -t 0 data
    c -t 256 data
    c -c lzma data
    c -k crc64 data
    c -z 0 data
    c -z 3G data
    c -z 1Q data
    c -z 1.5 data
    c --shuffle nibble data
    c -s --shuffle bit data
    c --format 0 data
    c --size some data
    c --size 9.5 data
    c --auto=fast data
    c --format 1 -k md5 data x
    c --format 1 -m data data x
    -n -1 c data
    -n 0 c data
    -n 257 c data
    -v -q c data
    --color mauve c data
    --progress maybe c data
    --limit chunk d data.blp -
    --limit crumb=1 d data.blp -
    --limit ratio=0 d data.blp -
    a -l -1 data.blp data
    append -z max data.blp data
    patch --at -1 data.blp data
    patch data.blp data
    completions ksh
"""

WRONG_NAMES = """
    c missing
    cat missing
    info missing
    info --json missing
    verify missing
    ls missing
    ls --json missing
    d missing.blp
    d data
    d -e data
    c data/below
    c folder
    d folder
    c data folder
    c data missing/x
    c data data
    d data.blp data
    d data.blp data.blp
    append folder data
    append data data
    append missing.blp data
    append data.blp missing
    reindex data
    reindex folder
    reindex data.blp
    recover data x
    recover missing x
    recover --json missing x
    recover folder x
    recover data.blp data.blp
    recover data.blp folder
    ls data
    ls folder
    info folder
    verify folder
    verify data missing data.blp set
    verify --json data missing data.blp set
    info --json -
    info -
    verify -
    d -
"""

WRONG_PARTS = """
    cat --range 5 data.blp
    cat --range 5..3 data.blp
    cat --range 0..1.5 data.blp
    cat --chunk -1 data.blp
    cat --chunk 99 data.blp
    cat --range 1..2 --chunk 0 data.blp
    cat --slice : data.blp
    cat --rows 0..1 data.blp
    cat --column a data.blp
    cat --slice 1:2:3 set
    cat --slice 0,0 set
    cat --rows 9999..10000 set
    patch --at 9999 data.blp data
    patch --at 8 data.blp data
    c --limit chunk=1 data z.blp
    d --limit block=1 data.blp -
    cat --limit chunk=1 set
    verify --limit chunk=1,metadata=1,offsets=1 data.blp
    info --limit offsets=1 data.blp
    info --color always data.blp
    verify --color always data.blp data
    d --color always missing.blp
"""

WRONG_EXCHANGE = """
    import data x
    import data.npy x
    import --from csv data x
    import --from xml data x
    import missing.npy x
    import --layout zarr data x
    export data x.csv
    export set x.txt
    export set -
    export set x.csv --columns a
    export set x.csv --rows 5..2
    export set x.csv --slice 9:
    export missing x.csv
    export data.blp x.csv
    export folder x.csv
    convert data x
    convert missing x
    convert set x --format 9
    convert set x --layout zarr
    convert set set
    convert set data
    convert data.blp x --layout bcolz
    convert set x --chunklen 0
    convert set x --chunkshape 1,2
    convert set x --layout b2nd --blockshape 5
    convert set x --layout bcolz -k md5
    convert set x --layout bcolz --superchunk 2
    convert set x --layout blz-doc --spare 1Q
    convert set x --sparse
    convert data.blp x --column a
"""

WRONG_SETS = """
    dataset
    dataset frobnicate
    dataset append set data
    dataset append set missing.npy
    dataset append data data
    dataset append folder data.npy
    dataset append set bad.npy
    dataset trim set 99999
    dataset trim set -1
    dataset resize set x
    dataset set set data
    dataset set set data --rows 0..1
    dataset set set data --column a
    dataset set set data --slice :,:
    dataset attrs set key
    dataset attrs set key {
    dataset attrs missing
    dataset attrs set --column a
    dataset add-column set a bad.npy
    dataset delete-column set a
    dataset repair missing
    dataset repair --json missing
    dataset repair folder
    dataset repair data
    dataset repair set --keep-rows --drop-rows
"""

WRONG_RECORDS = """
    records
    records frobnicate
    records get data 0
    records get data.blp 0
    records get missing 0
    records get data.blp
    records unpack data
    records unpack missing
    records append data data
    records append data.blp data
    records append missing data
    records pack missing x
    records pack -0 --lengths data x
    records pack --dtype x,y data x
    records pack -z 1 --packed data x
"""

HELP = """
    --help
    -h
    --version
    help
    man
    completions bash
    completions zsh
    completions fish
    completions elvish
    completions powershell
"""


def help_cases() -> Iterator[Case]:
    yield Case("usage/help", {}, script(HELP) + each(COMMANDS, "$name --help \n $name -h"))


def wrong_cases() -> Iterator[Case]:
    """Command lines that are wrong, one way or the other."""
    files = {"data": b"some bytes", "data.npy": b"no array", "bad.npy": data.npy("'<f8'", (3, 2), bytes(48)),
             "folder/x": b"", "array.npy": data.integers(20, 22)}
    made = script("c data data.blp \n import array.npy set")
    texts = {"settings": WRONG_SETTINGS, "names": WRONG_NAMES, "parts": WRONG_PARTS, "exchange": WRONG_EXCHANGE,
             "sets": WRONG_SETS, "records": WRONG_RECORDS}
    for name, text in texts.items():
        yield Case(f"usage/{name}", files, script(text), made)
    yield Case("usage/nothing", files, [Step(())], made)
