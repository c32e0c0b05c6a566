"""Arrays of a model file are read as numpy reads them, or refused by their headers."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from numpy.testing import assert_array_equal

from granulearn.models import archives
from granulearn.models.archives import ArchiveError
from granulearn.models.array_members import check_array_header, read_array
from tests.models.damage import as_npy


def archive_of(data: bytes) -> zipfile.ZipFile:
    """Return an archive with one array."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("1.npy", data)
    return zipfile.ZipFile(buffer)


def read(data: bytes) -> np.ndarray:
    """Look at an array as a model file does, and return it."""
    archive = archive_of(data)
    check_array_header(archive.getinfo("1.npy"), data)
    return read_array(archive, "1.npy")


KINDS = (
    arrays_of.floating_dtypes() | arrays_of.integer_dtypes() | arrays_of.boolean_dtypes()
    | arrays_of.complex_number_dtypes() | arrays_of.unicode_string_dtypes(min_len=1)
)  # fmt: skip


@given(arrays_of.arrays(KINDS, arrays_of.array_shapes(min_dims=0, min_side=0)), st.booleans())
def test_an_array_is_the_one_that_numpy_reads(array, in_columns):
    data = as_npy(np.asfortranarray(array) if in_columns and array.ndim else array)
    found, expected = read(data), np.load(io.BytesIO(data))
    assert (found.dtype, found.flags.c_contiguous) == (expected.dtype, expected.flags.c_contiguous)
    assert found.flags.writeable
    assert found.flags.aligned
    assert_array_equal(found, expected)


def test_a_large_array_is_read_piece_by_piece(monkeypatch):
    array = np.random.default_rng(0).normal(size=(50, 30))
    monkeypatch.setattr(archives, "CHUNK", 1000)
    assert_array_equal(read(as_npy(array)), array)


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000000,), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<M8[s]', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000, 0), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2.0,), }",
        "{'descr': '<f7', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<U999999999', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f8', 'fortran_order': 1, 'shape': (2,), }",
        "{'shape': (2,), 'descr': '<f8', 'fortran_order': False}",
        "[" * 100,
    ],
)
def test_an_array_is_as_long_as_its_header_says_and_holds_numbers_or_text(header):
    text = header.ljust(117) + "\n"
    data = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + bytes(16)
    with pytest.raises(ArchiveError, match=r"1\.npy"):
        read(data)


@pytest.mark.parametrize("change", [-1, 1, 64])
def test_a_header_is_as_long_as_it_says(change):
    data = bytearray(as_npy(np.ones(3)))
    data[8] += change
    with pytest.raises(ArchiveError, match=r"1\.npy"):
        read(bytes(data))


def test_a_large_array_is_never_in_memory_twice():
    array = np.zeros(4 * 2**20)
    archive = archive_of(as_npy(array))
    tracemalloc.start()
    try:
        read_array(archive, "1.npy")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert array.nbytes <= peak < 1.5 * array.nbytes
