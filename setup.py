"""Compile the loops, and shorten the README to what a package index can show.

    python setup.py build_ext --inplace --parallel 2

leaves the compiled loops beside their sources, where a checkout finds them.
"""

import re
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

CANNOT_COMPILE = """
granulearn is compiled with a C compiler and Python's headers; {missing} is missing. Install:
    Debian, Ubuntu    apt-get install gcc python3-dev
    Fedora            dnf install gcc python3-devel
    macOS             xcode-select --install
    Windows           Build Tools for Visual Studio
Wheels need none: pip install --only-binary granulearn granulearn
"""
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
}


class BuildLoops(build_ext):
    """Say what to install where there is no compiler."""

    def build_extensions(self):
        """Compile the loops."""
        compiler = getattr(self.compiler, "compiler_so", [None])[0]
        if compiler and shutil.which(compiler) is None:
            sys.exit(CANNOT_COMPILE.format(missing=compiler))
        if not Path(sysconfig.get_path("include"), "Python.h").exists():
            sys.exit(CANNOT_COMPILE.format(missing="Python.h"))
        super().build_extensions()


def loops():
    """Return one extension for each file of loops."""
    # Products and sums are rounded one by one, so that machines agree.
    options = [] if sys.platform == "win32" else ["-O3", "-g0", "-ffp-contract=off"]
    from Cython.Build import cythonize

    sources = sorted(Path("src").rglob("*.pyx"))
    names = [".".join(path.with_suffix("").parts[1:]) for path in sources]
    return cythonize(
        [
            Extension(name, [str(path)], extra_compile_args=options)
            for name, path in zip(names, sources, strict=True)
        ],
        include_path=["src"],
        build_dir="build/cython",
        compiler_directives=DIRECTIVES,
    )


def readme():
    """Return the README without what only a checkout has: its pictures and links to files."""
    text = Path("README.md").read_text(encoding="utf-8").partition("\n## Links")[0]
    text = re.sub(r"^!\[[^\]]*\]\([^)]*\)\n\n(\*.*?\n\n)?", "", text, flags=re.M | re.S)
    text = re.sub(r"\s\((\[[^\]]*\]\((?!https?:)[^)]*\)(,\s)?)+\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text)
    return f"{text}\n\nGuide, examples and results are in the archive of sources.\n"


if __name__ == "__main__":
    setup(
        ext_modules=loops(),
        cmdclass={"build_ext": BuildLoops},
        long_description=readme(),
        long_description_content_type="text/markdown",
    )
