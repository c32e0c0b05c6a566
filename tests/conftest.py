"""Settings of the whole test run."""

from hypothesis import settings

# A busy machine is no reason to fail: nothing here is a promise about time.
settings.register_profile("granulearn", deadline=None)
settings.load_profile("granulearn")
