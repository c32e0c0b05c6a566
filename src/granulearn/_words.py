"""As `granulearn.utils.text`, until all rooms import it from there."""

from granulearn.utils.text import counted, quoted

__all__ = ["counted", "quoted"]
