"""What all tests share: property tests draw the same examples in every run."""

from hypothesis import settings

settings.register_profile("gitcfg", derandomize=True, deadline=None, database=None)
settings.load_profile("gitcfg")
