"""The command under test in a folder of its own, and the checks of tests/kill.py on the files it leaves."""

import os
import shutil
import signal
import subprocess

LONGEST_RUN = 60
KILLED = (-signal.SIGKILL, -signal.SIGXFSZ)
# A change that is committed, and not completed.
COMMITTED = 6
MORE = b"more of it "


class Failure(Exception):
    """A check of tests/kill.py failed."""


def expect(condition, *message):
    if not condition:
        raise Failure(" ".join(str(part) for part in message))


class Kit:
    """The command under test in a folder of its own."""

    def __init__(self, blpk, folder):
        self.blpk, self.folder = blpk, folder
        # Number of targets found old, new, and in the middle of a change.
        self.old = self.new = self.marked = 0

    def run(self, arguments, wrapper=(), piped=None, **options):
        """Runs the command, in a wrapper if there is one; returns its status and its output."""
        command = [*wrapper, self.blpk, "-n", "1", *arguments]
        if piped is None:
            options.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run(command, cwd=self.folder, timeout=LONGEST_RUN, input=piped, capture_output=True,
                              **options)
        return done.returncode, done.stdout, done.stderr

    def run_case(self, case, wrapper=(), **options):
        status, _, errors = self.run(case.command, wrapper, case.piped, **options)
        return status, errors

    def succeed(self, arguments):
        """Runs a command that must succeed; returns its standard output."""
        status, data, errors = self.run(arguments)
        expect(status == 0, *arguments, "gives", status, errors)
        return data

    def put(self, files):
        """Empties the folder and puts these files into it, in subfolders where their names have them."""
        for entry in os.scandir(self.folder):
            remove(entry)
        for name, data in files.items():
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)

    def read(self, name):
        """The files below a folder by their paths, or a single file by the empty path."""
        top = os.path.join(self.folder, name)
        if os.path.isfile(top):
            with open(top, "rb") as file:
                return {"": file.read()}
        found = {}
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, top)] = file.read()
        return found

    def look(self, name, kind):
        """The content of a target as the command reads it; the target must be sound."""
        if kind == "plain":
            with open(os.path.join(self.folder, name), "rb") as file:
                return file.read()
        self.succeed(["verify", name])
        if kind == "content":
            return self.succeed(["d", "-e", name, "-"])
        if kind == "records":
            return self.succeed(["records", "unpack", name])
        elements = self.succeed(["export", name, "-", "--to", "npy"])
        return elements if kind == "frame" else (elements, self.succeed(["dataset", "attrs", name]))

    def found(self, case):
        """The present content, which must be old or new; None if there is no target."""
        path = os.path.join(self.folder, case.target)
        if not os.path.lexists(path):
            expect(case.old is None, "the target is gone")
            return None
        self.marked += is_marked(path)
        data = self.look(case.target, case.kind)
        expect(data in (case.old, case.new), "neither the old nor the new content, but", shorten(data))
        self.old += data == case.old
        self.new += data == case.new
        return data

    def check(self, case, status, errors=b"", is_tidy=False):
        """Checks the files that a run left, and that the target can be changed again.

        `is_tidy` says that nothing kept the command from cleaning up. A target that is changed in place may
        still have a journal next to it, which the next change removes.
        """
        data = self.found(case)
        if status in (case.done, COMMITTED):
            expect(data == case.new, "status", status, "with the old content")
        elif status not in KILLED:
            expect(status == 1, "status", status, errors)
            said = case.changes_in_place and b"is unchanged" in errors
            expect(not said or data == case.old, "the content is new, but the message is", errors)
        if is_tidy and not case.changes_in_place:
            self.left(case.tops() | {case.target, "out"})
        if case.changes_in_place:
            self.go_on(case, data)

    def left(self, allowed):
        left = set(os.listdir(self.folder)) - allowed
        expect(not left, "left over:", left)

    def go_on(self, case, data):
        """The next change succeeds, and removes the remains of the previous one."""
        if case.kind == "array":
            return self.go_on_in_directory(case, data)
        with open(os.path.join(self.folder, "more"), "wb") as file:
            file.write(MORE)
        is_records = case.kind == "records"
        self.succeed([*(["records"] if is_records else []), "append", case.target, "more"])
        grown = data + MORE + b"\n" * is_records
        expect(self.look(case.target, case.kind) == grown, "the next append gives other bytes")
        self.left(case.tops() | {"more"})

    def go_on_in_directory(self, case, data):
        if data is None:
            return
        self.succeed(["dataset", "attrs", case.target, "more", "1"])
        elements, attributes = self.look(case.target, case.kind)
        expect(elements == data[0], "the next change gives other elements")
        expect(b'"more": 1' in attributes, "the next change has no effect")
        expect(not os.path.exists(os.path.join(self.folder, case.target, ".blpk")), "a journal is left")
        # Files that do not belong to a dataset cause a warning.
        status, _, errors = self.run(["verify", case.target])
        is_littered = "repair" in case.name
        expect(status == 0 and (is_littered or not errors), "the next verify gives", status, errors)


def is_marked(path):
    """Whether the target is marked as being changed."""
    if os.path.isdir(path):
        return os.path.exists(os.path.join(path, ".blpk", "journal"))
    with open(path, "rb") as file:
        return file.read(1) == b"!"


def remove(entry):
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path)
    else:
        os.unlink(entry.path)


def shorten(data):
    text = repr(data)
    return text if len(text) < 200 else f"{text[:200]}... ({len(text)} characters)"
