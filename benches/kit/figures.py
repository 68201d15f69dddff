"""Figures computed from the runs: medians, and ratios of runs of the same round with their spread."""

from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Ratio:
    middle: float
    least: float
    most: float

    def __str__(self):
        # A spread too small for the digits shown is left out.
        if f"{self.least:.2f}" == f"{self.most:.2f}":
            return f"{self.middle:.2f}"
        return f"{self.middle:.2f} ({self.least:.2f}..{self.most:.2f})"


def runs(cell, name):
    """The runs that count, without the warm-up round."""
    return cell["results"][name]["runs"]


def middle(cell, name, what="wall"):
    return median(run[what] for run in runs(cell, name))


def peak(cell, name):
    """KiB, from the warm-up round: only that round is watched, which matters for small processes. The peak of an unwatched run
    is right only if it exceeds the memory of the measuring program."""
    return cell["results"][name]["warm"]["peak"]


def ratio(cell, peer, ours, what="wall", factor=1.0):
    """The peer's time divided by ours, round by round."""
    mine = {run["round"]: run[what] for run in runs(cell, ours)}
    both = [factor * run[what] / max(mine[run["round"]], 1e-9) for run in runs(cell, peer) if run["round"] in mine]
    return Ratio(median(both), min(both), max(both))


def speed(cell, name):
    """MB of raw data per second."""
    return cell["bytes"] / 1e6 / middle(cell, name)


def select(found, kind, **wanted):
    return [cell for cell in found["cells"]
            if cell["kind"] == kind and all(cell.get(key) == value for key, value in wanted.items())]


def largest(cells):
    """The cells with the most data."""
    most = max((cell["bytes"] for cell in cells), default=0)
    return [cell for cell in cells if cell["bytes"] == most]


def sizes(found):
    return sorted({cell["bytes"] for cell in select(found, "compress")})
