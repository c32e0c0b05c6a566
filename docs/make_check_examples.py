"""Write what `granulearn check` says about the two messy tables into the guide."""

import os
import re
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).parent / "guide" / "tables.md"
BLOCK = re.compile(r"(<!-- check (\S+) (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
FOLDER = Path(os.environ.get("GRANULEARN_DATA", Path(__file__).parents[2] / "shared" / "data"))


def said(file: str, target: str) -> str:
    """Return what the command prints, warnings last."""
    command = [sys.executable, "-m", "granulearn", "check", file, "--target", target]
    done = subprocess.run(command, cwd=FOLDER / "messy", capture_output=True, text=True, check=True)
    lines = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
    shown = "\n".join(lines)
    return f"```\n$ granulearn check {file} --target {target}\n{shown}\n```\n"


def with_examples(text: str) -> str:
    """Return the guide with both outputs as they are now."""
    return BLOCK.sub(lambda block: block[1] + said(block[2], block[3]) + block[4], text)


if __name__ == "__main__":
    GUIDE.write_text(with_examples(GUIDE.read_text(encoding="utf-8")), encoding="utf-8")
