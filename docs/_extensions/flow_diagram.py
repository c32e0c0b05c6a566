"""Draw the flow of the stages from the import contract, as SVG that is part of its page.

The flow is the one that ARCHITECTURE.md states; other stages stand beside it. The order of all is
that of the layers in ``.importlinter``; what a stage uses is read from the import statements of
its files.
"""

import ast
import configparser
import re
from html import escape
from importlib import import_module
from pathlib import Path
from textwrap import wrap

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
WIDTH, FLOW_WIDTH, SIDE_WIDTH = 430, 236, 168
GAP, MARGIN, PADDING, LINE = 22, 4, 11, 16
SIZES = {"words": 12.5, "uses": 11.5}  # as in granulearn.css
LETTER = 0.56  # the width of a letter in the mean, of its size
WORDS = {
    "utils": "validation, files, threads",
    "preprocess": "columns become numbers",
    "tables": "a file becomes typed columns, and is written back untouched",
    "datasets": "named sets, noise to test with",
    "balls": "similar samples become balls, each with a membership",
    "rvfl": "random features, and weights in closed form",
    "forest": "trees of balls",
    "model_selection": "settings, a whole grid at once",
    "ensemble": "the robust classifier",
    "audit": "which labels are probably wrong, and how many",
    "review": "what a person decides, and the corrected table",
    "bench": "methods compared: studies, statistics, figures, reports",
    "models": "model files and ONNX",
    "dask": "all this on a cluster",
    "training": "from a table to a model with scores",
    "cli": "the command line",
}


def contract_of_flow(contract: Path = ROOT / ".importlinter") -> configparser.SectionProxy:
    """Return what the import linter is told about the stages."""
    parser = configparser.ConfigParser()
    parser.read_string(contract.read_text(encoding="utf-8"))
    return parser["importlinter:contract:flow"]


def layers() -> list[str]:
    """Return the stages in the order of the flow: none imports a later one."""
    return [line.strip("()") for line in reversed(contract_of_flow()["layers"].split())]


def ignored_imports() -> set[tuple[str, str]]:
    """Return the pairs of stages of imports that the contract ignores, made when they are used."""
    lines = contract_of_flow()["ignore_imports"].strip().splitlines()
    pairs = [[name.split(".")[1] for name in line.split(" -> ")] for line in lines]
    return {(first, second) for first, second in pairs}


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
    return {name for name in found - {stage} if (stage, name) not in ignored_imports()}


def chain(architecture: Path = ROOT / "ARCHITECTURE.md") -> list[str]:
    """Return the stages that a table goes through, as the architecture states them."""
    found = re.search(r"^```\n(\w+(?: -> \w+)+)\n```$", architecture.read_text("utf-8"), re.M)
    if found is None:
        raise ValueError(f"{architecture} states no flow: stages joined by ' -> '")
    return found[1].split(" -> ")


class Box:
    """The box of a stage: its name, what it does, and what it uses."""

    def __init__(self, stage: str, order: list[str], left: int, width: int):
        used = imported_stages(stage)
        uses = ", ".join(name for name in order if name in used) or "no other stage"
        self.stage, self.left, self.width = stage, left, width
        room = width - 2 * PADDING
        self._words = wrap(WORDS[stage], int(room / (LETTER * SIZES["words"])))
        self._uses = wrap(f"uses {uses}", int(room / (LETTER * SIZES["uses"])))
        self.height = 30 + LINE * (len(self._words) + len(self._uses)) + 6

    def draw(self, top: int) -> str:
        """Return the box as SVG; it leads to the reference where there is one."""
        x = self.left + PADDING
        lines = [("words", line) for line in self._words] + [("uses", line) for line in self._uses]
        texts = "".join(
            f'<text class="{kind}" x="{x}" y="{top + 38 + LINE * place}">{escape(line)}</text>'
            for place, (kind, line) in enumerate(lines)
        )
        shape = (
            f'<rect x="{self.left}" y="{top}" width="{self.width}" height="{self.height}" rx="8"/>'
            f'<text class="name" x="{x}" y="{top + 21}">{self.stage}</text>{texts}'
        )
        linked = getattr(import_module(f"granulearn.{self.stage}"), "__all__", None)
        return f'<a href="../api/{self.stage}.html">{shape}</a>' if linked else f"<g>{shape}</g>"


def arrow(top: int) -> str:
    """Return the arrow between two boxes, from this height down."""
    middle = MARGIN + FLOW_WIDTH // 2
    return f'<path d="M{middle} {top + 2} V{top + GAP - 8} m-5 0 h10 l-5 6 z"/>'


def flow_svg() -> str:
    """Return the drawing: the flow from the first stage to the last, the others beside it."""
    order, steps = layers(), chain()
    drawn, tops, top = [], {}, MARGIN
    for step in steps:
        box = Box(step, order, MARGIN, FLOW_WIDTH)
        tops[step] = top
        drawn += [box.draw(top)] if step == steps[0] else [arrow(top - GAP), box.draw(top)]
        top += box.height + GAP
    bottom, free = top - GAP, MARGIN
    for stage in order:
        if stage in steps:
            free = max(free, tops[stage])  # what may use a stage does not stand above it
            continue
        box = Box(stage, order, WIDTH - MARGIN - SIDE_WIDTH, SIDE_WIDTH)
        drawn.append(box.draw(free))
        free += box.height + GAP
    height = max(bottom, free - GAP) + MARGIN
    beside = ", ".join(stage for stage in order if stage not in steps)
    return (
        f'<svg class="drawing" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="The flow of '
        f'granulearn: {", ".join(steps)}. Beside it: {beside}.">\n'
        + "\n".join(drawn)
        + "\n</svg>\n"
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
