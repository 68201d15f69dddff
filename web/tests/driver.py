"""What the tests of the page share: the command, the browser, and the page in it."""

import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "web/dist/index.html").as_uri()
AXE = ROOT / "web/target/package/axe.min.js"
sys.path.insert(0, str(ROOT / "testdata"))
import archives  # noqa: E402

DATA = archives.unpacked()
FIREFOX = sys.argv[1:2] == ["--firefox"] and bool(sys.argv.pop(1))
BLPK = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
PICTURES = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None


def blpk(*words, status=0):
    done = subprocess.run([BLPK, *map(str, words)], capture_output=True)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{words}: {done.returncode}: {done.stderr.decode()}")
    return done


def chromium(saved, scheme):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-device-scale-factor=1"):
        options.add_argument(word)
    options.add_experimental_option("prefs", {"download.default_directory": str(saved)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=shutil.which("chromedriver")))
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    return browser


def firefox(saved, scheme):
    options = webdriver.FirefoxOptions()
    options.binary_location = shutil.which("firefox-esr") or shutil.which("firefox")
    options.add_argument("-headless")
    options.set_preference("browser.download.alwaysOpenPanel", False)  # it would take the focus
    options.set_preference("browser.download.folderList", 2)
    options.set_preference("browser.download.dir", str(saved))
    options.set_preference("layout.css.prefers-color-scheme.content-override", 0 if scheme == "dark" else 1)
    return webdriver.Firefox(options=options, service=webdriver.FirefoxService(executable_path=shutil.which("geckodriver")))


class Case(unittest.TestCase):
    scheme = "light"
    size = (1200, 1000)

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="page-"))
        cls.browser = firefox(cls.folder / "saved", cls.scheme) if FIREFOX else chromium(cls.folder / "saved", cls.scheme)
        cls.browser.set_script_timeout(300)  # of a busy machine
        cls.browser.set_window_size(*cls.size)
        cls.browser.get(PAGE)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        shutil.rmtree(cls.folder)

    def get(self, name):
        return self.browser.find_element(By.ID, name)

    def wait(self, condition, seconds=60):
        return WebDriverWait(self.browser, seconds, 0.05).until(lambda _: condition())

    def is_idle(self):
        return self.browser.execute_script("return document.body.ariaBusy === 'false'")

    def open(self, path):
        """Opens a file or a folder; the text of the status line, and whether it is an error."""
        self.browser.execute_script("document.body.ariaBusy = 'true'; document.getElementById('status').textContent = ''")
        if FIREFOX and path.is_dir():
            # Its driver chooses no folders.
            path = pathlib.Path(shutil.make_archive(str(self.folder / path.name), "zip", path.parent, path.name))
        self.get("folder" if path.is_dir() else "file").send_keys(str(path))
        self.wait(self.is_idle)
        return self.get("status").text, "bad" in self.get("status").get_attribute("class")

    def tab(self, name):
        self.get(f"tab-{name}").click()

    def verdict(self, seconds=60):
        self.tab("verify")
        self.get("verify").click()
        self.wait(lambda: self.get("verdict").text not in ("", "checking"), seconds)
        return self.get("verdict").text

    def text(self, name):
        """The text of a line that says what is drawn, once it is."""
        self.wait(self.is_idle)
        self.wait(lambda: self.get(name).text)
        return self.get(name).text

    def export(self, format_name):
        """The bytes of the file that is saved."""
        saved = self.folder / "saved"
        shutil.rmtree(saved, ignore_errors=True)
        self.tab("export")
        Select(self.get("format")).select_by_value(format_name)
        self.get("export").find_element(By.CSS_SELECTOR, "button").click()
        self.wait(lambda: self.get("exported").text not in ("", "exporting") or "bad" in self.get("status").get_attribute("class"))
        if not self.get("exported").text:
            return None
        self.wait(lambda: saved.is_dir() and [one for one in saved.iterdir() if one.suffix == f".{format_name}"])
        return next(saved.iterdir()).read_bytes()

    def picture(self, name):
        if PICTURES:
            PICTURES.mkdir(parents=True, exist_ok=True)
            self.browser.save_screenshot(str(PICTURES / f"{name}.png"))

    def check_log(self):
        if FIREFOX:
            return  # its driver does not pass on what pages log
        entries = [entry for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]
        self.assertEqual(entries, [])

    def axe(self):
        """Violations of the rules for accessible pages that axe-core calls serious or critical."""
        if not AXE.is_file():
            self.skipTest(f"{AXE} is not there")
        self.browser.execute_script(AXE.read_text())
        found = self.browser.execute_async_script("axe.run({ preload: false }).then(arguments[0])")
        return [(one["id"], one["impact"], [node["html"][:120] for node in one["nodes"]][:3])
                for one in found["violations"] if one["impact"] in ("serious", "critical")]


def npy(path, rows, columns=0):
    shape = f"({rows},)" if not columns else f"({rows}, {columns})"
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    head = head.ljust(117) + "\n"
    numbers = [((i * 37) % 1009) / 8 for i in range(rows * max(columns, 1))]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.encode() + struct.pack(f"<{len(numbers)}d", *numbers))
    return path
