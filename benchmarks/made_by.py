"""The commands that make a page of results, as the page states them."""

from collections.abc import Sequence


def made_by(script: str, studies: Sequence[str], name: str, page: str, options: str = "") -> str:
    """Return the lines of a page that say how it was made, to be typed as they stand.

    Parameters
    ----------
    script : str
        File of this folder that writes the page.
    studies : sequence of str
        Studies whose results it reads.
    name : str
        Name of the result file, without folder and end.
    page : str
        Name of the page, without folder and end.
    options : str, default=""
        Further arguments of the script.
    """
    store = f"out/{name}.db"
    commands = [
        *(f"GRANULEARN_DATA=DIRECTORY granulearn bench {study} --results {store}"
          for study in studies),
        f"python benchmarks/{script} {store} docs/results/{page}.md {options}".rstrip(),
    ]  # fmt: skip
    return "\n".join(["Made by:", "", "```", *commands, "```"])
