"""The folders of a repository and what they hold: the only list of them."""

SETTINGS = "gitcfg.yaml"
SIGNERS = "allowed_signers"
"""Who may sign commits, in ssh-keygen's format."""

LAYERS = ("features", "groups", "nodes", "nodesets", "overrides")
"""A file a definition, which binds parameters and brings files."""
SINGLES = (*LAYERS, "holds", "secrets", "allocations")
"""A file a definition, whose name is the file's; beside a secret's stands what it holds, encrypted."""
SHEETS = ("parameters", "subsystems", "rules")
"""Many definitions a file, by name below a key that is the folder's name."""
TEXTS = ("templates", "files")
"""Files of any content, known by their paths."""
FOLDERS = (*SHEETS, *SINGLES, *TEXTS, "keys")
"""All that gitcfg reads."""
