"""What is wrong with a table, all of it at once."""

from __future__ import annotations


class TableError(ValueError):
    """A table cannot be used; each problem says what was found, where, and what to do.

    Parameters
    ----------
    *problems : str
        One sentence each.
    """

    def __init__(self, *problems: str):
        super().__init__(" ".join(problems))
        self.problems = problems

    def __reduce__(self):
        return type(self), self.problems
