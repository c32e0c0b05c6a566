"""Save and load fitted models: skops files with a card and a digest.

The file is a zip archive: the tree and the arrays that skops writes, and
``granulearn.json`` with the card and a SHA-256 over everything else. The digest
shows that a file is not what was saved (damage, or an edit). It is no signature:
an attacker who makes a whole new file can compute a new digest. The list in
`trusted_types` is what keeps such a file from running code.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from granulearn.models.archives import (
    CARD_MEMBER,
    MOST_BYTES,
    SCHEMA_MEMBER,
    ArchiveError,
    check_archive,
    check_directory,
    check_references,
    check_text,
    chunks_of,
    read_json,
)
from granulearn.models.array_members import check_array_header
from granulearn.models.errors import ModelFileError
from granulearn.models.loaded_checks import check_card, check_loaded
from granulearn.models.loaded_model import LoadedModel
from granulearn.models.model_card import ColumnCard, ModelCard, installed_versions
from granulearn.models.predictors import check_predictor
from granulearn.models.skops_trees import PROTOCOL, rebuild
from granulearn.models.tree_writing import UnlistedTypes, packed, write_member, written_tree
from granulearn.models.trusted_types import TRUSTED_NAMES, untrusted_types
from granulearn.models.version_remarks import one_remark_on_versions
from granulearn.tables.schema import NUMBER, Column
from granulearn.utils.files import written_atomically

# 2: the card holds a schema, by which the cells of a file are read. 3: leaves of forests are in
# single precision, and the robust classifier has boosted trees. 4: lists of plain values are one
# node each. 5: the trees of a forest are a few long arrays.
FORMAT = 5


def save_model(
    pipeline: Any,
    path: str | os.PathLike,
    card: ModelCard | None = None,
    *,
    trusted: Sequence[str] = (),
) -> ModelCard:
    """Save a fitted classifier, regressor or pipeline so that `load_model` can read it safely.

    Parameters
    ----------
    pipeline : estimator
        A fitted classifier or regressor of granulearn, or a pipeline that ends in one.
    path : path
        The file to write; an existing one is replaced at once or not at all.
    card : ModelCard, default=None
        What to say about the model; the versions are filled in.
    trusted : sequence of str, default=()
        Full names of further types in the pipeline; `load_model` needs the same.

    Returns
    -------
    ModelCard
        The card as it was saved.

    Raises
    ------
    ModelFileError
        If the pipeline is, or holds, something that `load_model` would refuse.

    See Also
    --------
    granulearn.load_model : Reads the file again.
    granulearn.models.ModelCard : What the file says of the model.
    granulearn.models.to_onnx : The same model for other languages.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from granulearn import RVFLClassifier
    >>> from granulearn.models import load_model, save_model
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RVFLClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     card = save_model(model, Path(folder, "iris.skops"))
    ...     loaded = load_model(Path(folder, "iris.skops"))
    >>> loaded.pipeline.predict(X[:3]).tolist(), loaded.card == card
    ([0, 0, 0], True)
    """
    _check_are_names(trusted)
    archive = io.BytesIO(_archive_of(pipeline, trusted))
    try:
        check_predictor(pipeline, trusted)
        check_loaded(pipeline, trusted)
        check_card(pipeline, card or ModelCard())
    except Exception as error:  # attributes of a model may have been set to anything
        raise ModelFileError(f"{type(pipeline).__name__} cannot be saved: {error}") from error
    card = replace(card or ModelCard(), versions=installed_versions())
    card_content = _content_of(card)
    with zipfile.ZipFile(archive, "a") as members:
        header = {
            "format": FORMAT,
            "sha256": _digest(members, card_content),
            "card": card_content,
        }
        write_member(members, CARD_MEMBER, json.dumps(header, ensure_ascii=False))
    try:
        checked_content(archive, Path(path), trusted)
    except ModelFileError as error:
        said = str(error).partition("is refused: ")[2]
        raise ModelFileError(f"{type(pipeline).__name__} cannot be saved: {said}") from error
    with written_atomically(path) as draft:
        draft.write_bytes(archive.getbuffer())
    return ModelCard.from_json(card_content)


def check_card_fits(card: ModelCard) -> None:
    """Raise if a model with this card could not be saved: better now than after it was fitted.

    Parameters
    ----------
    card : ModelCard
        What is known of the model by then: its columns are most of any card.

    Raises
    ------
    ModelFileError
        If its table is too wide.
    """
    try:
        check_text(CARD_MEMBER, json.dumps(_content_of(card)).encode())
    except ArchiveError as error:
        raise ModelFileError(
            f"a model of {len(card.columns):,} columns cannot be saved ({error}); leave some out."
        ) from error


def _content_of(card: ModelCard) -> dict[str, Any]:
    """Return a card as a file has it."""
    # Through JSON, so that the card returned by `save_model` equals the one that will be read.
    content = json.loads(json.dumps(card.to_json()))
    _leave_out_defaults(content["columns"], asdict(ColumnCard("", "number")))
    _leave_out_defaults(content["schema"] or [], Column("", NUMBER).to_json())
    return content


def _leave_out_defaults(columns: list[dict[str, Any]], usual: dict[str, Any]) -> None:
    """Delete from columns, as JSON has them, what need not be said of them; wide tables have many.

    Parameters
    ----------
    columns : list of dict
        Columns of a card, or of a schema.
    usual : dict
        A column about which nothing is said but its name and its kind.
    """
    usual = {key: json.loads(json.dumps(value)) for key, value in usual.items()}
    for column in columns:
        for key in usual.keys() & column.keys() - {"name", "kind"}:
            if column[key] == usual[key]:
                del column[key]


def _archive_of(pipeline: Any, trusted: Sequence[str]) -> bytes:
    """Return the archive of a model, by skops where it holds types of the caller's own."""
    try:
        return packed(*written_tree(pipeline))
    except UnlistedTypes as error:
        unknown = [name for name in error.names if name not in trusted]
        if unknown:
            raise ModelFileError(
                f"{type(pipeline).__name__} holds {', '.join(unknown)}, which load_model would "
                "refuse; replace it (a random_state by a number, a function by a named "
                "membership or ball maker), or pass its name as trusted= here and to load_model."
            ) from None
        return _archive_by_skops(pipeline, trusted)
    except Exception as error:  # parts of an object may raise anything, or hold themselves
        raise ModelFileError(f"{type(pipeline).__name__} cannot be saved: {error}") from error


def _archive_by_skops(pipeline: Any, trusted: Sequence[str]) -> bytes:
    import skops.io

    try:
        content = skops.io.dumps(pipeline, compression=zipfile.ZIP_DEFLATED)
    except Exception as error:  # skops raises what the object's own parts raise
        raise ModelFileError(f"{type(pipeline).__name__} cannot be saved: {error}") from error
    with zipfile.ZipFile(io.BytesIO(content)) as members:
        schema = json.loads(members.read(SCHEMA_MEMBER))
    if schema["protocol"] != PROTOCOL:
        raise ModelFileError(
            f"skops {version('skops')} writes protocol {schema['protocol']!r}, and load_model "
            f"reads protocol {PROTOCOL}; install an earlier version of skops."
        )
    unknown = untrusted_types(schema, trusted)
    if unknown:
        raise ModelFileError(
            f"{type(pipeline).__name__} holds {', '.join(unknown)}, which load_model would "
            "refuse; pass its name as trusted= here and to load_model."
        )
    return content


def load_model(path: str | os.PathLike, *, trusted: Sequence[str] = ()) -> LoadedModel:
    """Load a model that `save_model` wrote; refuse anything else before it can run.

    Parameters
    ----------
    path : path
        The model file.
    trusted : sequence of str, default=()
        Full names of types to accept beyond those of granulearn and its pipelines.

    Returns
    -------
    LoadedModel
        It predicts rows as they come (``predict``, ``predict_proba``), says what they hold
        that training did not (``check``), and has a ``card`` and a ``pipeline``.

    Raises
    ------
    ModelFileError
        If the file is foreign, damaged, edited, names a type that is not listed, or
        holds no fitted classifier or regressor.

    See Also
    --------
    granulearn.models.save_model : Writes such a file.
    granulearn.models.LoadedModel : What is returned.
    granulearn.models.inspect_model : Looks into a file without loading its model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn import RVFLClassifier
    >>> from granulearn.models import load_model, save_model
    >>> model = RVFLClassifier(random_state=0).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save_model(model, Path(folder, "model.skops"))
    ...     load_model(Path(folder, "model.skops")).pipeline.predict([[5.5]]).tolist()
    ['b']
    """
    _check_are_names(trusted)
    file = Path(path)
    with opened(file) as content:
        checked = checked_content(content, file, trusted)
        try:
            with one_remark_on_versions(file, checked.card.versions):
                pipeline = _loaded(content, checked, trusted)
            check_predictor(pipeline, trusted)
            check_loaded(pipeline, trusted)
            check_card(pipeline, checked.card)
        except MemoryError as error:
            said = "it needs more memory than there is."
            raise ModelFileError(f"{file} is refused: {said}") from error
        except Exception as error:  # a forged file may raise anything; it is refused
            raise ModelFileError(f"{file} is refused: {error}") from error
    return LoadedModel(pipeline, checked.card)


def _check_are_names(trusted: Any) -> None:
    """Raise unless types to trust are a list of names: the letters of one text are none."""
    listed = isinstance(trusted, Collection) and not isinstance(trusted, str)
    if not listed or not all(isinstance(name, str) for name in trusted):
        raise TypeError(
            f"trusted is a list of names, such as ['module.Class'], and not {trusted!r}."
        )


def opened(file: Path) -> BinaryIO:
    """Return a model file, open for reading; raise `ModelFileError` if it cannot be one.

    It is read where it is needed: a large one is never in memory beside its own arrays.

    Parameters
    ----------
    file : Path
        The model file.
    """
    if not file.is_file():
        raise ModelFileError(f"{file} is not a file; check the path of the model.")
    if file.stat().st_size > MOST_BYTES:
        raise ModelFileError(f"{file} is refused: it is larger than any model.")
    return file.open("rb")


def _loaded(content: BinaryIO, checked: CheckedContent, trusted: Sequence[str]) -> Any:
    if checked.others:
        import skops.io

        content.seek(0)
        return skops.io.loads(content.read(), trusted=[*TRUSTED_NAMES, *trusted])
    with zipfile.ZipFile(content) as members:
        return rebuild(checked.schema, members)


class CheckedContent(NamedTuple):
    """What a model file holds, before any of it is rebuilt."""

    schema: dict[str, Any]
    """The tree of nodes."""
    card: ModelCard
    digest: str
    others: list[str]
    """Types that are not listed, which the caller answers for."""


def checked_content(content: BinaryIO, file: Path, trusted: Sequence[str] = ()) -> CheckedContent:
    """Return the tree of nodes and the card, after all checks that build no object.

    Parameters
    ----------
    content : file object
        The file, open for reading.
    file : Path
        Its name, for messages.
    trusted : sequence of str, default=()
        As for `load_model`.
    """
    try:
        n_bytes = content.seek(0, os.SEEK_END)
        check_directory(content, n_bytes)
        with zipfile.ZipFile(content) as members:
            check_archive(members, n_bytes)
            sizes = {entry.filename: entry.file_size for entry in members.infolist()}
            if CARD_MEMBER not in sizes or SCHEMA_MEMBER not in sizes:
                raise ModelFileError(
                    f"{file} was not written by granulearn: it has no {CARD_MEMBER}; "
                    "use a file that `granulearn fit` or save_model made."
                )
            header = read_json(members, CARD_MEMBER)
            if header["format"] != FORMAT:
                raise ModelFileError(
                    f"{file} has format {repr(header['format'])[:40]}, and this version reads "
                    f"format {FORMAT}; install the granulearn that made it, or fit again."
                )
            schema = read_json(members, SCHEMA_MEMBER)
            if schema["protocol"] != PROTOCOL:
                # Nodes of other protocols may name what they load where no check looks.
                raise ModelFileError(
                    f"{file} was saved by another version of skops (protocol "
                    f"{schema['protocol']!r}, here {PROTOCOL}); install that version, or fit again."
                )
            # This comes before the digest, so that the message names a foreign type.
            others = untrusted_types(schema)
            unknown = [name for name in others if name not in trusted]
            if unknown:
                raise ModelFileError(
                    f"{file} is refused: it names {', '.join(unknown)}, which is no part of a "
                    "granulearn model; nothing of it was run. Do not use this file."
                )
            check_references(schema, sizes)
            if header["sha256"] != _digest(members, header["card"], look=True):
                raise ModelFileError(
                    f"{file} is refused: its content does not match its digest, so it was damaged "
                    "or edited after it was saved; fetch it again or fit again."
                )
            return CheckedContent(schema, _card_of(header["card"]), header["sha256"], others)
    except zipfile.BadZipFile as error:
        raise ModelFileError(
            f"{file} is not a granulearn model file ({_first_bytes(content)}); nothing was loaded. "
            "Use a file that `granulearn fit` or save_model made."
        ) from error
    except ModelFileError:
        raise
    except ArchiveError as error:
        raise ModelFileError(f"{file} is refused: {error}.") from error
    except Exception as error:  # a forged file may raise anything; it is refused
        raise ModelFileError(f"{file} is refused: its card or tree is damaged.") from error


def _card_of(content: Any) -> ModelCard:
    try:
        return ModelCard.from_json(content)
    except TypeError as error:
        raise ArchiveError(str(error)) from error


def _digest(members: zipfile.ZipFile, card: Any, *, look: bool = False) -> str:
    """Return the SHA-256 over the card and every other member, name by name.

    To open a member is what takes time, so headers of arrays are looked at on the way, if asked.
    """
    digest = hashlib.sha256(json.dumps(card, sort_keys=True).encode())
    for name in sorted(members.namelist()):
        if name != CARD_MEMBER:
            entry, start = members.getinfo(name), b""
            digest.update(f"\n{name} {entry.file_size}\n".encode())
            for piece in chunks_of(members, name):
                if look and not start and name != SCHEMA_MEMBER:
                    check_array_header(entry, piece)
                start = start or piece
                digest.update(piece)
    return digest.hexdigest()


def _first_bytes(content: BinaryIO) -> str:
    """Return what a file that is no model file looks like, in words."""
    content.seek(0)
    first = content.read(2)
    if not first:
        return "it is empty"
    if first[:1] == b"\x80":
        return "it looks like a pickle, which is never loaded"
    if first == b"PK":
        return "it is a damaged zip archive"
    return "it is no zip archive"
