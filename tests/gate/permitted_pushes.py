"""Pushes that rules about who may change what judge, as data: what is done, and what is said of it.

ann, bob and bot sign as NAME@example.org, and have accounts on the server by their names. `told` are the
findings, each as what nobody but others may change, who it is charged to, and by which rule.
"""

import msgspec

RULES = """\
rules:
  services: {forbid: {by: ["bob@*", bob], features: ["Svc*"]}}
  central: {allow: {by: ["ann@*", ann], params: [HOST]}}
  law: {allow: {by: ["ann@*", ann], rules: ["*"]}}
  bots: {forbid: {by: ["bot@*", bot], groups: [web], nodes: ["db*"], files: [/etc/motd]}}
  frozen: {forbid: {by: ["*"], secrets: ["root*"], params: [SEALED]}}
"""
FILES = {
    "rules/who.yaml": RULES,
    "parameters/p.yaml": """\
parameters:
  HOST: {description: The host., type: string}
  PORT: {description: The port., type: integer}
  SEALED: {description: Nobody changes it., type: string}
""",
    "features/SvcMail.yaml": "description: Mail.\n",
    "features/Base.yaml": "description: All.\nparams: {PORT: 1}\n",
    "groups/web.yaml": "features: [Base]\nfiles: {/etc/motd: {template: motd}}\n",
    "groups/mail.yaml": "features: [SvcMail]\n",
    "templates/motd": "Hello.\n",
    "nodes/web1.yaml": "groups: [web]\n",
    "nodes/db1.yaml": "groups: [mail]\n",
}


class Push(msgspec.Struct, frozen=True):
    """What is done before it, and as whom it is pushed, and who may not change what: nothing, if it is taken.

    Each thing that is told is `NAME WHO RULE`; WHO is `SIGNER@COMMIT`, `?@COMMIT` or the pusher.
    """

    does: str
    told: tuple[str, ...] = ()


def push(does: str, *told: str) -> Push:
    return Push(does, told)


PORT = "put features/Base.yaml 'params: {PORT: 2}'"
MAIL = "put features/SvcMail.yaml 'params: {PORT: 2}'"
HOST = "put groups/web.yaml '{features: [Base], params: {HOST: x}, files: {/etc/motd: {template: motd}}}'"

CASES: dict[str, tuple[Push, ...]] = {
    "what no rule names": (push(f"{PORT}; as bob save one; by bob main"),),
    "what he may not": (
        push(f"{MAIL}; as bob save one; by bob main", "SvcMail bob@one services", "SvcMail bob services"),
        push("as ann git commit -q --amend --no-edit; by bob main", "SvcMail bob services"),
        push("by ann main"),
    ),
    "Bill pushes Alice's signed branch": (
        push(f"git switch -qc side; {HOST}; as ann save one; by bob side:main", "HOST bob central"),
        push("by ann side:main"),
    ),
    "Alice pushes Bill's branch": (push(f"{HOST}; as bob save one; by ann main", "HOST bob@one central"),),
    "nobody signs": (
        push(f"{HOST}; save one; by ann main", "HOST ?@one central"),
        push(f"git reset -q --hard origin/main; {PORT}; save two; by ann main"),
        push(
            "put features/SvcMail.yaml 'params: {SEALED: x}'; save three; by ann main",
            "SEALED ?@three frozen",
            "SEALED ann frozen",
        ),
    ),
    "a key that nobody knows": (push(f"{HOST}; as eve save one; by ann main", "HOST ?@one central"),),
    "a server that does not name who pushes": (
        push(f"{MAIL}; as bob save one; push main", "SvcMail bob@one services"),
        push("as ann git commit -q --amend --no-edit; push main"),
    ),
    "a server whose administrator says who names who pushes": (
        push(f"serve gitcfg.pusher WHO; {HOST}; as ann save one; by ann main", "HOST ? central"),
        push("WHO=bob by ann main", "HOST bob central"),
        push("WHO=ann by bob main"),
    ),
    "a merge of two that may": (
        push(
            f"git switch -qc side; {HOST}; as ann save one; git switch -q main; {PORT}; as bob save two;"
            " as bot git merge -q --no-ff -m three side; by ann main"
        ),
    ),
    "a merge that changes something on its own": (
        push(
            f"git switch -qc side; {PORT}; as ann save one; git switch -q main;"
            " put nodes/db1.yaml 'labels: [x]\n"
            "groups: [mail]'; as ann save two; as bot git merge -q --no-ff --no-commit side;"
            " put nodes/db1.yaml 'labels: [y]\ngroups: [mail]'; as bot save three; by ann main",
            "db1 bot@three bots",
        ),
    ),
    "a merge that takes one side and drops the other": (
        push(f"{HOST}; as ann save one; by ann main"),
        push(
            "git switch -qc side HEAD~1; as bob git commit -q --allow-empty -m two;"
            " as bob git merge -q -s ours -m three main; by bob side:main",
            "HOST bob central",
        ),
    ),
    "a merge that drops the other, and nobody says who pushes": (
        push(f"{HOST}; as ann save one; push main"),
        push(
            f"git switch -qc side HEAD~1; {PORT}; as bob save two;"
            " as bob git merge -q --no-ff -m three main; push side:main"
        ),
        push(
            "git switch -qc late main~1; as bob git commit -q --allow-empty -m four;"
            " as bob git merge -q -s ours -m five origin/main; push late:main",
            "HOST bob@five central",
        ),
    ),
    "a squash": (
        push(
            f"git switch -qc side; {HOST}; as ann save one; {PORT}; as ann save two; git switch -q main;"
            " git merge -q --squash side; as bob save three; by ann main",
            "HOST bob@three central",
        ),
        push("as ann git commit -q --amend --no-edit; by ann main"),
    ),
    "a bot": (
        push(f"{PORT}; as bot save one; by bot main"),
        push(
            "put nodes/db2.yaml 'groups: [mail]'; as bot save two; by bot main",
            "db2 bot@two bots",
            "db2 bot bots",
        ),
        push(
            "git reset -q --hard origin/main; put templates/motd Hi; as bot save three; by bot main",
            "/etc/motd bot@three bots",
            "/etc/motd bot bots",
        ),
        push(
            "git reset -q --hard origin/main; put nodes/n1.yaml 'groups: [web]';"
            " as bot save four; by bot main",
            "web bot@four bots",
            "web bot bots",
        ),
    ),
    "a rename that hides a change": (
        push(
            "git mv features/SvcMail.yaml features/Post.yaml; put features/Post.yaml 'params: {PORT: 3}';"
            " put groups/mail.yaml 'features: [Post]'; as bob save one; by bob main",
            "SvcMail bob@one services",
            "SvcMail bob services",
        ),
        push(
            "git reset -q --hard origin/main; mkdir features/x; git mv features/SvcMail.yaml features/x;"
            " as bob save two; by bob main"
        ),
        push(
            "put features/x/SvcMail.yaml '# All of it.\ndescription: Mail.'; as bob save three; by bob main"
        ),
    ),
    "a change that is taken back within the push": (
        push(
            f"{MAIL}; as bob save one; git revert --no-commit HEAD; as bob save two; by bob main",
            "SvcMail bob@one services",
            "SvcMail bob@two services",
        ),
    ),
    "a change that somebody else takes back": (
        push(
            f"{MAIL}; as bob save one; git revert --no-commit HEAD; as ann save two; by ann main",
            "SvcMail bob@one services",
        ),
    ),
    "rules about rules": (
        push(
            "sed -i /services/d rules/who.yaml; as bob save one; by bob main",
            "services bob@one law",
            "services bob law",
        ),
        push("as ann git commit -q --amend --no-edit; by ann main"),
        push(f"{MAIL}; as bob save two; by bob main"),
    ),
    "a rule that the push itself takes away": (
        push(
            f"sed -i /services/d rules/who.yaml; as ann save one; {MAIL}; as bob save two; by ann main",
            "SvcMail bob@two services",
        ),
    ),
    "a rule that the push itself brings": (
        push(
            f"echo '  new: {{allow: {{by: [ann], params: [PORT]}}}}' >> rules/who.yaml; as ann save one;"
            f" {PORT}; as bob save two; by ann main"
        ),
        push(
            "put features/Base.yaml 'params: {PORT: 3}'; as bob save three; by bob main",
            "PORT bob@three new",
            "PORT bob new",
        ),
    ),
    "settings and signers": (
        push(
            "echo 'ratchet: true' >> gitcfg.yaml; as bob save one; by bob main",
            "gitcfg.yaml bob@one law",
            "gitcfg.yaml bob law",
        ),
        push(
            "git reset -q --hard origin/main; echo 'eve@example.org {eve}' >> allowed_signers;"
            " as bob save two;"
            " by bob main",
            "allowed_signers bob@two law",
            "allowed_signers bob law",
        ),
        push("as ann git commit -q --amend --no-edit; by ann main"),
    ),
    "what nobody may": (
        push(
            "put secrets/root.yaml 'for: \"true\"\nversion: 1\nrecipients: [age1x]';"
            " as ann save one; by ann main",
            "root ann@one frozen",
            "root ann frozen",
        ),
    ),
    "a branch that is not protected": (push(f"{MAIL}; as bob save one; by bob main:topic"),),
    "a new branch that is": (
        push(
            f"{MAIL}; as bob save one; by bob main:rel-1", "SvcMail bob@one services", "SvcMail bob services"
        ),
    ),
    "commits that another branch has, which demands the same": (
        push(f"serve gitcfg.bypass '2999-01-01 test'; {MAIL}; as bob save one; by bob main:rel-1"),
        push("serve --unset gitcfg.bypass; by bob main", "SvcMail bob services"),
        push("by ann main"),
    ),
    "rules that cannot be read": (
        push(
            "serve gitcfg.bypass '2999-01-01 test'; put rules/who.yaml 'rules: [';"
            " as ann save one; by ann main"
        ),
        push(
            "serve --unset gitcfg.bypass; git checkout -q HEAD~1 -- rules; as ann save two; by ann main",
            "unreadable",
        ),
    ),
}
