"""The pages of the documentation as they are written, and the blocks of code in them."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_MADE = {"_build", "api", "gallery"}
_BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_OUTPUT = re.compile(r"^```sh\n([^`]*)^```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """Return all pages in Markdown, those of the root included."""
    written = [page for page in DOCS.rglob("*.md") if not _MADE & set(page.relative_to(DOCS).parts)]
    return sorted([*ROOT.glob("*.md"), *written])


def blocks(*languages: str) -> Iterator[tuple[str, str]]:
    """Yield the page and the text of every block in one of the languages."""
    for page in pages():
        for language, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
            if language in languages:
                yield str(page.relative_to(ROOT)), text


def outputs() -> Iterator[tuple[str, str, str]]:
    """Yield the page, the command and what it says, of every block that shows it."""
    for page in pages():
        for commands, said in _OUTPUT.findall(page.read_text(encoding="utf-8")):
            yield str(page.relative_to(ROOT)), commands.splitlines()[-1], said
