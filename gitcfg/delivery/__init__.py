"""What is handed to a node: its configuration at a commit, and what must happen when it takes another one."""

from gitcfg.delivery.configuration import configuration, consequences
from gitcfg.delivery.document import Configuration
from gitcfg.delivery.revealing import revealed_files
from gitcfg.delivery.steps import Steps, steps

__all__ = ["Configuration", "Steps", "configuration", "consequences", "revealed_files", "steps"]
