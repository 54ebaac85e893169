"""Programs of which a policy must know more: those that run what they are told, and where programs are."""

INTERPRETERS = frozenset(
    (
        *("ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "rbash", "sh", "tcsh", "zsh"),
        *("awk", "expect", "gawk", "lua", "make", "mawk", "node", "perl", "php", "python", "ruby", "tclsh"),
        *("chroot", "doas", "env", "find", "ionice", "nice", "nohup", "nsenter", "pkexec", "runuser"),
        *("setpriv", "setsid", "ssh", "stdbuf", "su", "sudo", "systemd-run", "taskset", "timeout"),
        *("unshare", "xargs"),
    )
)
"""What they do is in their words, not in their names; without the number of a version at the end."""

_FOLDERS = {
    "/bin": ("sh", "bash"),
    "/usr/sbin": (
        *("condor_master", "condor_off", "condor_on", "condor_preen", "condor_reconfig", "condor_restart"),
        *("service", "sysctl", "ldconfig", "runuser", "chroot", "nginx", "sshd", "exportfs", "nft"),
    ),
}
_KNOWN = {name: f"{folder}/{name}" for folder, names in _FOLDERS.items() for name in names}


def place_of(name: str) -> str:
    """Where Debian's and HTCondor's own packages have a program: a guess, which somebody must confirm."""
    return _KNOWN.get(name, f"/usr/bin/{name}")
