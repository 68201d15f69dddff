"""What the benchmarks of whole commands share: `commands.py` and `scaling.py` beside this folder."""
