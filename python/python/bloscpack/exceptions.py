"""The exceptions of Bloscpack 0.16, raised by the functions of its interface."""


class FileNotFound(IOError):
    """An input file does not exist, or an output file already exists."""


class NoSuchChecksum(ValueError):
    """A checksum with an unknown name."""


class NoSuchCodec(ValueError):
    """A codec of metadata with an unknown name."""


class NoSuchSerializer(ValueError):
    """A serializer of metadata with an unknown name."""


class ChunkingException(BaseException):
    """Data that cannot be cut into chunks of this size. As in Bloscpack 0.16, this is not an `Exception`."""


class ChunkSizeTypeSizeMismatch(ValueError):
    """A chunk size that is not a multiple of the size of an element."""


class ChecksumMismatch(RuntimeError):
    """A chunk, or metadata, that does not match its checksum."""


class FormatVersionMismatch(RuntimeError):
    """A file of another version of the format."""


class ChecksumLengthMismatch(RuntimeError):
    """A new checksum whose digests have another length than the old ones."""


class NoMetadataFound(RuntimeError):
    """A file without metadata."""


class NoChangeInMetadata(RuntimeError):
    """New metadata that is equal to the old."""


class MetadataSectionTooSmall(RuntimeError):
    """Metadata that does not fit into its reserved space."""


class NonUniformTypesize(RuntimeError):
    """A file whose chunks have different typesizes."""


class NotEnoughSpace(RuntimeError):
    """An offset table without spare entries for more chunks."""


class NotANumpyArray(RuntimeError):
    """A file that does not contain a NumPy array."""


class ObjectNumpyArrayRejection(RuntimeError):
    """An array of Python objects, which cannot be stored."""
