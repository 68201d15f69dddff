"""The default arguments of Bloscpack 0.16."""


def _ten_times(count: int) -> int:
    return 10 * count


DEFAULT_TYPESIZE = 8
DEFAULT_CLEVEL = 7
DEFAULT_SHUFFLE = True
DEFAULT_CNAME = "blosclz"

DEFAULT_OFFSETS = True
DEFAULT_CHECKSUM = "adler32"
DEFAULT_MAX_APP_CHUNKS = _ten_times

DEFAULT_CHUNK_SIZE = "1M"

DEFAULT_MAGIC_FORMAT = b"JSON"
DEFAULT_META_CHECKSUM = "adler32"
DEFAULT_META_CODEC = "zlib"
DEFAULT_META_LEVEL = 6
DEFAULT_MAX_META_SIZE = _ten_times
