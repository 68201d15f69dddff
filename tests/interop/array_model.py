"""The expected content of an array, in NumPy: the bytes of its elements. The last axis of `elements` is the bytes of one element."""

import numpy

# For each number of axes: shape, chunks and blocks, none of which divides another.
FORMS = {
    1: ((1003,), (130,), (17,)),
    2: ((50, 41), (13, 17), (5, 7)),
    3: ((20, 19, 11), (7, 8, 5), (3, 4, 2)),
    4: ((9, 8, 7, 6), (4, 5, 3, 4), (2, 3, 2, 3)),
    5: ((5, 4, 6, 3, 4), (3, 2, 4, 2, 3), (2, 2, 3, 1, 2)),
    6: ((3, 4, 3, 2, 5, 3), (2, 3, 2, 2, 3, 2), (1, 2, 2, 1, 2, 2)),
    7: ((2, 3, 2, 3, 2, 3, 4), (2, 2, 1, 2, 2, 2, 3), (1, 2, 1, 1, 2, 2, 2)),
    8: ((2, 3, 2, 2, 1, 3, 2, 3), (1, 2, 2, 1, 1, 2, 2, 2), (1, 1, 2, 1, 1, 2, 1, 2)),
}
# The dtype for each element size, where one has to be given.
DTYPES = {1: "|u1", 2: "<i2", 3: "|V3", 4: "<f4", 7: "|V7", 8: "<f8", 16: "<c16", 255: "|V255"}
# Bits of the mantissa, by element size.
MANTISSA = {4: 23, 8: 52}


class Model:
    def __init__(self, elements, chunks, blocks):
        self.elements, self.chunks, self.blocks = elements, tuple(chunks), tuple(blocks)

    @property
    def shape(self):
        return self.elements.shape[:-1]

    @property
    def itemsize(self):
        return self.elements.shape[-1]

    def bytes(self, where=None):
        return (self.elements if where is None else self.elements[slices(where)]).tobytes()

    def set(self, where, data):
        self.elements[slices(where)] = data

    def resize(self, shape):
        old, self.elements = self.elements, numpy.zeros((*shape, self.itemsize), "u1")
        kept = tuple(slice(0, min(pair)) for pair in zip(old.shape, shape))
        self.elements[kept] = old[kept]

    def insert(self, axis, at, data):
        self.elements = numpy.concatenate(
            [self.elements.take(range(at), axis), data,
             self.elements.take(range(at, self.shape[axis]), axis)], axis)

    def delete(self, axis, begin, end):
        self.elements = numpy.delete(self.elements, slice(begin, end), axis)

    def from_chunks(self, chunks):
        """The elements, assembled from the bytes of all chunks: blocks in C order within each, and padding at the ends."""
        found = numpy.zeros(self.elements.shape, "u1")
        counts = [-(-length // chunk) for length, chunk in zip(self.shape, self.chunks)]
        blocks = [-(-chunk // block) for chunk, block in zip(self.chunks, self.blocks)]
        axes, stored = len(self.shape), [count * block for count, block in zip(blocks, self.blocks)]
        for at, chunk in zip(numpy.ndindex(*counts), chunks):
            grid = numpy.frombuffer(chunk, "u1").reshape(*blocks, *self.blocks, self.itemsize)
            order = [side for axis in range(axes) for side in (axis, axes + axis)]
            box = grid.transpose(*order, 2 * axes).reshape(*stored, self.itemsize)
            begins = [place * chunk for place, chunk in zip(at, self.chunks)]
            lens = [min(chunk, length - begin)
                    for chunk, length, begin in zip(self.chunks, self.shape, begins)]
            target = tuple(slice(begin, begin + length) for begin, length in zip(begins, lens))
            found[target] = box[tuple(slice(0, length) for length in lens)]
        return found


def slices(where):
    return tuple(slice(begin, end) for begin, end in where)


def elements(rng, shape, itemsize):
    """Elements of which half compress well; those of 4 and 8 bytes are finite floats."""
    count = int(numpy.prod(shape))
    if itemsize in MANTISSA:
        found = numpy.arange(count) * 0.25
        noisy = numpy.arange(count) // 50 % 2 == 1
        found[noisy] += rng.standard_normal(int(noisy.sum()))
        found = found.astype("<f%d" % itemsize).view("u1").reshape(count, itemsize)
    else:
        found = rng.integers(0, 256, (count, itemsize), "u1")
        found[numpy.arange(count) // 50 % 2 == 0] = numpy.arange(itemsize) % 251
    return found.reshape(*shape, itemsize)


def truncated(data, bits):
    """Floats with only this many bits of the mantissa kept."""
    itemsize = data.shape[-1]
    words = numpy.ascontiguousarray(data).view("<u%d" % itemsize)
    mask = (1 << 8 * itemsize) - (1 << MANTISSA[itemsize] - bits)
    return (words & numpy.array(mask, words.dtype)).view("u1")


def box(rng, shape):
    """A random box of at least one element, if the array has any."""
    where = []
    for length in shape:
        begin = int(rng.integers(0, max(length, 1)))
        where.append((begin, int(rng.integers(begin, length)) + 1 if length else 0))
    return where


def planes(rng, shape):
    """A plane along each axis."""
    for axis, length in enumerate(shape):
        if 0 not in shape:
            at = int(rng.integers(0, length))
            yield [(at, at + 1) if other == axis else (0, size) for other, size in enumerate(shape)]
