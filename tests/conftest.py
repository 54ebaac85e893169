"""What all tests share: property tests draw the same examples in every run."""

import os
import signal

from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell makes what it runs in the background deaf to it; the programs that tests interrupt are not.
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as nohup leaves it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

os.environ["GITCFG_PROGRESS"] = "never"  # else a slow machine prints more than a quick one

settings.register_profile("gitcfg", derandomize=True, deadline=None, database=None)
settings.load_profile("gitcfg")
