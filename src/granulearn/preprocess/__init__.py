"""Preprocessing: the columns of a table become the numbers that models learn from."""

from granulearn.preprocess.table_preprocessor import TablePreprocessor

__all__ = ["TablePreprocessor"]
