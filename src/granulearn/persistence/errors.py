"""What is wrong with a model file."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A model file is refused; the message says why."""
