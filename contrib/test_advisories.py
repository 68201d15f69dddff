#!/usr/bin/env python3
"""Tests of advisories.py, with the versions and rules of Cargo and of RustSec."""

import datetime
import pathlib
import tempfile
import unittest

import advisories

DAY = datetime.date(2026, 11, 27)
QUICK_XML = ("RUSTSEC-2026-0194", "quick-xml", "vulnerability", "Quadratic run time", [">= 0.41.0"])


class Advisories(unittest.TestCase):
    def test_requirements_are_those_of_cargo(self):
        for requirement, inside, outside in [
            (">= 0.41.0", ["0.41.0", "0.100.0", "1.0.0"], ["0.39.4", "0.41.0-rc.1"]),
            ("> 1.2.3", ["1.2.4"], ["1.2.3", "1.2.3-beta"]),
            ("< 2", ["1.99.0", "2.0.0-alpha"], ["2.0.0", "10.0.0"]),
            (">= 1.0.4, < 2.0.0", ["1.0.4", "1.10.0"], ["1.0.3", "2.0.1"]),
            ("^0.3.1", ["0.3.1", "0.3.99"], ["0.3.0", "0.4.0", "1.3.1"]),
            ("^0.0.3", ["0.0.3"], ["0.0.4", "0.0.2"]),
            ("1.2", ["1.2.0", "1.9.0"], ["1.1.9", "2.0.0"]),
            ("~1.2.3", ["1.2.3", "1.2.9"], ["1.3.0", "1.2.2"]),
            ("= 1.2.3", ["1.2.3", "1.2.3+build"], ["1.2.4"]),
            (">=0.9.0-rc.2", ["0.9.0-rc.10", "0.9.0"], ["0.9.0-rc.1", "0.9.0-alpha.9"]),
        ]:
            for found in inside:
                self.assertTrue(advisories.satisfies(advisories.version(found), requirement), (found, requirement))
            for found in outside:
                self.assertFalse(advisories.satisfies(advisories.version(found), requirement), (found, requirement))

    def complaints(self, exceptions, found="0.39.4"):
        locked = {"quick-xml": {found: ["sql/Cargo.lock"]}}
        return list(advisories.complaints([QUICK_XML], locked, exceptions, DAY))

    def test_an_advisory_needs_an_exception_that_lasts(self):
        (complaint,) = self.complaints({})
        for part in ["RUSTSEC-2026-0194", "quick-xml 0.39.4", "take >= 0.41.0", "sql/Cargo.lock"]:
            self.assertIn(part, complaint)
        self.assertEqual(self.complaints({"RUSTSEC-2026-0194": DAY}), [])
        (complaint,) = self.complaints({"RUSTSEC-2026-0194": DAY - datetime.timedelta(1)})
        self.assertIn("the exception ended on 2026-11-26", complaint)

    def test_an_exception_that_is_not_needed_is_removed(self):
        self.assertEqual(self.complaints({}, "0.41.0"), [])
        (complaint,) = self.complaints({"RUSTSEC-2026-0194": DAY}, "0.41.0")
        self.assertIn("remove it", complaint)

    def test_exceptions_have_a_date(self):
        text = '[advisories]\nignore = [\n    # Why.\n    { id = "A-1", reason = "until 2027-01-31: no XML" },\n]\n'
        self.assertEqual(advisories.exceptions(text), {"A-1": datetime.date(2027, 1, 31)})
        with self.assertRaises(SystemExit):
            advisories.exceptions(text.replace("until 2027-01-31: ", ""))

    def test_advisories_are_read_as_they_are_written(self):
        text = '```toml\n[advisory]\nid = "RUSTSEC-1"\npackage = "a"\n{}\n[versions]\npatched = [\n  ">= 1.2, < 2",\n' \
            '  "^0.9.1"]\nunaffected = ["< 0.3"]\n```\n\n# It is `unsafe`\n\nText.\n'
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "crates/a/RUSTSEC-1.md"
            path.parent.mkdir(parents=True)
            for line, kind in [("", "vulnerability"), ('informational = "unsound"', "unsound")]:
                path.write_text(text.replace("{}", line))
                expected = ("RUSTSEC-1", "a", kind, "It is `unsafe`", [">= 1.2, < 2", "^0.9.1", "< 0.3"])
                self.assertEqual(list(advisories.advisories(pathlib.Path(folder))), [expected])
            path.write_text(text.replace("{}", 'withdrawn = "2026-01-01"'))
            self.assertEqual(list(advisories.advisories(pathlib.Path(folder))), [])

    def test_all_lock_files_are_read(self):
        packages = advisories.locked()
        files = {file for versions in packages.values() for files in versions.values() for file in files}
        expected = ["Cargo.lock", "fuzz/Cargo.lock", "python/Cargo.lock", "sql/Cargo.lock", "web/Cargo.lock"]
        expected += ["benches/engines/Cargo.lock", "benches/records/Cargo.lock"]
        expected += ["tests/back_ends/Cargo.lock", "tests/schedules/Cargo.lock"]
        self.assertLessEqual(set(expected), files)
        for *_, sound in advisories.listed():
            for requirement in sound:
                advisories.satisfies(advisories.version("1.0.0"), requirement)


if __name__ == "__main__":
    unittest.main()
