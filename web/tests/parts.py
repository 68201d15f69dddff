"""Parts that are chosen in a picture; chunks of datasets."""

import json
import re
import shutil

from driver import DATA, Case, blpk, npy
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.pointer_input import PointerInput
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select


class Chunks(Case):
    """The chunks of datasets are drawn, each column by itself."""

    def strips(self):
        """What is said of the chunks of each column, and of all."""
        self.tab("chunks")
        said = self.text("chunks-text")
        return said, [one.text for one in self.get("chunks").find_elements(By.TAG_NAME, "figcaption")]

    def test_chunks_of_datasets(self):
        datasets = DATA / "datasets"
        for path in (datasets / "bcolz/codec_zlib_bitshuffle_cl5", datasets / "blz/shape3d", datasets / "carray05/shape3d", datasets / "documents/carray_line"):
            with self.subTest(path.name):
                self.open(path)
                chunks = re.match("sound: (.* chunks?)", self.verdict())[1]
                said, columns = self.strips()
                self.assertEqual((said.split(", ratio")[0], columns), (chunks, []))
        for path in (datasets / "bcolz/table_mixed", datasets / "blz/table_mixed"):
            with self.subTest(path.name):
                self.damage_a_column(path)
        self.check_log()

    def damage_a_column(self, sound):
        """A chunk of a column is damaged, and one of another is missing: both are drawn where they are, from a folder and an archive."""
        path = self.folder / "damaged_table"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(sound, path)
        names = json.loads(blpk("info", "--json", path).stdout)["columns"]
        names = [name if isinstance(name, str) else name["name"] for name in names]
        files = sorted((path / names[0] / "data").iterdir())
        bytes_ = bytearray(files[0].read_bytes())
        bytes_[-1] ^= 255
        bytes_[32] ^= 255
        files[0].write_bytes(bytes_)
        sorted((path / names[1] / "data").iterdir())[0].unlink()
        shutil.make_archive(str(path), "zip", self.folder, path.name)
        for one in (path, path.with_suffix(".zip")):
            self.open(one)
            lines = [line for line in blpk("verify", one, status=None).stdout.decode().splitlines() if f"{one}: " in line]
            self.verdict()
            damages = [item.text for item in self.get("damages").find_elements(By.TAG_NAME, "li")]
            self.assertEqual(damages, [line.removeprefix(f"{one}: ") for line in lines[:len(damages)]])
            said, columns = self.strips()
            self.assertEqual([column.split(":")[0] for column in columns], names)
            self.assertEqual(["1 damaged" in column for column in columns], [True, True] + [False] * (len(names) - 2), columns)
            self.assertIn("2 damaged", said)
            self.assertEqual(self.axe(), [])
            self.picture(f"strips-{one.suffix[1:] or 'folder'}")


class Parts(Case):
    """A part is chosen in a picture, by mouse, finger and keyboard, and exported."""

    def check_part(self, path, rows):
        """The numbers of a column of 3,000 that are shown for these rows."""
        numbers = [((i * 37) % 1009) / 8 for i in range(*rows)]
        said = self.text("plot-text")
        found = [float(number) for number in re.findall("from ([0-9.]+) to ([0-9.]+)", said)[0]]
        self.assertEqual(found, [float(f"{number:.6g}") for number in (min(numbers), max(numbers))], said)
        self.get("plot-export").click()
        out = self.folder / "expected.csv"
        blpk("export", "-f", path, out, "--slice", f"{rows[0]}:{rows[1]}")
        self.assertEqual(self.export("csv"), out.read_bytes())
        self.tab("plot")

    def rows(self):
        self.wait(self.is_idle)
        return [int(number) for number in re.match(r"Rows (\d+) to (\d+)", self.text("plot-text")).groups()]

    def drag(self, kind):
        """From a quarter to a half of the width."""
        canvas = self.get("plot")
        pointer = ActionBuilder(self.browser, mouse=PointerInput(kind, kind), duration=50)
        pointer.pointer_action.move_to(canvas, -canvas.size["width"] // 4, 0).pointer_down().move_to(canvas, 0, 0)
        if kind == "mouse":
            pointer.perform()
            self.assertTrue(self.get("chosen").is_displayed())
            self.picture("drag")
            pointer = ActionBuilder(self.browser, mouse=PointerInput(kind, kind), duration=50)
        pointer.pointer_action.pointer_up()
        pointer.perform()
        self.wait(lambda: not self.get("chosen").is_displayed(), 10)

    def test_zoom(self):
        path = self.folder / "numbers.blp"
        blpk("compress", npy(self.folder / "numbers.npy", 3000), path)
        self.open(path)
        self.tab("plot")
        self.assertEqual(self.rows(), [0, 3000])
        self.get("plot").click()  # is not a part
        self.assertEqual(self.rows(), [0, 3000])
        for kind in ("mouse", "touch"):
            with self.subTest(kind):
                self.drag(kind)
                self.wait(lambda: self.rows() != [0, 3000])
                rows = self.rows()
                for found, expected in zip(rows, (750, 1500)):
                    self.assertAlmostEqual(found, expected, delta=15)
                self.check_part(path, rows)
                self.button("whole")
                self.wait(lambda: self.rows() == [0, 3000])
        self.button("0.5")
        self.wait(lambda: self.rows() == [750, 2250])
        self.button("-0.5", "move")
        self.wait(lambda: self.rows() == [0, 1500])
        self.check_part(path, [0, 1500])
        self.check_log()

    def button(self, value, kind="zoom"):
        """By the keyboard."""
        self.browser.find_element(By.CSS_SELECTOR, f"[data-{kind}='{value}']").send_keys(Keys.ENTER)

    def test_rows_of_a_table(self):
        path = DATA / "datasets/bcolz/table_mixed"
        self.open(path)
        self.tab("plot")
        self.button("0.5")
        self.wait(lambda: self.rows()[0] > 0)
        first, end = self.rows()
        column = Select(self.get("plot-column")).first_selected_option.text
        self.get("plot-export").click()
        out = self.folder / "expected.csv"
        blpk("export", "-f", path, out, "--rows", f"{first}..{end}", "--columns", column)
        self.assertEqual(self.export("csv"), out.read_bytes())

    def test_numbers_and_the_place_to_drop(self):
        before = self.get("drop").size["height"]
        self.open(DATA / "datasets/bcolz/table_mixed")
        self.assertLess(self.get("drop").size["height"], before * 0.7)
        self.tab("table")
        self.wait(lambda: "…" not in self.get("space").text)
        cell = lambda at: self.browser.find_element(By.CSS_SELECTOR, f"#space [role=row]:first-child > :nth-child({at})")
        # id, price and sym.
        self.assertEqual([cell(at).value_of_css_property("text-align") for at in (2, 3, 4)], ["right", "right", "start"])
        exact = cell(3).get_attribute("title")
        Select(self.get("digits")).select_by_visible_text("1")
        self.assertEqual(cell(3).text, f"{float(exact):.1f}")
        self.assertEqual(cell(2).text, cell(2).get_attribute("title"))
        self.check_log()

    def test_walk_of_axes(self):
        paths = [DATA / "datasets" / name for name in ("bcolz/shape3d", "blz/shape3d", "carray05/shape3d")]
        for path in paths:
            with self.subTest(path.parent.name):
                self.open(path)
                self.tab("map")
                self.assertTrue(self.text("map-text").startswith("[0,:,:]"), self.get("map-text").text)
                walked = [one for one in self.get("axes").find_elements(By.CSS_SELECTOR, "input") if one.is_displayed()]
                self.assertEqual([one.accessible_name.split()[:2] for one in walked], [["Axis", "0"]])
                walked[0].send_keys(Keys.ARROW_RIGHT)
                self.wait(lambda: self.get("map-text").text.startswith("[1,:,:]"))
                self.check_slice(path, "1,:,:")
                self.tab("map")
                # As wide as the page, with room for axes and scale.
                self.assertGreater(self.get("map").size["width"], 0.9 * self.get("view-map").size["width"])
                Select(self.get("map-rows")).select_by_value("2")
                Select(self.get("map-columns")).select_by_value("0")
                self.wait(lambda: self.get("map-text").text.startswith("[:,0,:]"))
                self.check_slice(path, ":,0,:")
        self.check_log()

    def check_slice(self, path, slice_):
        """The extremes of a slice that is drawn element by element, and its export."""
        numbers = blpk("export", path, "-", "--to", "jsonl", "--slice", slice_).stdout.decode()
        numbers = [float(number) for number in re.findall(r"-?[0-9.]+(?:e[-+]?[0-9]+)?", numbers)]
        found = [float(number) for number in re.findall(r"from (\S+) \(dark\) to (\S+) \(light\)", self.get("map-text").text)[0]]
        self.assertEqual(found, [float(f"{number:.6g}") for number in (min(numbers), max(numbers))])
        self.get("map-export").click()
        self.assertEqual(self.get("slice").get_attribute("value"), slice_)
        out = self.folder / "expected.npy"
        blpk("export", "-f", path, out, "--slice", slice_)
        self.assertEqual(self.export("npy"), out.read_bytes())
