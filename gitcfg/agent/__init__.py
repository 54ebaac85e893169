"""The agent: the program on a node that asks its server what to run, and installs it.

It is also a wheel of its own. It imports the standard library, cryptography and, of gitcfg, only `install`.
The imports are relative, so that the code is the same under either name.
"""
