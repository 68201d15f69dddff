#!/usr/bin/env python3
"""Drives the page in headless Chromium or Firefox, from a folder and without a server.

    web/tests/browser.py [--firefox] BLPK [FOLDER FOR SCREENSHOTS [TEST...]]

BLPK is the command, which makes the inputs and says what the page has to show: reports, errors and exports are compared with its
own, byte for byte. Needs the browser, its driver and the package selenium; `axe.min.js` in web/target/package is used if it is there.
"""

import pathlib
import random
import re
import shutil
import subprocess
import sys
import threading
import time
import unittest

from driver import BLPK, DATA, FIREFOX, Case, blpk, npy
from parts import Chunks, Parts
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

GIGABYTE = 1 << 30
MOST_MEMORY = 500 << 20


def inputs(folder):
    """One input of each kind: its name, and whether it has rows."""
    plain = folder / "plain.bin"
    plain.write_bytes(bytes(range(256)) * 4000)
    blpk("compress", "--typesize", "4", plain, folder / "plain.blp")
    lines = folder / "lines.txt"
    lines.write_text("".join(f'{{"number": {i}}}\n' for i in range(1000)))
    blpk("records", "pack", lines, folder / "records.blp")
    array = npy(folder / "array.npy", 3000, 4)
    blpk("compress", array, folder / "array.blp")
    datasets = DATA / "datasets"
    shutil.copytree(datasets / "bcolz/table_mixed", folder / "table_mixed")
    shutil.make_archive(str(folder / "zipped"), "zip", folder, "table_mixed")
    blpk("import", array, folder / "array.b2nd")
    paths = [folder / name for name in ("plain.blp", "records.blp", "array.blp", "array.npy", "array.b2nd", "table_mixed", "zipped.zip")]
    paths += [datasets / "blz/be_float64", DATA / "frames/b2nd/b_struct_c.b2nd", DATA / "frames/caterva/d8_i2_low.cat", DATA / "stores/table.b2z"]
    return [(path.name, path) for path in paths]


class Kinds(Case):
    """Each kind of input is shown, checked, plotted and exported as by the command."""

    def test_each_kind(self):
        for name, path in inputs(self.folder):
            with self.subTest(name):
                text, is_bad = self.open(path)
                self.assertFalse(is_bad, text)
                tabs = [tab.get_attribute("id")[4:] for tab in self.get("tabs").find_elements(By.TAG_NAME, "button")]
                if path.suffix != ".npy":
                    self.compare_info(path)
                    self.assertTrue(self.verdict().startswith("sound"), self.get("verdict").text)
                for view, said in (("plot", "plot-text"), ("map", "map-text"), ("chunks", "chunks-text")):
                    if view in tabs:
                        self.tab(view)
                        self.wait(lambda: self.get(said).text or "bad" in self.get("status").get_attribute("class"))
                if "table" in tabs:
                    self.tab("table")
                    self.wait(lambda: "…" not in self.get("space").text)
                if "export" in tabs:
                    self.compare_exports(path)
                self.check_log()

    def test_members_of_trees(self):
        tree = DATA / "stores/tree.b2z"
        folder = self.folder / "tree.b2d"
        shutil.unpack_archive(tree, folder, "zip")
        folders = [] if FIREFOX else [(folder, ["a/x", "b"])]
        for path, expected in ((tree, ["a/x", "b"]), *folders, (DATA / "stores/tree.b2e", ["a/x"])):
            text, is_bad = self.open(path)
            self.assertFalse(is_bad, text)
            self.assertEqual(self.axe(), [])
            self.picture(f"members-{path.suffix[1:]}")
            for at, name in enumerate(expected):
                with self.subTest(f"{path.name}/{name}"):
                    buttons = self.get("members").find_elements(By.TAG_NAME, "button")
                    self.assertEqual([button.text for button in buttons], expected)
                    buttons[at].click()
                    self.wait(lambda: self.get("name").text == f"{path.name}/{name}" and self.get("opened").is_displayed())
                    self.compare_info(path / name)
                    self.assertTrue(self.verdict().startswith("sound"), self.get("verdict").text)
                    self.compare_exports(path / name)
                    self.tab("chunks")
                    self.assertIn("chunk", self.text("chunks-text"))
                    self.get("up").find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
                    self.wait(lambda: self.get("name").text == path.name and self.get("opened").is_displayed())
        self.check_log()

    def compare_info(self, path):
        expected = blpk("info", path).stdout.decode().splitlines()[1:]
        labels = [line.split(":")[0].strip() for line in expected if re.match(r"  \w[\w ]*:", line)]
        self.tab("info")
        shown = [one.text for one in self.get("facts").find_elements(By.TAG_NAME, "dt") if one.text]
        self.assertEqual(shown, labels)

    def compare_exports(self, path):
        for kind in ("csv", "npy", "jsonl", "arrow"):
            source = path
            out = self.folder / f"expected.{kind}"
            out.unlink(missing_ok=True)
            if path.suffix == ".npy":
                source = self.folder / "array.blp"
            done = blpk("export", source, out, status=None)
            if b"feature" in done.stderr:
                continue
            found = self.export(kind)
            if done.returncode:
                self.assertIsNone(found, f"{path.name} {kind}")
            else:
                self.assertEqual(found, out.read_bytes(), f"{path.name} {kind}")


def damaged(folder):
    """40 damaged files and 20 that are made to deceive, the same in every run."""
    chance = random.Random(26)
    plain = folder / "plain.bin"
    plain.write_bytes(bytes((i * i // 50) & 255 for i in range(60_000)))
    blpk("compress", "--typesize", "2", "--chunk-size", "8K", plain, folder / "sound.blp")
    sound = (folder / "sound.blp").read_bytes()
    blpk("import", npy(folder / "array.npy", 300, 40), folder / "sound.b2nd")
    frame = (folder / "sound.b2nd").read_bytes()
    for number in range(40):
        source = frame if number % 4 == 3 else sound
        bytes_ = bytearray(source)
        if number % 5 == 4:
            del bytes_[chance.randrange(len(bytes_)):]
        else:
            bytes_[chance.randrange(len(bytes_))] ^= 1 << chance.randrange(8)
        path = folder / f"damaged{number}.{'b2nd' if source is frame else 'blp'}"
        path.write_bytes(bytes_)
        yield path
    heads = [b"", b"blpk", b"PK\x03\x04", b"\x93NUMPY\x01\x00\xff\xff", frame[:40], sound[:40], b"\x9e\xa8b2frame\x00" + b"\xff" * 90]
    for number in range(20):
        bytes_ = bytearray(heads[number] if number < len(heads) else (sound if number % 2 else frame))
        if number >= len(heads):
            # Lengths, counts and positions near the limits of their fields.
            at = chance.randrange(8, 80)
            bytes_[at:at + 4] = chance.choice([b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\x7f\xff\xff\xff"])
        path = folder / f"hostile{number}.{'blp' if number % 2 else 'b2nd'}"
        path.write_bytes(bytes_)
        yield path


class Damaged(Case):
    """Damaged and hostile files give the words of the command, and the page goes on."""

    def test_words(self):
        differs, seen = [], 0
        for path in damaged(self.folder):
            status, is_bad = self.open(path)
            seen += 1
            if path.read_bytes().startswith(b"\x93NUMPY"):
                self.assertTrue(is_bad, status)  # the command only imports these
                continue
            done = blpk("info", path, status=None)
            said = re.search(r"error: '[^']*': (.*)", done.stderr.decode())
            if said and not (is_bad and status.splitlines()[0] == f"{path.name}: {said[1]}"):
                differs.append((path.name, status, said[1]))
            lines = blpk("verify", path, status=None).stdout.decode().splitlines()
            expected = [line.removeprefix(f"{path}: ") for line in lines]
            expected = [line for line in expected if re.match("damaged|incomplete|refused|failed", line)]
            if self.get("opened").is_displayed():
                verdict = self.verdict()
                found = [one.text for one in self.get("damages").find_elements(By.TAG_NAME, "li")]
                if verdict == "not checked":
                    found = [f"{line.split(': ')[0]}: {self.get('status').text.splitlines()[0].removeprefix(path.name + ': ')}" for line in expected[:1]]
            else:
                found = [f"{line.split(': ')[0]}: {said[1]}" for line in expected[:1]] if said else []
            if found != expected:
                differs.append((path.name, found, expected))
        self.assertEqual(differs, [])
        self.assertEqual(seen, 60)
        self.open(DATA / "frames/b2nd/b_struct_c.b2nd")
        self.check_log()


class Mistakes(Case):
    """The words on what is something else say what to do."""

    @unittest.skipIf(FIREFOX, "its driver chooses no folders")
    def test_mistakes(self):
        text = self.folder / "notes.txt"
        text.write_text("just words")
        folder = self.folder / "photos"
        folder.mkdir()
        (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff")
        for path, hint in ((text, "the input may be damaged, or compressed by another program"), (folder, "open the folder of a single dataset")):
            status, is_bad = self.open(path)
            said = re.search(r"error: '[^']*': (.*)", blpk("info", path, status=None).stderr.decode())[1]
            self.assertEqual((status.splitlines(), is_bad), ([f"{path.name}: {said}", f"hint: {hint}"], True))


class Long(Case):
    """What is long neither stays in memory nor holds the page up."""

    def renderers(self):
        """Bytes that are resident in the largest process of the browser's pages."""
        most = 0
        for status in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if b"--type=renderer" in status.read_bytes():
                    text = (status.parent / "status").read_text()
                    most = max(most, int(re.search(r"VmRSS:\s+(\d+)", text)[1]) << 10)
            except (OSError, TypeError):
                pass
        return most

    @unittest.skipIf(FIREFOX, "processes are counted by Chromium's words")
    def test_a_gigabyte(self):
        path = self.folder / "long.blp"
        maker = subprocess.Popen([BLPK, "compress", "--typesize", "8", "-", path], stdin=subprocess.PIPE)
        # Seven of eight bytes are random: the file itself is that long.
        noise = random.Random(26).randbytes(7 << 17)
        block = b"".join(noise[at:at + 7] + b"\0" for at in range(0, len(noise), 7))
        for _ in range(8 * GIGABYTE // 7 // len(block) + 1):
            maker.stdin.write(block)
        maker.stdin.close()
        self.assertEqual(maker.wait(), 0)
        self.open(path)
        before, most, ended = self.renderers(), [0], threading.Event()

        def watch():
            while not ended.wait(0.05):
                most[0] = max(most[0], self.renderers())

        watcher = threading.Thread(target=watch)
        watcher.start()
        begun = time.monotonic()
        verdict = self.verdict(600)
        took = time.monotonic() - begun
        ended.set()
        watcher.join()
        print(f"\n{path.stat().st_size >> 20} MiB: {verdict}, {took:.1f} s, {most[0] >> 20} MiB ({before >> 20} before)")
        self.assertTrue(verdict.startswith("sound"), verdict)
        self.assertGreater(path.stat().st_size, 1_000_000_000)
        self.assertLess(most[0], MOST_MEMORY)
        # Once more, and cancelled.
        self.get("verify").click()
        self.wait(lambda: self.get("cancel").is_displayed())
        self.get("cancel").click()
        self.wait(self.is_idle, 10)
        self.assertEqual(self.get("verdict").text, "not checked")
        self.tab("bytes")
        self.wait(lambda: self.get("hex").text)

    def test_a_million_rows(self):
        path = self.folder / "million.npy"
        npy(path, 1_000_000)
        self.open(path)
        self.tab("table")
        self.wait(lambda: "…" not in self.get("space").text)
        self.get("row").clear()
        self.get("row").send_keys("999990", Keys.ENTER)
        self.wait(lambda: "999999" in self.get("space").text and "…" not in self.get("space").text)
        number = ((999_999 * 37) % 1009) / 8
        self.assertIn(f"999999\n{number}", self.get("space").text)
        self.get("grid").send_keys(Keys.HOME)
        self.wait(lambda: self.get("space").text.startswith("0\n"))
        slow = self.browser.execute_async_script("""
            const done = arguments[0];
            const grid = document.getElementById("grid");
            let [frames, worst, last] = [0, 0, performance.now()];
            (function step(now) {
              worst = Math.max(worst, now - last);
              last = now;
              grid.scrollTop += 20000;
              if (++frames < 120) requestAnimationFrame(step);
              else done({ frames, worst });
            })(last);""")
        print(f"\n120 jumps in a table of a million rows: the longest frame took {slow['worst']:.0f} ms")
        self.assertLess(slow["worst"], 500)
        self.assertLess(len(self.get("space").find_elements(By.CSS_SELECTOR, "[role=row]")), 100)


class Looks(Case):
    """Every view can be read by a screen reader, in the light, in the dark and on a phone."""

    def test_views(self):
        path = self.folder / "array.npy"
        npy(path, 300, 200)
        blpk("compress", "--chunk-size", "16K", path, self.folder / "array.blp")
        self.assertEqual(self.axe(), [])
        self.open(self.folder / "array.blp")
        for view in ("info", "verify", "table", "plot", "map", "bytes", "chunks", "export"):
            self.tab(view)
            self.wait(self.is_idle)
            time.sleep(0.3)
            self.picture(f"{self.scheme}-{self.size[0]}-{view}")
            self.assertEqual(self.axe(), [], view)
        wide = self.browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        self.assertLessEqual(wide, 0)

    def test_keys(self):
        self.open(self.folder / "array.npy" if (self.folder / "array.npy").exists() else npy(self.folder / "array.npy", 300, 200))
        self.get("tab-info").send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.browser.switch_to.active_element.get_attribute("id"), "tab-verify")


class Dark(Looks):
    scheme = "dark"


class Narrow(Looks):
    size = (500, 900)


if __name__ == "__main__":
    if BLPK is None:
        sys.exit(__doc__)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
