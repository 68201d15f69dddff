"""The actors that change a dataset, our library and bcolz, with the same methods; and random steps with their expected result."""

import bcolz

from both import Wanted
from elements import values


class OursArray:
    name = "ours"

    def __init__(self, ours, path, **options):
        self._ours = ours
        ours.open(path, edit=True, **options)

    def append(self, elements):
        self._ours.call("append", elements)

    def set(self, begin, end, elements):
        box = [[begin, end]] + [[0, side] for side in elements.shape[1:]]
        self._ours.call("set", elements, slice=box)

    def trim(self, rows):
        self._ours.call("trim", to=rows)

    def resize(self, rows):
        self._ours.call("resize", to=rows)

    def attribute(self, key, value):
        self._ours.call("attribute", key=key, value=value)

    def unset(self, key):
        self._ours.call("unset", key=key)

    def flush(self):
        self._ours.call("flush")

    def close(self):
        self._ours.close()


class BcolzArray:
    name = "bcolz"

    def __init__(self, path):
        self._array = bcolz.carray(rootdir=str(path), mode="a")

    def append(self, elements):
        self._array.append(elements)

    def set(self, begin, end, elements):
        self._array[begin:end] = elements

    def trim(self, rows):
        self._array.trim(len(self._array) - rows)

    def resize(self, rows):
        self._array.resize(rows)

    def attribute(self, key, value):
        self._array.attrs[key] = value

    def unset(self, key):
        del self._array.attrs[key]

    def flush(self):
        self._array.flush()

    def close(self):
        self._array = None


class OursTable(OursArray):
    def append(self, columns):
        self._ours.call("append", *columns)

    def set(self, column, begin, end, elements):
        box = [[begin, end]] + [[0, side] for side in elements.shape[1:]]
        self._ours.call("set", elements, slice=box, column=column)

    def add(self, name, elements, position):
        self._ours.call("add", elements, column=name, dtype=str(elements.dtype),
                        row_shape=elements.shape[1:], position=position)

    def delete(self, name, keep):
        self._ours.call("delete", column=name, keep=keep)

    def replace(self, name, elements):
        """Not possible with bcolz: the folder already exists."""
        self._ours.call("replace", elements, column=name)

    def attribute(self, key, value, column=None):
        self._ours.call("attribute", key=key, value=value, column=column)


class BcolzTable(BcolzArray):
    def __init__(self, path):
        self._array = bcolz.ctable(rootdir=str(path), mode="a")

    def append(self, columns):
        self._array.append(columns)

    def set(self, column, begin, end, elements):
        self._array[column][begin:end] = elements

    def add(self, name, elements, position):
        self._array.addcol(elements, name=name, pos=position)

    def delete(self, name, keep):
        self._array.delcol(name, keep=keep)

    def attribute(self, key, value, column=None):
        found = self._array if column is None else self._array[column]
        found.attrs[key] = value


# The steps ------------------------------------------------------------------

def new_length(rng, rows, chunk):
    """A smaller or larger number of rows, often at a chunk boundary."""
    border = int(rng.integers(0, rows // chunk + 3)) * chunk
    return [border, min(border + 1, rows + chunk), int(rng.integers(0, rows + 2 * chunk + 1)),
            int(rng.integers(max(rows - 3, 0), rows + 4)), rows][rng.integers(0, 5)]


def step_array(actor, wanted, chunk, rng):
    """Makes one change, through the actor and in memory."""
    rows = len(wanted)
    kind = rng.choice(["append", "append", "set", "set", "trim", "resize", "attribute", "unset"])
    if kind in ("trim", "resize") and wanted.dtype.kind == "V" and actor.name == "bcolz":
        # bcolz cannot do this: it reads the default of raw bytes as text.
        kind = "append"
    if kind == "append":
        more = max(new_length(rng, rows, chunk) - rows, 0)
        new = values(rng, wanted.dtype, (more, *wanted.row_shape))
        wanted.append(new)
        actor.append(new)
    elif kind == "set":
        begin, end = sorted(rng.integers(0, rows + 1, 2).tolist())
        if rng.integers(0, 3) == 0:
            end = min(begin + 2, rows)
        new = values(rng, wanted.dtype, (end - begin, *wanted.row_shape))
        wanted.set(begin, end, new)
        if end > begin:
            actor.set(begin, end, new)
    elif kind == "trim":
        to = min(new_length(rng, rows, chunk), rows)
        wanted.resize(to)
        actor.trim(to)
    elif kind == "resize":
        to = new_length(rng, rows, chunk)
        wanted.resize(to)
        actor.resize(to)
    else:
        step_attributes(actor, wanted.attributes, kind, rng)
    return kind


def step_attributes(actor, attributes, kind, rng, **column):
    if kind == "unset" and attributes:
        key = str(rng.choice(list(attributes)))
        del attributes[key]
        actor.unset(key)
    else:
        key = str(rng.choice(["a", "b", "\u00e9 \"q\"", "0"]))
        value = [None, True, 1 << 60, -0.1, "\u20ac\n", [1, {"x": []}]][rng.integers(0, 6)]
        if actor.name == "bcolz" and rng.integers(0, 4) == 0:
            value = float("inf")
        attributes[key] = value
        actor.attribute(key, value, **column)


def step_table(actor, columns, attributes, chunk, rng):
    rows = len(next(iter(columns.values())))
    kind = rng.choice(["append", "append", "set", "trim", "resize", "add", "delete", "attribute",
                       "unset", "column-attribute"])
    name = str(rng.choice(list(columns)))
    if kind == "append":
        more = max(new_length(rng, rows, chunk) - rows, 0)
        new = [values(rng, column.dtype, (more, *column.row_shape))
               for column in columns.values()]
        for column, elements in zip(columns.values(), new):
            column.append(elements)
        actor.append(new)
    elif kind == "set":
        begin, end = sorted(rng.integers(0, rows + 1, 2).tolist())
        column = columns[name]
        new = values(rng, column.dtype, (end - begin, *column.row_shape))
        column.set(begin, end, new)
        if end > begin:
            actor.set(name, begin, end, new)
    elif kind in ("trim", "resize"):
        to = new_length(rng, rows, chunk)
        to = min(to, rows) if kind == "trim" else to
        for column in columns.values():
            column.resize(to)
        getattr(actor, kind)(to)
    elif kind == "add":
        add_column(actor, columns, rows, rng)
    elif kind == "delete":
        if len(columns) > 1:
            del columns[name]
            actor.delete(name, False)
    elif kind == "column-attribute":
        step_attributes(actor, columns[name].attributes, kind, rng, column=name)
    else:
        step_attributes(actor, attributes, kind, rng)
    return kind


def add_column(actor, columns, rows, rng):
    free = [name for name in ("more", "\u00e9", "data", "meta", "_u", "x1") if name not in columns]
    if not free:
        return
    name = str(rng.choice(free))
    dtype = str(rng.choice(["<i4", ">f8", "|S5", "<U3", "bool", "datetime64[ns]"]))
    row_shape = [(), (2,)][rng.integers(0, 2)]
    elements = values(rng, dtype, (rows, *row_shape))
    position = int(rng.integers(0, len(columns) + 1))
    items = list(columns.items())
    items.insert(position, (name, Wanted(elements)))
    columns.clear()
    columns.update(items)
    actor.add(name, elements, position)
