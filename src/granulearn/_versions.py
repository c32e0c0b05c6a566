"""What granulearn runs with: system, packages and the libraries that start threads."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, requires, version

from granulearn._extras import EXTRAS

__all__ = ["show_versions"]


def show_versions() -> None:
    """Print what a report of a fault should say: versions, system, libraries with threads.

    Examples
    --------
    >>> import granulearn
    >>> granulearn.show_versions()
    granulearn ...
    <BLANKLINE>
    Packages
      ...
    Extras
      ...
    System:
      ...
    """
    import sklearn  # imported here: what starts the command line must be quick

    packages = [(name, _installed(name)) for name in required_packages()]
    extras = [
        (extra, ", ".join(f"{name} {_installed(name)}" for name in required_packages(extra)))
        for extra in EXTRAS
    ]
    lines = [f"granulearn {version('granulearn')}"]
    for title, facts in (("Packages", packages), ("Extras", extras)):
        lines += ["", title, *(f"  {name:<18}  {fact}" for name, fact in facts)]
    sys.stdout.write("\n".join(lines) + "\n")
    sklearn.show_versions()


def required_packages(extra: str | None = None) -> list[str]:
    """Return the packages that are installed with granulearn, or with one of its extras.

    Parameters
    ----------
    extra : str, default=None
        Whose packages; None means those of the plain install.
    """
    from packaging.requirements import Requirement

    def comes_with(requirement: Requirement, asked: str) -> bool:
        return requirement.marker is None or requirement.marker.evaluate({"extra": asked})

    stated = [Requirement(text) for text in requires("granulearn") or []]
    plain = [one.name for one in stated if comes_with(one, "")]
    if extra is None:
        return plain
    return [one.name for one in stated if comes_with(one, extra) and one.name not in plain]


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "is not installed"
