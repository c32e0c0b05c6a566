"""Files: models as skops, with a card and a digest, or as ONNX; and files written whole."""

from granulearn.persistence.atomic_files import written_atomically
from granulearn.persistence.errors import ModelFileError
from granulearn.persistence.loaded_model import LoadedModel
from granulearn.persistence.model_card import ColumnCard, ModelCard
from granulearn.persistence.model_contents import ModelContents, inspect_model
from granulearn.persistence.model_files import load_model, save_model
from granulearn.persistence.onnx_columns import onnx_inputs
from granulearn.persistence.onnx_files import OnnxMismatchError, to_onnx
from granulearn.persistence.rows_check import ColumnCheck, RowsCheck

__all__ = [
    "ColumnCard",
    "ColumnCheck",
    "LoadedModel",
    "ModelCard",
    "ModelContents",
    "ModelFileError",
    "OnnxMismatchError",
    "RowsCheck",
    "inspect_model",
    "load_model",
    "onnx_inputs",
    "save_model",
    "to_onnx",
    "written_atomically",
]
