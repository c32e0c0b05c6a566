"""Settings of the whole test run."""

import signal

from hypothesis import settings

# A busy machine is no reason to fail: nothing here is a promise about time.
settings.register_profile("granulearn", deadline=None)
settings.load_profile("granulearn")

# What runs in the background may have been started with Ctrl-C ignored, and every
# child inherits that. The tests that interrupt real processes need it heard.
signal.signal(signal.SIGINT, signal.default_int_handler)
