"""Draw the flow of the stages from the import contract, as SVG that is part of its page.

The order of the boxes is that of the layers in ``.importlinter``; what a stage uses is read from
the import statements of its files.
"""

import ast
import configparser
import inspect
from html import escape
from importlib import import_module
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
WIDTH, BOX, GAP, MARGIN = 430, 62, 22, 4


def layers(contract: Path = ROOT / ".importlinter") -> list[str]:
    """Return the stages in the order of the flow: none imports a later one."""
    parser = configparser.ConfigParser()
    parser.read_string(contract.read_text(encoding="utf-8"))
    lines = parser["importlinter:contract:flow"]["layers"].split()
    return [line.strip("()") for line in reversed(lines)]


def imported_stages(stage: str, source: Path = ROOT / "src" / "granulearn") -> set[str]:
    """Return the other stages that the files of a stage import, anywhere in their text."""
    found = set()
    for path in (source / stage).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
                if node.module == source.name:
                    names = [f"{source.name}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            parts = [name.split(".") for name in names]
            found |= {part[1] for part in parts if part[0] == source.name and len(part) > 1}
    return found - {stage}


def box(stage: str, place: int, order: list[str]) -> str:
    """Return the box of a stage, with what it is and what it uses."""
    top = MARGIN + place * (BOX + GAP)
    package = import_module(f"granulearn.{stage}")
    words = (inspect.getdoc(package) or "").split("\n")[0].rstrip(".")
    used = imported_stages(stage)
    uses = ", ".join(name for name in order if name in used) or "no other stage"
    shape = (
        f'<rect x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{BOX}" rx="8"/>'
        f'<text class="name" x="16" y="{top + 21}">{stage}</text>'
        f'<text class="words" x="16" y="{top + 38}">{escape(shortened(words))}</text>'
        f'<text class="uses" x="16" y="{top + 54}">uses {shortened(uses)}</text>'
    )
    linked = getattr(package, "__all__", None)
    return f'<a href="../api/{stage}.html">{shape}</a>' if linked else f"<g>{shape}</g>"


def shortened(words: str, most: int = 60) -> str:
    """Return a text that fits into a box."""
    return words if len(words) <= most else words[: most - 1].rsplit(" ", 1)[0] + " …"


def arrow(place: int) -> str:
    """Return the arrow from the box of a stage to the next one."""
    top = MARGIN + place * (BOX + GAP) + BOX
    middle = WIDTH // 2
    return f'<path d="M{middle} {top + 2} V{top + GAP - 8} m-5 0 h10 l-5 6 z"/>'


def flow_svg() -> str:
    """Return the drawing of all stages, from the first one to the last."""
    order = layers()
    boxes = "\n".join(box(stage, place, order) for place, stage in enumerate(order))
    arrows = "\n".join(arrow(place) for place in range(len(order) - 1))
    height = 2 * MARGIN + len(order) * BOX + (len(order) - 1) * GAP
    return (
        f'<svg class="drawing" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="The stages of granulearn, from the first to the last: {", ".join(order)}">\n'
        f"{boxes}\n{arrows}\n</svg>\n"
    )


def write_drawing(app: Sphinx) -> None:
    """Write the drawing beside the page that shows it."""
    path = Path(app.srcdir) / "inside" / "flow.svg"
    path.parent.mkdir(exist_ok=True)
    path.write_text(flow_svg(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw before pages are read."""
    app.connect("builder-inited", write_drawing, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
