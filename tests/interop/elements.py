"""Elements of every dtype that bcolz can persist, including its special values."""

import numpy

# Single elements; `ROW_SHAPES` adds rows of several.
PERSISTED = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "bool", ">i2", ">i4", ">i8", ">u2", ">u8", ">f4", ">f8",
    "|S1", "|S10", "|S300", "<U1", "<U7", ">U3", "<U100", "datetime64[ns]", "timedelta64[ns]",
    ">M8[ns]", "datetime64", "timedelta64", "|V7", "|V300",
)
# NaT as an integer.
MISSING = -1 << 63
ROW_SHAPES = ((), (3,), (2, 5), (4, 1, 3))


def values(rng, dtype, shape):
    """Half of the rows compress well, half do not."""
    dtype = numpy.dtype(dtype)
    count = int(numpy.prod(shape))
    if dtype.names:
        return fields(rng, dtype, shape)
    if dtype.kind == "U":
        letters = rng.choice(numpy.frombuffer("aaab\u00e9\u20ac\U0001f600\0".encode("utf-32-le"), "<u4"),
                             (count, dtype.itemsize // 4))
        found = letters.astype(dtype.byteorder + "u4" if dtype.byteorder in "<>" else "u4")
    elif dtype.kind == "b":
        found = rng.integers(0, 2, count, "u1")
    else:
        found = rng.integers(0, 256, (count, dtype.itemsize), "u1")
    found = numpy.frombuffer(found.tobytes(), dtype, count).copy()
    smooth = numpy.arange(count) // 16 % 2 == 0
    ramp = numpy.arange(count) % 119
    if dtype.kind in "Mm":
        found[smooth] = moments(ramp, dtype)[smooth]
    elif dtype.kind in "iuf":
        found[smooth] = ramp.astype(dtype)[smooth]
    elif count:
        found[smooth] = found[0]
    if dtype.kind in "fMm":
        special = rng.integers(0, 40, count)
        for number, value in enumerate(specials(dtype)):
            found[special == number] = value
    return found.reshape(shape)


def fields(rng, dtype, shape):
    """Structured elements without bytes between the fields."""
    found = numpy.zeros(shape, dtype)
    for name in dtype.names:
        found[name] = values(rng, dtype[name].base, found[name].shape)
    return found


def specials(dtype):
    if dtype.kind == "f":
        return numpy.array([numpy.nan, numpy.inf, -numpy.inf, -0.0], dtype)
    return moments([MISSING, 0, -1], dtype)


def moments(numbers, dtype):
    """Datetimes from the integers that represent them: without a unit NumPy does not convert them."""
    order = ">" if dtype.str[0] == ">" else "<"
    return numpy.array(numbers, order + "i8").view(dtype)


def default(rng, dtype):
    """A default that is not zero, if bcolz can write and read it."""
    dtype = numpy.dtype(dtype)
    if dtype.kind == "f":
        return numpy.array(rng.choice([numpy.nan, numpy.inf, -numpy.inf, 1.5, -0.1]), dtype)
    if dtype.kind == "S":
        return numpy.array(b"zz", dtype)
    if dtype.kind == "U":
        return numpy.array("\u00e9\u20ac", dtype)
    if dtype.kind == "b":
        return numpy.array(True)
    if dtype.kind == "V":
        return numpy.zeros((), dtype)
    if dtype.kind in "Mm":
        missing = numpy.datetime_data(dtype)[0] == "generic" or rng.integers(0, 2)
        return moments(MISSING if missing else 86_400_000_000_123, dtype)
    return numpy.array(77, dtype)
