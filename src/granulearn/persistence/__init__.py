"""Files: models as skops, with a card and a digest, or as ONNX; and files written whole."""

from granulearn.persistence.atomic_files import written_atomically
from granulearn.persistence.model_card import ColumnCard, ModelCard
from granulearn.persistence.model_files import (
    LoadedModel,
    ModelFileError,
    load_model,
    save_model,
)
from granulearn.persistence.onnx_files import OnnxMismatchError, onnx_inputs, to_onnx

__all__ = [
    "ColumnCard",
    "LoadedModel",
    "ModelCard",
    "ModelFileError",
    "OnnxMismatchError",
    "load_model",
    "onnx_inputs",
    "save_model",
    "to_onnx",
    "written_atomically",
]
