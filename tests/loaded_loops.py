"""Compiled loops are loaded when this is imported: by the process that others are copies of."""

from tests.compile_kernels import compile_kernels

compile_kernels()
