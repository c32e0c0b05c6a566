"""What is wrong with a table, all of it at once."""

from __future__ import annotations

from collections.abc import Iterable

from granulearn.tables.messages import Message


class TableError(ValueError):
    """A table cannot be used; each problem says what was found, where, and what to do.

    Parameters
    ----------
    *problems : str
        One sentence each.

    Examples
    --------
    >>> from granulearn.tables import TableError, read_training_table, table_of
    >>> try:
    ...     read_training_table(table_of({"age": [31, 47]}), "label")
    ... except TableError as error:
    ...     print(error)
    the table: There is no column 'label' (target=...); did you mean one of ['age']?
    """

    def __init__(self, *problems: str):
        super().__init__(" ".join(problems))
        self.problems = problems

    @classmethod
    def about(cls, path: object, problems: Iterable[str]) -> TableError:
        """Return the error for a table, named in front of each of its problems.

        Parameters
        ----------
        path : object
            The table.
        problems : iterable of str
            One sentence each.
        """
        return cls(*(Message(f"{path}: ", problem) for problem in problems))

    def __reduce__(self):
        return type(self), self.problems
