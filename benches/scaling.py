"""Measures how the cost of `blpk` grows with the work: bytes through a pipe, chunks, records, random access, memory.

docs/benchmarks.md explains the figures."""

from kit import growth, growth_report
from kit.bench import Bench

PARTS = (growth.memory, growth.by_bytes, growth.by_ranges, growth.by_chunks, growth.by_records)


def measured(setting):
    plan = setting.size(growth.Plan(), growth.QUICK)
    return [cell for part in PARTS for cell in part(setting, plan, setting.rounds)]


BENCHES = [Bench("scaling", "benchmarks/scaling.md", measured, growth_report.summary)]
