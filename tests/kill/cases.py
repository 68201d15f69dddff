"""The cases of tests/kill.py: every verb that writes, with the files before and after."""

import os
import random
import struct


class Case:
    """A command, and the content of its target before and after.

    `kind` says how the target is read: `plain` (its bytes), `content`, `records`, `array` (a dataset,
    including its attributes) or `frame`. `old` is None if the target does not exist yet; `piped` is the
    standard input; `done` is the status of success.
    """

    def __init__(self, name, files, command, target, kind, contents, piped=None, done=0):
        self.name, self.files, self.command = name, files, command
        self.target, self.kind, (self.old, self.new) = target, kind, contents
        self.piped, self.done = piped, done

    @property
    def changes_in_place(self):
        """Whether the next change of the target cleans up after an interrupted one."""
        return self.kind == "array" or self.command[:2] == ["records", "append"] or \
            self.command[0] in ("append", "patch", "reindex")

    def tops(self):
        """The names in the folder before the run."""
        return {name.split("/")[0] for name in self.files}


def npy(descr, shape, data):
    told = "{'descr': %s, 'fortran_order': False, 'shape': (%s), }" % (descr, ", ".join(str(n) for n in shape) + "," * (len(shape) == 1))
    told = told.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(told)) + told.encode() + data


def ints(values):
    return b"".join(struct.pack("<i", value) for value in values)


def array(values):
    return npy("'<i4'", [len(values)], ints(values))


class Maker:
    """Makes the initial files of the cases with the command."""

    def __init__(self, kit):
        self.kit = kit

    def file(self, data, *options, command=("c",)):
        """A file made by the command."""
        return self.tree({"plain": data}, [*command, *options, "plain", "packed"])[""]

    def tree(self, files, *commands):
        """Runs the commands; returns the files below `packed` by their paths."""
        self.kit.put(files)
        for command in commands:
            self.kit.succeed(command)
        return self.kit.read("packed")

    def state(self, tree, kind):
        """The content of a tree as the command reads it."""
        self.kit.put(under("packed", tree))
        return self.kit.look("packed", kind)


def under(name, tree):
    """The same files in a folder of this name, or as the file of this name."""
    return {f"{name}/{path}" if path else name: data for path, data in tree.items()}


def cases(kit):
    """Cases for everything that the command writes."""
    make = Maker(kit)
    return [*files(make), *records(make), *datasets(make), *tables(make), *made(make)]


def files(make):
    rng = random.Random(1)
    smooth = bytes(i // 97 % 251 for i in range(20_000))
    noise = rng.randbytes(9_000)
    patched = smooth[:3_000] + noise[:5_000] + smooth[8_000:]
    flat = smooth[:3_000] + bytes(5_000) + smooth[8_000:]
    roomy = make.file(smooth, "-z", "4K")
    tight = make.file(smooth, "-z", "4K", "--max-app-chunks", "0")
    v2 = make.file(smooth, "-z", "4K", "--format", "2")
    grown = (smooth, smooth + noise)
    told = make.tree({"plain": smooth, "m": b'{"a": 1}'}, ["c", "-m", "m", "plain", "packed"])[""]
    chunks, = struct.unpack_from("<q", roomy, 16)
    unindexed = roomy[:32] + b"\xff" * 8 * chunks + roomy[32 + 8 * chunks:]
    first, second = struct.unpack_from("<qq", roomy, 32)
    harmed = roomy[:second - 9] + bytes([roomy[second - 9] ^ 8]) + roomy[second - 8:]
    assert first < second - 9
    create = ["c", "-z", "4K"]
    return [
        Case("create", {"in": smooth}, [*create, "in", "a.blp"], "a.blp", "content", (None, smooth)),
        Case("create V2", {"in": smooth}, [*create, "--format", "2", "in", "a.blp"], "a.blp", "content",
             (None, smooth)),
        Case("create from a pipe", {}, [*create, "--max-app-chunks", "0", "-", "a.blp"], "a.blp", "content",
             (None, smooth), piped=smooth),
        Case("replace", {"in": noise, "a.blp": roomy}, [*create, "-f", "in", "a.blp"], "a.blp", "content",
             (smooth, noise)),
        Case("decompress", {"a.blp": roomy, "out": b"other"}, ["d", "-f", "a.blp", "out"], "out", "plain",
             (b"other", smooth)),
        Case("decompress a pipe", {}, ["d", "-", "out"], "out", "plain", (None, smooth), piped=v2),
        Case("metadata of its own", {"a.blp": told}, ["d", "--metadata-out", "m", "a.blp", "out"], "m", "plain",
             (None, b'{"a": 1}')),
        Case("append", {"in": noise, "a.blp": roomy}, ["append", "a.blp", "in"], "a.blp", "content", grown),
        Case("append from a pipe", {"a.blp": roomy}, ["append", "a.blp"], "a.blp", "content", grown, piped=noise),
        Case("append, no room", {"in": noise, "a.blp": tight}, ["append", "a.blp", "in"], "a.blp", "content", grown),
        Case("append to V2", {"in": noise, "a.blp": v2}, ["append", "a.blp", "in"], "a.blp", "content", grown),
        Case("patch", {"in": bytes(5_000), "a.blp": roomy}, ["patch", "--at", "3000", "a.blp", "in"], "a.blp",
             "content", (smooth, flat)),
        Case("patch that grows", {"in": noise[:5_000], "a.blp": roomy}, ["patch", "--at", "3000", "a.blp", "in"],
             "a.blp", "content", (smooth, patched)),
        Case("reindex", {"a.blp": unindexed}, ["reindex", "a.blp"], "a.blp", "content", (smooth, smooth)),
        Case("recover", {"a.blp": harmed}, ["recover", "a.blp", "b.blp"], "b.blp", "content",
             (None, smooth[4096:]), done=3),
        Case("convert a file", {"a.blp": roomy}, ["convert", "--format", "2", "a.blp", "b.blp"], "b.blp", "content",
             (None, smooth)),
    ]


def records(make):
    lines, more = (b"".join(b"%d\n" % i for i in numbers) for numbers in (range(300), range(90)))
    longer = (lines, lines + more)
    pack, small = ("records", "pack"), ("--packed", "-z", "500")
    each = make.file(lines, command=pack)
    each_v3 = make.file(lines, "--format", "3", command=pack)
    many = make.file(lines, *small, "--format", "3", command=pack)
    append = ["records", "append", "a.blp", "in"]
    return [
        Case("pack", {"in": lines}, ["records", "pack", *small, "in", "a.blp"], "a.blp", "records", (None, lines)),
        Case("pack from a pipe", {"a.blp": each_v3}, ["records", "pack", "-f", "-", "a.blp"], "a.blp", "records",
             (lines, more), piped=more),
        Case("unpack", {"a.blp": many}, ["records", "unpack", "a.blp", "out"], "out", "plain", (None, lines)),
        Case("append records to V2", {"in": more, "a.blp": each}, append, "a.blp", "records", longer),
        Case("append records", {"in": more, "a.blp": each_v3}, append, "a.blp", "records", longer),
        Case("append packed records", {"in": more, "a.blp": many}, append, "a.blp", "records", longer),
        Case("recover records", {"a.blp": each_v3}, ["recover", "a.blp", "b.blp"], "b.blp", "records", (None, lines)),
    ]


LAYOUTS = {"bcolz": ["--chunklen", "600"], "blz-doc": ["--chunklen", "600", "--superchunk", "2"],
           "carray-doc": ["--chunkshape", "600", "--superchunk", "2", "--spare", "64"]}
OLD = [i * 7 % 1_000 for i in range(2_000)]
MORE = [i * 11 % 2_000 for i in range(1_300)]
FEW = [-i for i in range(500)]


def datasets(make):
    """Arrays in directories, changed in place."""
    found = []
    for layout, options in LAYOUTS.items():
        plain = {"plain.npy": array(OLD)}
        tree = make.tree(plain, ["import", "plain.npy", "packed", "--layout", layout, *options])
        old, attributes = make.state(tree, "array")
        changes = {
            "append": (["append", "d", "in"], array(OLD + MORE)),
            "set": (["set", "d", "--rows", "900..1400", "in"], array(OLD[:900] + FEW + OLD[1_400:])),
            "trim": (["trim", "d", "700"], array(OLD[:700])),
            "resize": (["resize", "d", "2500"], array(OLD + [0] * 500)),
            "attrs": (["attrs", "d", "unit", '"m"'], old),
        }
        if layout in ("bcolz", "blz"):
            changes["index"] = (["index", "d"], old)
        for verb, (command, new) in changes.items():
            given = {"append": array(MORE), "set": ints(FEW)}.get(verb)
            files = {**under("d", tree), **({} if given is None else {"in": given})}
            command = ["dataset", *command, *(["--from", "npy"] if verb == "append" else [])]
            unit = b'{\n  "unit": "m"\n}\n' if verb == "attrs" else attributes
            found.append(Case(f"{layout}: {verb}", files, command, "d", "array", ((old, attributes), (new, unit))))
    return found


def tables(make):
    """Tables, whose columns change together."""
    def csv(rows, *names):
        cells = {"a": lambda i: i, "b": lambda i: i / 2, "c": lambda i: -i}
        text = [",".join(names), *(",".join(str(cells[name](i)) for name in names) for i in rows)]
        return "\n".join(text).encode() + b"\n"

    found = []
    for layout in ("bcolz", "blz-doc"):
        options = ["--layout", layout, "--chunklen", "100"]

        def state(*commands):
            return make.state(tree(*commands), "array")

        def tree(*commands):
            files = {"t.csv": csv(range(250), "a", "b"), "in.csv": csv(range(300), "a", "b"),
                     "c.csv": csv(range(250), "c")}
            return make.tree(files, ["import", "t.csv", "packed", *options], *commands)
        old, begin = state(), tree()
        for verb, command, files in (
                ("append", ["append", "DIR", "in.csv"], {"in.csv": csv(range(300), "a", "b")}),
                ("trim", ["trim", "DIR", "90"], {}),
                ("add a column", ["add-column", "DIR", "c", "c.csv"], {"c.csv": csv(range(250), "c")}),
                ("delete a column", ["delete-column", "DIR", "a"], {})):
            new = state(["dataset", *("packed" if word == "DIR" else word for word in command)])
            command = ["dataset", *("d" if word == "DIR" else word for word in command)]
            found.append(Case(f"{layout} table: {verb}", {**under("d", begin), **files}, command, "d", "array",
                              (old, new)))
        littered = {**begin, "a/._x": b"litter", "b/meta/._x": b"litter"}
        found.append(Case(f"{layout} table: repair", under("d", littered), ["dataset", "repair", "d"], "d", "array",
                          (old, old)))
    return found


def made(make):
    """Datasets and frames imported, converted and exported."""
    old, new = array(OLD), array(MORE)
    none = b"{}\n"
    rows = ["--chunklen", "600"]
    grid = ["--layout", "b2nd", "--chunkshape", "600", "--blockshape", "200"]
    there = make.tree({"plain.npy": old}, ["import", "plain.npy", "packed", *rows])
    frame = make.tree({"plain.npy": old}, ["import", "plain.npy", "packed", *grid])
    sparse = make.tree({"plain.npy": old}, ["import", "plain.npy", "packed", *grid, "--sparse"])
    given = {"in.npy": new}
    dataset = {**given, **under("d", there)}
    return [
        Case("import", given, ["import", "in.npy", "d", *rows], "d", "array", (None, (new, none))),
        Case("import over another", dataset, ["import", "-f", "in.npy", "d", *rows], "d", "array",
             ((old, none), (new, none))),
        Case("import to blz-doc", given, ["import", "in.npy", "d", "--layout", "blz-doc", *rows], "d", "array",
             (None, (new, none))),
        Case("import a frame", given, ["import", "in.npy", "f", *grid], "f", "frame", (None, new)),
        Case("import over a frame", {**given, **under("f", frame)}, ["import", "-f", "in.npy", "f", *grid], "f",
             "frame", (old, new)),
        Case("import a sparse frame", given, ["import", "in.npy", "f", *grid, "--sparse"], "f", "frame", (None, new)),
        Case("import over a sparse frame", {**given, **under("f", sparse)},
             ["import", "-f", "in.npy", "f", *grid, "--sparse"], "f", "frame", (old, new)),
        Case("export", under("d", there), ["export", "d", "out.npy"], "out.npy", "plain", (None, old)),
        Case("export over another", {"out.npy": new, **under("f", sparse)}, ["export", "-f", "f", "out.npy"],
             "out.npy", "plain", (new, old)),
        Case("convert a dataset", under("d", there), ["convert", "d", "e", "--layout", "blz-doc"], "e", "array",
             (None, (old, none))),
        Case("convert a dataset to a frame", under("d", there), ["convert", "d", "f", *grid], "f", "frame",
             (None, old)),
        Case("convert a dataset to a file", under("d", there), ["convert", "d", "a.blp", "--format", "3"], "a.blp",
             "content", (None, ints(OLD))),
    ]
