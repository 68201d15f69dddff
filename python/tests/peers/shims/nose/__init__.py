"""What the tests of other packages need of nose, which no longer runs."""

from . import tools as tools
