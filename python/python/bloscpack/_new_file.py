"""Files that appear under their final names when they are complete, like the outputs of ``blpk``."""

from __future__ import annotations

import builtins
import os
import secrets
import stat
from typing import Any, BinaryIO, cast

from .errors import of_os_error

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# ``blpk`` removes unlocked files with this prefix, which killed programs have left.
_PREFIX = ".blpk-out-" if fcntl else ".bloscpack-out-"


class NewFile:
    """A temporary file in the folder of a path, which `commit` renames to the path. Until then, an existing file stays.

    A device or a FIFO is written to directly. With ``replace=False``, no file of that name may exist. ``lock=False`` is for
    writers that lock the file themselves.
    """

    def __init__(self, path: Any, *, replace: bool = True, lock: bool = True) -> None:
        self.name = os.fspath(path)
        self._fd: int | None = None
        self._process = os.getpid()
        self._replace = replace
        try:
            # Follow links, and keep them.
            self._target = os.path.realpath(self.name)
            self._begin(lock and fcntl is not None)
        except OSError as error:
            raise of_os_error(error, self.name) from None

    def _begin(self, lock: bool) -> None:
        #: The path to write to.
        self.path: Any = self._target
        try:
            self._old: os.stat_result | None = os.stat(self._target)
        except FileNotFoundError:
            self._old = None
        if self._old is not None:
            if not self._replace:
                raise FileExistsError(17, "the file exists")
            if stat.S_ISDIR(self._old.st_mode):
                raise IsADirectoryError(21, "this is a directory")
            if not stat.S_ISREG(self._old.st_mode):
                return
            if not os.access(self._target, os.W_OK):
                raise PermissionError(13, "the file may not be written")
        folder, _ = os.path.split(self._target)
        name = f"{_PREFIX}{secrets.token_hex(6)}.tmp"
        self.path = os.path.join(folder, os.fsencode(name) if isinstance(folder, bytes) else name)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        # A file that replaces another is private until it is complete, and then gets the mode of the other.
        self._fd = os.open(self.path, flags, 0o666 if self._old is None else 0o600)
        if lock:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                pass  # The file system has no locks.

    def open(self, mode: str = "w+b") -> BinaryIO:
        """Opens the file to write to."""
        return cast(BinaryIO, builtins.open(self.path, mode))

    @property
    def is_ours(self) -> bool:
        """Whether this process has begun the file, rather than a parent process."""
        return os.getpid() == self._process

    def commit(self) -> None:
        """Gives the complete file its final name."""
        if not self.is_ours:
            raise of_os_error(OSError(f"begun by process {self._process}, before it forked this one"), self.name)
        if self._fd is None:
            return
        try:
            if self._old is not None:
                _copy_owners(self._fd, self._old)
            os.fsync(self._fd)
            if not fcntl:
                # Windows cannot rename an open file.
                self._close()
            self._rename()
            _sync_folder(os.path.dirname(self._target))
        except OSError as error:
            self.discard()
            raise of_os_error(error, self.name) from None
        self._close()

    def _rename(self) -> None:
        if self._replace:
            os.replace(self.path, self._target)
            return
        try:
            os.link(self.path, self._target)
        except FileExistsError:
            raise
        except OSError:
            # The file system cannot link. The name was free a moment ago.
            os.rename(self.path, self._target)
        else:
            os.unlink(self.path)

    def discard(self) -> None:
        """Removes the temporary file. A forked process keeps it, because it belongs to the parent."""
        if self._fd is not None:
            self._close()
            if self.is_ours:
                try:
                    os.unlink(self.path)
                except OSError:
                    pass

    def _close(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def __enter__(self) -> NewFile:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.commit()
        else:
            self.discard()

    def __del__(self) -> None:
        self.discard()


def _copy_owners(fd: int, old: os.stat_result) -> None:
    """Gives a file the owner, group and mode of the file that it replaces, without giving more rights to anyone."""
    mode = stat.S_IMODE(old.st_mode)
    if not hasattr(os, "fchown"):
        return
    new = os.fstat(fd)
    for uid, gid, keeps in ((old.st_uid, -1, 0o1777), (-1, old.st_gid, 0o5707 | (mode & 0o007) << 3)):
        if uid not in (-1, new.st_uid) or gid not in (-1, new.st_gid):
            try:
                os.fchown(fd, uid, gid)
            except OSError:
                mode &= keeps
    os.fchmod(fd, mode)


def _sync_folder(folder: Any) -> None:
    """Makes a new name survive a power cut."""
    if not fcntl:
        return
    try:
        fd = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except PermissionError:
        return  # The folder is writable but cannot be listed.
    try:
        os.fsync(fd)
    except OSError:
        pass  # The file system cannot sync folders.
    finally:
        os.close(fd)
