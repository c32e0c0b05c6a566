"""The only look at the cells of a table: batch after batch, a column in each thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import repeat

import pyarrow as pa

from granulearn.tables.columns.survey_looks import survey_column
from granulearn.tables.columns.survey_records import TableSurvey, join_surveys

_THREADS = 2
_BATCHES_AHEAD = 3
_ROWS_FOR_THREADS = 500


def survey_batches(
    batches: Iterable[pa.RecordBatch],
    first_row: int = 0,
    plain: set[str] | None = None,
) -> TableSurvey | None:
    """Look at all cells; return None if there is no batch.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Rows in file order.
    first_row : int, default=0
        Number of the first row in the table.
    plain : set of str, default=None
        Filled with the columns that hold nothing but plain numbers with decimals so far:
        who reads the batches from text may give these as numbers.
    """
    survey = None
    with ThreadPoolExecutor(_THREADS) as pool:
        for batch in _read_ahead(batches):
            names, columns = batch.schema.names, batch.columns
            before = survey.columns if survey else repeat(None)
            # Of short columns, a look costs less than handing it to a thread.
            each = map if batch.num_rows < _ROWS_FOR_THREADS else pool.map
            seen = each(survey_column, names, columns, repeat(first_row), before)
            part = TableSurvey(batch.num_rows, tuple(seen))
            if survey is not None and plain is not None:
                part = _as_text_stored(part, survey)
            survey = part if survey is None else join_surveys(survey, part)
            if plain is not None:
                still = {seen.name for seen in survey.columns if seen.is_plain}
                plain &= still
                plain |= still
            first_row += batch.num_rows
    return survey


def _as_text_stored(part: TableSurvey, before: TableSurvey) -> TableSurvey:
    """Return the survey as if columns had come as the text that the file holds."""
    columns = [
        replace(seen, stored=earlier.stored) if "text" in earlier.stored else seen
        for seen, earlier in zip(part.columns, before.columns, strict=True)
    ]
    return replace(part, columns=tuple(columns))


def _read_ahead(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches, and read the next ones while this one is looked at.

    The first one is looked at before: it tells which columns may come as numbers.
    """
    source = iter(batches)
    first = next(source, None)
    if first is None:
        return
    yield first
    with ThreadPoolExecutor(1) as reader:
        coming = deque(reader.submit(next, source, None) for _ in range(_BATCHES_AHEAD))
        while (batch := coming.popleft().result()) is not None:
            coming.append(reader.submit(next, source, None))
            yield batch
