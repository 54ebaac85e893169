"""The program on a node: asks its server what to run, and puts it in force. Also a wheel of its own.

Standard library and cryptography; of gitcfg only `install`, by relative imports, so that it is the same code
under either name.
"""
