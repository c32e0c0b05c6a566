"""What is wrong with a model file."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A model file is refused; the message says why.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.models import ModelFileError, load_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.granulearn")
    ...     _ = path.write_bytes(b"no model")
    ...     try:
    ...         load_model(path)
    ...     except ModelFileError:
    ...         print("refused")
    refused
    """
