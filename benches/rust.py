"""The benches that are programs in Rust: they take the turns themselves, or make tables that are no comparisons of runs."""

import os
import subprocess
from statistics import geometric_mean

from kit import figures
from kit.bench import Bench
from kit.data import make
from kit.measure import KEEPS, SPREAD, printed, run
from kit.places import BASE, MIB, ROOT
from kit.report import MARK, NOTE, compared, means, noted, table

# The most that C-Blosc supports, which uses what is enabled when it is compiled. `--quick` does not build everything again for it.
SIMD = {"RUSTFLAGS": "-C target-feature=+avx2"}


def of_runs(*build, small, simd=False, more=lambda setting: {}):
    """A program that prints its runs; `small` are words that select a few cases, `more` gives environment variables."""
    def measured(setting):
        env = more(setting)
        program = setting.built(*build, env=SIMD if simd and not setting.quick else None)
        env = {"ROUNDS": str(setting.rounds), **env, **setting.size({}, {"MIB": "16"})}
        return printed([program, *setting.size([], small)], env)
    return measured


def c_blosc2(setting):
    """The C library that python-blosc2 brings."""
    path = "import blosc2, pathlib; print(pathlib.Path(blosc2.__file__).parent / 'lib' / 'libblosc2.so')"
    return {"BLOSC2_LIBRARY": subprocess.run([setting.python("blosc2"), "-c", path], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()}


def is_stored(cell):
    """Whether only one side compresses: storing a chunk takes a fraction of the time."""
    return len({size >= cell["raw"] for size in cell["sizes"]}) > 1


def of_chunks(found):
    """Means, the lowest ratios, the largest sizes, and the targets."""
    cells = [cell for cell in found["cells"] if not is_stored(cell)]
    own = ("blosclz", "snappy", "zlib")
    parts = {cell["task"]: cell["task"].split() for cell in cells}
    wanted = {"**own code**": lambda words: words[1] in own, "shared libraries": lambda words: words[1] not in own, "all": lambda _: True}
    wanted |= {name: lambda words, name=name: words[1] == name for name in ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")}
    wanted |= {head: lambda words, name=name: words[2] == name for head, name in (("no filter", "none"), ("shuffle", "byte"), ("bitshuffle", "bit"))}
    groups = {f"{name}, {work}": lambda cell, keep=keep, work=work: keep(parts[cell["task"]]) and parts[cell["task"]][3] == work
              for name, keep in wanted.items() for work in ("encode", "decode")}
    sizes = sorted(((cell["sizes"][0] / cell["sizes"][1], cell["task"].rsplit(" ", 1)[0]) for cell in found["cells"]), reverse=True)[:4:2]
    stored = ", ".join(cell["task"] for cell in found["cells"] if is_stored(cell))
    return [*means(cells, groups, "ratio of CPU time, theirs / ours"), *noted(cells), "", *each(found["cells"]), "",
            f"Largest sizes, ours / theirs: {', '.join(f'{ratio:.3f} ({name})' for ratio, name in sizes)}. "
            f"Not counted, because only one side compresses: {stored or 'none'}."]


def each(cells):
    """The ratios of every cell, and the size: a program that gives up on data is fast."""
    rows = {}
    for cell in cells:
        data, compressor, how, work = cell["task"].split()
        ratio = figures.ratio(cell, list(cell["results"])[1], "ours", "cpu").middle
        rows.setdefault((data, how), {}).setdefault(compressor, {})[work] = (ratio, cell["sizes"][0] / cell["sizes"][1])
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    shown = lambda row, name: "{:.2f}, {:.2f}, {:.2f}".format(row[name]["encode"][0], row[name]["decode"][0], row[name]["encode"][1]) if name in row else ""
    return ["Encode and decode, theirs / ours, and the size, ours / theirs:", "",
            *table(["data", "filter", *names], [[data, how, *(shown(row, name) for name in names)] for (data, how), row in rows.items()])]


def targets(found):
    rows = []
    for work, mean, least in (("decode", 1.25, 0.85), ("encode", 1.1, 0.8)):
        cells = [cell for cell in found["cells"] if cell["task"].endswith(work) and not is_stored(cell)]
        ratios = {cell["task"]: figures.ratio(cell, list(cell["results"])[1], "ours", "cpu").middle for cell in cells}
        own = [ratio for task, ratio in ratios.items() if task.split()[1] in ("blosclz", "snappy", "zlib")]
        if own:
            found_mean = geometric_mean(own)
            rows.append([f"{work}, own code, mean at least {mean}", verdict(found_mean >= mean, f"{found_mean:.2f}")])
        if ratios:
            task = min(ratios, key=ratios.get)
            rows.append([f"{work}, no cell below {least}", verdict(ratios[task] >= least, f"{ratios[task]:.2f} ({task})")])
    size, task = max((cell["sizes"][0] / cell["sizes"][1], cell["task"]) for cell in found["cells"])
    return table(["target", "measured"], [*rows, ["size at most 1.02 times", verdict(size <= 1.02, f"{size:.3f} ({task})")]])


def verdict(is_met, figure):
    return f"{'met' if is_met else '**not met**'}: {figure}"


def of_aio(found):
    cells = found["cells"]
    groups = {f"`{work}`": lambda cell, work=work: cell["task"].startswith(work + ",") for work in ("read", "next_bytes", "write")}
    return [*means(cells, groups, "CPU time, blocking / async"), "", *compared(cells, "ms")]


def text(build, *words, small=(), env=None, before=None):
    """A program that prints the tables as they are."""
    def measured(setting):
        program = setting.built(*build)
        filled = [word.format(folder=setting.folder, base=BASE) for word in setting.size(words, small or words)]
        if before:
            before(setting, program)
        done = subprocess.run([program, *filled], env={**os.environ, **KEEPS, **setting.size({}, env or {})}, cwd=ROOT,
                              stdout=subprocess.PIPE, text=True, check=True)
        return [{"lines": done.stdout.rstrip("\n").split("\n")}]
    return measured


def lines(found):
    return found["cells"][0]["lines"]


def of_defaults(setting):
    """The rows of each compressor and level; those that vary too much once more."""
    program = setting.built(*BENCH, "defaults")
    shown = lambda *words: subprocess.run([program, *words], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    wide = lambda row: float(row.split("|")[-2]) > SPREAD
    rows = shown(*setting.size([], ["lz4", "1"]))
    for at, row in enumerate(rows[2:], 2):
        if wide(row):
            compressor, level = (word.strip() for word in row.split("|")[1:3])
            [rows[at]] = [again for again in shown(compressor, level)[2:] if again.split("|")[1:3] == row.split("|")[1:3]]
            if wide(rows[at]):
                rows[at] = rows[at].replace(f"| {compressor} |", f"| {compressor} {MARK} |")
    return [{"lines": [*rows, *(["", NOTE] if any(MARK in row for row in rows) else [])]}]


def data_of_records(setting, _):
    if setting.quick:
        make(setting, "lines", MIB, f"{setting.folder}/log")
    else:
        subprocess.run([ROOT / "benches" / "records" / "data.sh", BASE / "records"], check=True)


def arrays(setting, _):
    program = ROOT / "benches" / "filters" / "arrays.py"
    subprocess.run([setting.python("netcdf4"), program, f"{setting.folder}/arrays"], check=True)


def chunks_of_engines(setting, program):
    run([program, "make", f"{setting.folder}/engines.bin", *setting.size([], ["20"])])


# The same features for all, so that cargo builds the library once.
BENCH = ("--features", "tokio", "--bench")
RECORDS = ("--manifest-path", "benches/records/Cargo.toml")
ENGINES = ("--manifest-path", "benches/engines/Cargo.toml")
FILTERS = ("--manifest-path", "benches/filters/Cargo.toml")
BENCHES = [
    Bench("chunk", "benchmarks/chunks.md", of_runs(*BENCH, "chunk", small=["Ramp", "byte"], simd=True), of_chunks,
          (("benchmarks/aims.md", "targets-chunk", targets),)),
    Bench("chunk2", "benchmarks/chunks.md", of_runs(*BENCH, "chunk2", small=["Ramp", "byte"], simd=True, more=c_blosc2),
          of_chunks, (("benchmarks/aims.md", "targets-chunk2", targets),)),
    Bench("bytedelta", "benchmarks/chunks.md", text(FILTERS, "{folder}/arrays", before=arrays), lines),
    Bench("calls", "benchmarks/chunks.md", of_runs("-p", "blosc1", "--bench", "calls", small=["lz4", "Walk", "4 KiB"], simd=True),
          lambda found: compared(found["cells"], "µs")),
    Bench("aio", "async.md", of_runs(*BENCH, "aio", small=["1024 KiB"]), of_aio),
    Bench("auto", "benchmarks/auto.md", text((*BENCH, "auto"), env={"DATA": "int64 ramp", "ROUNDS": "1"}), lines),
    Bench("defaults", "defaults.md", of_defaults, lines),
    Bench("follow", "logs.md", text((*BENCH, "beside"), "follow", small=("follow", "50")), lines),
    Bench("beside", "logs.md", text((*BENCH, "beside"), small=("1", "2", "{folder}", "content")), lines),
    Bench("records", "benchmarks/records.md",
          text(RECORDS, "bench", "{base}/records", small=("bench", "{folder}", "log", "--rounds", "1", "--only", "sqlite"),
               before=data_of_records), lines),
    Bench("engines", "../crates/blosc1/README.md", text(ENGINES, "read", "{folder}/engines.bin", before=chunks_of_engines), lines),
]
