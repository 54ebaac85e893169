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

MORE = "echo '  more: {forbid: {by: [bob], features: [\"Svc*\"]}}' >> rules/who.yaml"

INHERIT = "sed -i 's/features: ..Svc.../&, inherit: false/' rules/who.yaml"

OPEN, SHUT = "serve gitcfg.bypass '2999-01-01 test'", "serve --unset gitcfg.bypass"
EARLIER = """git switch -q --orphan old; put gitcfg.yaml 'format: 1'; save old; git switch -q main
git merge -q --allow-unrelated-histories -s ours -m joined old"""
LAW = ("services", "central", "law", "bots", "frozen", "gitcfg.yaml", "allowed_signers")
AGAIN = "git reset -q --hard origin/main"


BACK = "git rev-parse main~:"
"""The tree from before the last commit that was taken."""
TOPIC = "git switch -qc topic main~; put groups/web.yaml 'params: {HOST: y}'; as ann save topic"
"""A topic of somebody who may, about the same, that nobody has merged."""
ELSE = "git switch -qc else main~; as bob git commit -q --allow-empty -m else"
OURS = "as bob git merge -q --no-ff -s ours -m"


def evil(tree: str, *parents: str) -> str:
    """A merge of bob's that has a tree of his choice."""
    merged = " ".join(f"-p {one}" for one in parents)
    return f"git branch evil $(as bob git commit-tree -S -m evil {merged} $({tree}))"


def told(names: tuple[str, ...], who: str, rule: str) -> tuple[str, ...]:
    """That somebody may change none of some."""
    return tuple(f"{name} {who} {rule}" for name in names)


def twice(does: str, name: str, rule: str) -> Push:
    """What bob may not change, as who signs and as who pushes."""
    return push(
        f"{AGAIN}; {does}; as bob save one; by bob main",
        *told((name,), "bob@one", rule),
        *told((name,), "bob", rule),
    )


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
            *("HOST bob@three central", "HOST bob central"),
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
    "commits that another branch has taken, which demands the same": (
        push(f"{OPEN}; {MAIL}; as bob save one; by bob main:rel-1"),
        push(f"{SHUT}; by bob main", "SvcMail bob@one services", "SvcMail bob services"),
        push("by ann main", "SvcMail bob@one services"),
    ),
    "commits that the branch of HEAD has taken": (
        push(f"{OPEN}; {MAIL}; as bob save one; by bob main"),
        push(f"{SHUT}; by bob main:rel-1"),
        push("git switch -qc rel-2 main~; as ann git merge -q --no-ff -m two main; by bob rel-2"),
    ),
    "a branch that begins before there were rules": (
        push(f"{OPEN}; {EARLIER}; push main"),
        push(f"{SHUT}; by bob old:rel-1", *told(LAW, "bob", "law")),
        push("push old:rel-1"),
        push(f"git switch -q old; git checkout -q main -- .; {MAIL}; as bob save one; push old:rel-1"),
        push(
            "git switch -q main; as bob git merge -q -X theirs -m two old; push main",
            *told(LAW, "bob@one", "law"),
            *("HOST bob@one central", "SEALED bob@one frozen", "SvcMail bob@one services"),
            "SvcMail bob@two services",
        ),
    ),
    "a new branch beside one of HEAD that is not protected": (
        push(f"serve gitcfg.protected 'refs/heads/rel-*'; {MAIL}; as bob save one; by bob main"),
        push(
            "by ann main:rel-1",
            *told(LAW, "?@zero", "law"),
            *("HOST ?@zero central", "SEALED ?@zero frozen", "SEALED ann frozen"),
            "SvcMail bob@one services",
        ),
    ),
    "a branch that is rewound, and nobody says who pushes": (
        push(f"serve gitcfg.allowRewind true; {HOST}; as ann save one; push main"),
        push(
            f"git reset -q --hard HEAD~1; {PORT}; as bob save two; push -f main",
            "HOST bob@two central",
        ),
        push("as ann git commit -q --amend --no-edit; push -f main"),
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
    "a feature by other ways": (
        twice("put features/Base.yaml '{include: [SvcMail], params: {PORT: 1}}'", "SvcMail", "services"),
        twice("put groups/other.yaml 'features: [SvcMail]'", "SvcMail", "services"),
        twice("put nodes/web1.yaml '{groups: [web], features: [SvcMail]}'", "SvcMail", "services"),
        twice("put nodes/db1.yaml '{groups: [mail], without: [SvcMail]}'", "SvcMail", "services"),
        twice("put nodesets/s.yaml '{nodes: \"m[1-3]\", features: [SvcMail]}'", "SvcMail", "services"),
        twice(
            "put overrides/o.yaml '{nodes: db1, reason: x, until: 2999-01-01, without: [SvcMail]}'",
            "SvcMail",
            "services",
        ),
        twice("put features/SvcWeb.yaml 'description: Web.'", "SvcWeb", "services"),
        twice("ln -sf ../gitcfg.yaml features/SvcMail.yaml", "SvcMail", "services"),
        twice(
            "git rm -q features/SvcMail.yaml; git update-index --add --cacheinfo"
            " 160000,$(git rev-parse HEAD),features/SvcMail.yaml; mkdir features/SvcMail.yaml",
            "SvcMail",
            "services",
        ),
    ),
    "a parameter by other ways": (
        twice("sed -i 's/The host., type: string/&, default: x/' parameters/p.yaml", "HOST", "central"),
        twice("put features/Base.yaml 'params: {HOST: x, PORT: 1}'", "HOST", "central"),
        twice("put groups/other.yaml 'params: {HOST: x}'", "HOST", "central"),
        twice("put nodesets/s.yaml '{nodes: \"m[1-3]\", params: {HOST: x}}'", "HOST", "central"),
        twice(
            "put overrides/o.yaml '{where: \"true\", reason: x, until: 2999-01-01, params: {HOST: x}}'",
            "HOST",
            "central",
        ),
    ),
    "more of what somebody else gave": (
        push(
            "put nodesets/s.yaml '{nodes: \"m[1-3]\", features: [SvcMail], params: {HOST: x}}';"
            " as ann save zero; by ann main"
        ),
        push(
            "put nodesets/s.yaml '{nodes: \"m[1-4]\", features: [SvcMail], params: {HOST: x}}';"
            " as bob save one; by bob main",
            *("HOST bob@one central", "SvcMail bob@one services"),
            *("HOST bob central", "SvcMail bob services"),
        ),
        twice("put nodes/m1.yaml 'features: []'", "SvcMail", "services"),
    ),
    "what was decided for a rule": (
        push(
            "put rules/mail.yaml 'rules: {mail: {install: SvcMail, count: 1,"
            " where: node.name.startsWith(\"m\")}}'; put allocations/mail.yaml 'install: [m1]';"
            " put nodesets/s.yaml 'nodes: \"m[1-2]\"'; as ann save zero; by ann main"
        ),
        push(
            "put allocations/mail.yaml 'install: [m2]'; as bob save one; by bob main",
            *("SvcMail bob@one services", "mail bob@one law", "SvcMail bob services", "mail bob law"),
        ),
    ),
    "a format that nobody reads, and back": (
        push(
            f"cp gitcfg.yaml ..; put gitcfg.yaml 'format: 99'; as bob save one; {MAIL}; as bob save two;"
            " cp ../gitcfg.yaml .; as bob save three; push main",
            *(told(LAW[:-1], "bob@one", "law")),
            *("HOST bob@one central", "SEALED bob@one frozen", "SvcMail bob@one services"),
            *(told(LAW[:-1], "bob@three", "law")),
            *("HOST bob@three central", "SEALED bob@three frozen", "SvcMail bob@three services"),
        ),
    ),
    "settings that switch how a push is judged": (
        twice("echo 'signatures: require' >> gitcfg.yaml", "gitcfg.yaml", "law"),
        twice("sed -i 's/main, //' gitcfg.yaml", "gitcfg.yaml", "law"),
        twice("git rm -q allowed_signers", "allowed_signers", "law"),
        twice("ln -sf gitcfg.yaml allowed_signers", "allowed_signers", "law"),
        push(f"{AGAIN}; sed -i '1i # Who signs.' allowed_signers; as bob save two; by bob main"),
    ),
    "a link instead of the rules": (
        push(
            "ln -sf ../gitcfg.yaml rules/who.yaml; as bob save one; push main",
            *told(LAW[:5], "bob@one", "law"),
        ),
        push(
            f"{AGAIN}; git rm -rq rules; ln -s groups rules; as bob save two; push main",
            *told(LAW[:5], "bob@two", "law"),
        ),
    ),
    "a key that has expired": (
        push(
            "sed 's/^ann@example.org/& valid-before=\"20010101Z\"/' allowed_signers > ../signers;"
            f" serve gitcfg.allowedSigners $PWD/../signers; {HOST}; as ann save one; by ann main",
            "HOST ?@one central",
        ),
    ),
    "two names of one person": (
        push(
            "echo 'bob@example.org {ann}' | cat allowed_signers - > ../signers;"
            f" serve gitcfg.allowedSigners $PWD/../signers; {MAIL}; as ann save one; by ann main",
            "SvcMail bob@one services",
        ),
        push(f"{AGAIN}; {HOST}; as ann save two; by ann main"),
    ),
    "a name in another case": (
        push(f"{MAIL}; as ann save one; by BOB main", "SvcMail BOB services"),
        push("by Ann main"),
        push(f"{HOST}; as ann save two; by Ann main", "HOST Ann central"),
    ),
    "a signature of another commit": (
        push(
            f"{HOST}; as ann save one; git reset -q --hard $(git cat-file commit HEAD |"
            " sed 's/^one$/two/' | git hash-object -w -t commit --stdin); by ann main",
            "HOST ?@two central",
        ),
    ),
    "a bot that pushes for others": (
        push(f"{HOST}; as ann save one; by bot main", "HOST bot central", "web bot bots"),
        push(f"{AGAIN}; {PORT}; as ann save two; {MAIL}; as ann save three; by bot main"),
    ),
    "tags that are protected": (
        push(
            "serve --add gitcfg.protected refs/heads/main; serve --add gitcfg.protected 'refs/tags/v*';"
            f" {MAIL}; as bob save one; git tag v1; by bob v1",
            *("SvcMail bob@one services", "SvcMail bob services"),
        ),
        push("git tag -am two v2; by bob v2", *("SvcMail bob@one services", "SvcMail bob services")),
        push("git tag other; by bob other"),
    ),
    "a push by force, and a deletion": (
        push(f"{PORT}; as ann save one; by ann main"),
        push(
            "git reset -q --hard HEAD~1; as bob git commit -q --allow-empty -m two; by bob -f main", "rewound"
        ),
        push("by bob main~:refs/heads/rel-1"),
        push("by bob :rel-1", "deleted"),
    ),
    "a branch that is rewound by who may not": (
        push(f"serve gitcfg.allowRewind true; {HOST}; as ann save one; by ann main"),
        push("git reset -q --hard HEAD~1; by bob -f main", "HOST bob central"),
        push("by ann -f main"),
    ),
    "another name of a branch": (
        push(
            "git -C ../srv.git symbolic-ref refs/heads/other refs/heads/main;"
            f" {PORT}; as bob save zero; by bob main:other"
        ),
        push(
            f"{MAIL}; as bob save one; by bob main:other",
            *("SvcMail bob@one services", "SvcMail bob services"),
        ),
        push("as ann git commit -q --amend --no-edit; by ann main:other"),
    ),
    "an object that git says to read instead": (
        push(
            "git switch -qc side; sed -i /services/d rules/who.yaml; save side;"
            " push side; git -C ../srv.git replace main side"
        ),
        push(
            f"git switch -q main; {MAIL}; as bob save one; by bob main",
            *("SvcMail bob@one services", "SvcMail bob services"),
        ),
    ),
    "what stands at the server cannot be read": (
        push(
            "rules=$(git rev-parse HEAD:rules); rm -f ../srv.git/objects/${rules:0:2}/${rules:2};"
            f" {PORT}; as ann save one; by ann main",
            "broken",
        ),
    ),
    "rules that change while a push is judged": (
        push(
            "sed -i '$a : && [ $GITEA_PUSHER_NAME = ann ] || while ! [ -e done ]; do sleep 0.05; done'"
            " ../srv.git/hooks/pre-receive; sed -i '2s/exec //;2s/$/ || exit/' ../srv.git/hooks/pre-receive;"
            f" git switch -qc side; {PORT}; as bob save one; by bob side:main &"
            " git worktree add -q ../w main;"
            " cd ../w; echo '  new: {allow: {by: [ann], params: [PORT]}}' >> rules/who.yaml;"
            " as ann save two; by ann HEAD:main; touch ../srv.git/done; ! wait $!"
        ),
        push(
            "cd ../w; as bob git merge -q -m three side; by bob HEAD:main",
            *("PORT bob@one new", "PORT bob@three new", "PORT bob new"),
        ),
    ),
    "a merge of three that takes back what was taken, behind a topic about the same": (
        push(f"{HOST}; as ann save one; push main"),
        push(
            f"{TOPIC}; {ELSE}; {evil(BACK, 'main', 'topic', 'else')}; push evil:main",
            "HOST bob@evil central",
        ),
    ),
    "two merges that do": (
        push(f"{HOST}; as ann save one; push main"),
        push(
            f"{TOPIC}; {ELSE}; {OURS} two topic; {OURS} three main; push else:main",
            *("HOST bob@two central", "HOST bob@three central"),
        ),
    ),
    "merges that take back a rule about who merges": (
        push(f"{MORE}; as ann save one; push main"),
        push(
            f"git switch -qc topic main~; {MORE.replace('Svc', 'S')}; as ann save topic;"
            f" {ELSE}; {evil(BACK, 'main', 'topic', 'else')}; push evil:main",
            "more bob@evil law",
        ),
        push(
            f"{OURS} two topic; {OURS} three main; push else:main",
            *("more bob@two law", "more bob@three law"),
        ),
    ),
    "merges by who may not of what somebody set who may": (
        push(
            f"git switch -qc topic; {MORE}; {HOST}; as ann save one; git switch -q main;"
            f" {PORT}; as bob save two; as bob git merge -q --no-ff -m three topic; push main"
        ),
        push(
            "git switch -qc late main~; put templates/motd Late; as bob save four;"
            " as bob git merge -q -m five main; push late:main"
        ),
    ),
    "what includes a feature, and what its subsystem reads": (
        push(
            "put features/Web.yaml 'include: [SvcMail]'; put features/Desk.yaml 'include: [Web]';"
            " put features/Plain.yaml 'description: Plain.'; put subsystems/s.yaml 'subsystems:"
            " {mta: {description: It., params: [PORT], files: [/etc/motd], features: [Web]}}';"
            " as ann save zero; by ann main"
        ),
        push(f"{PORT}; as bob save one; push main", "PORT bob@one services"),
        twice("put features/Desk.yaml '{include: [Web], description: More.}'", "Desk", "services"),
        twice("put nodes/web1.yaml '{groups: [web], features: [Desk]}'", "Desk", "services"),
        twice("put templates/motd Hi", "/etc/motd", "services"),
        twice("sed -i 's/PORT/HOST/' subsystems/s.yaml", "mta", "services"),
        push(f"{AGAIN}; put features/Plain.yaml 'description: More.'; as bob save two; by bob main"),
        push(f"{INHERIT}; as ann save three; {PORT}; as bob save four; push main", "PORT bob@four services"),
        push("git reset -q --hard HEAD~; by ann main"),
        push(f"{PORT}; put features/Desk.yaml 'include: [Web]'; as bob save five; by bob main"),
    ),
    "an inclusion that comes or goes within the push": (
        push("put features/Web.yaml 'include: [SvcMail]'; as ann save zero; by ann main"),
        push(
            "put features/Web.yaml 'include: []'; as ann save one;"
            " put features/Web.yaml 'description: Web.'; as bob save two; push main",
            "Web bob@two services",
        ),
        push("git reset -q --hard HEAD~; push main"),
        push(
            "put features/Web.yaml 'description: Web.'; as bob save two;"
            " put features/Web.yaml '{description: Web., include: [SvcMail]}'; as ann save three; push main",
            "Web bob@two services",
        ),
        push("git reset -q --hard HEAD~; push main"),
        push(
            "put features/Web.yaml '{description: Web., include: [SvcMail]}'; as ann save three;"
            " put features/Web.yaml '{description: More., include: [SvcMail]}'; as bob save four;"
            " put features/Web.yaml 'description: More.'; as ann save five; push main"
        ),
    ),
    "an inclusion that another branch has": (
        push(
            "put features/Web.yaml $'description: Web.\n#\n#\n#\ninclude: []'; as ann save zero;"
            " by ann main; git switch -qc rel-1; sed -i 's/\\[]/[SvcMail]/' features/Web.yaml;"
            " as ann save one; by ann rel-1"
        ),
        push("git switch -q main; sed -i s/Web/More/ features/Web.yaml; as bob save two; by bob main"),
        push(
            "git switch -q rel-1; as ann git merge -q --no-ff -m three main; push rel-1",
            "Web bob@two services",
        ),
    ),
}
