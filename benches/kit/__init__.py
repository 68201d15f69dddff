"""Shared by the benchmarks of whole commands, `commands.py` and `scaling.py` in the parent folder."""
