"""The constants of the format, under the names of Bloscpack 0.16."""

from ._options import COMPRESSORS

FORMAT_VERSION = 3
MAGIC = b"blpk"
EXTENSION = ".blp"

BLOSC_HEADER_LENGTH = 16
BLOSCPACK_HEADER_LENGTH = 32
METADATA_HEADER_LENGTH = 32

MAX_FORMAT_VERSION = 2**8 - 1
MAX_CHUNKS = 2**63 - 1
MAX_META_SIZE = 2**32 - 1
MIN_CLEVEL, MAX_CLEVEL = 0, 9

#: The limits of a Blosc chunk.
MAX_TYPESIZE = 255
MAX_BUFFERSIZE = 2**31 - 1 - 16

SUFFIXES = {suffix: 1 << (10 * power) for power, suffix in enumerate("BKMGT")}

CNAME_AVAIL = list(COMPRESSORS)
CNAME_MAPPING = {0: "blosclz", 1: "lz4", 2: "snappy", 3: "zlib", 4: "zstd"}
