"""The pages as a real server gives them: who may see what, and what a browser is told about it."""

import http.client
from urllib.parse import quote, urlsplit

import pytest

from gitcfg.load.keys import fingerprint
from gitcfg.web.page import POLICY, load_assets
from tests.server.agent import Node
from tests.server.site import GITCFG, run, until
from tests.web.pages import Read, accessible
from tests.web.place import DOMAIN, DRIFTS, FAILS, NASTY, SECOND, Place, cookie_of, csrf

GUARDED = (
    "/",
    "/nodes/x",
    "/nodes/x/history",
    "/commits",
    "/commits/abc",
    "/commits/abc/files/gitcfg.yaml",
    "/releases",
    "/search?q=a",
)
SIGNS = NASTY.replace("\u202e", "\\u202e")


@pytest.fixture(scope="module")
def looks(place: Place) -> str:
    return place.logged_in(place.read)


@pytest.fixture(scope="module")
def operates(place: Place) -> str:
    return place.logged_in(place.operate)


def read(place: Place, target: str, cookie: str) -> Read:
    answer = place.ask(target, cookie)
    assert answer.status == 200, answer.text
    assert "\u202e" not in answer.text
    found = Read(answer.text)
    accessible(found)
    return found


@pytest.mark.parametrize("target", GUARDED)
def test_who_has_not_logged_in_is_asked_to(place: Place, target: str) -> None:
    for cookie in ("", "gitcfg=", "gitcfg=" + "A" * 43, "gitcfg=" + "A" * 3000, f"gitcfg={place.read}"):
        answer = place.ask(target, cookie)
        assert (answer.status, answer.text) == (303, "")
        assert answer.headers["Location"] == f"/login?onward={quote(target, safe='')}"


@pytest.mark.parametrize("target", ["/login", "/", "/nodes/nobody", "/nowhere"])
def test_browsers_are_told_to_do_nothing_but_show(place: Place, looks: str, target: str) -> None:
    answer = place.ask(target, "" if target == "/login" else looks)
    assert answer.headers["Content-Security-Policy"] == POLICY
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    Read(answer.text)


def test_assets_are_kept_for_ever_and_only_under_their_digests(place: Place) -> None:
    for one in load_assets().values():
        answer = place.ask(one.url)
        assert (answer.status, answer.text.encode()) == (200, one.body)
        assert "immutable" in answer.headers["Cache-Control"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    for name in ("style.css", "..%2fpage.py", "style.0000000000000000.css"):
        assert place.ask(f"/assets/{name}").status == 404


def test_a_session_is_a_cookie_that_nobody_else_gets(place: Place) -> None:
    form = place.ask("/login")
    said = {"csrf": csrf(form.text), "token": place.read, "onward": "/releases"}
    answer = place.ask("/login", cookie_of(form), said)
    assert (answer.status, answer.headers["Location"]) == (303, "/releases")
    cookie = str(answer.headers["Set-Cookie"])
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie  # it is no TLS
    assert place.read not in cookie
    assert cookie.startswith("gitcfg=")
    assert place.ask("/", cookie_of(answer)).status == 200
    known = cookie_of(form).partition("=")[2]
    assert known not in cookie
    assert place.ask("/", f"gitcfg={known}").status == 303


def test_who_has_logged_in_stays_so_whatever_leads_here(place: Place, looks: str) -> None:
    assert place.ask("/login?onward=/commits", looks).headers["Location"] == "/commits"
    answer = place.ask("/releases?a=%22b", headers={"Sec-Fetch-Site": "cross-site"})  # no cookie is said then
    assert (answer.status, answer.headers["Set-Cookie"]) == (200, None)
    refresh = [said for said in Read(answer.text).all("meta") if said.get("http-equiv") == "refresh"]
    assert refresh[0]["content"] == "0; url=/releases?a=%22b"
    form = place.ask("/login")
    assert cookie_of(place.ask("/login", cookie_of(form))) == cookie_of(form)  # in a second window, too


def test_over_tls_the_cookie_is_for_tls_alone(place: Place) -> None:
    tls = {"X-Forwarded-Proto": "https"}
    form = place.ask("/login", headers=tls)
    assert str(form.headers["Set-Cookie"]).startswith("__Host-gitcfg-login=")
    said = {"csrf": csrf(form.text), "token": place.read, "onward": "/"}
    answer = place.ask("/login", cookie_of(form), said, tls)
    assert answer.status == 303
    assert "Secure" in str(answer.headers["Set-Cookie"]).split("; ")
    assert place.ask("/", cookie_of(answer), headers=tls).status == 200
    assert place.ask("/", cookie_of(answer)).status == 303


@pytest.mark.parametrize(
    "token", ["", "wrong", "gitcfg_" + "A" * 43, "gitcfg_" + "A" * 3000, "gitcfg_\0'\"--"]
)
def test_nobodys_token_opens_nothing(place: Place, token: str) -> None:
    form = place.ask("/login")
    answer = place.ask("/login", cookie_of(form), {"csrf": csrf(form.text), "token": token, "onward": "/"})
    assert answer.status == 403
    assert "The token is not valid" in answer.text
    assert place.ask("/", cookie_of(answer)).status == 303


@pytest.mark.parametrize(
    "onward",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "/\r\nX: y",
        "/ü",
        "",
    ],
)
def test_who_has_logged_in_stays_here(place: Place, onward: str) -> None:
    form = place.ask(f"/login?onward={quote(onward)}")
    assert 'name="onward" value="/"' in form.text
    said = {"csrf": csrf(form.text), "token": place.read, "onward": onward}
    assert place.ask("/login", cookie_of(form), said).headers["Location"] == "/"


def test_a_form_of_another_site_does_nothing(place: Place, operates: str) -> None:
    steer = f"/releases/{place.commits[1]}/resume"
    good = csrf(place.ask("/releases", operates).text)
    other = csrf(place.ask("/releases", place.logged_in(place.operate)).text)
    assert good != other
    for form in ({}, {"csrf": ""}, {"csrf": other}, {"csrf": "ü"}):
        for target in (steer, "/logout"):
            assert place.ask(target, operates, form).status == 403
    assert place.ask(steer, operates, {"csrf": good}, {"Sec-Fetch-Site": "cross-site"}).status == 403
    assert place.ask(steer, "", {"csrf": good}).headers["Location"] == "/login"
    assert place.ask("/login", "", {"csrf": good, "token": place.read}).status == 403
    json = place.ask(steer, operates, {"csrf": good}, {"Content-Type": "application/json"})
    assert json.status == 400
    assert place.ask(steer, operates).status == 405  # looking changes nothing
    assert place.ask("/", operates).status == 200
    assert "halted" in place.ask("/releases", operates).text


def test_a_cookie_is_nothing_to_the_interface_for_programs(place: Place, operates: str) -> None:
    for target in ("/v1/nodes", "/v1/releases", "/metrics"):
        assert place.ask(target, operates).status == 401
    assert place.ask(f"/v1/releases/{place.commits[1]}/resume", operates, {"csrf": "x"}).status == 401


def test_who_may_look_cannot_steer(place: Place, looks: str) -> None:
    page = place.ask("/releases", looks)
    assert "/resume" not in page.text
    for what in ("resume", "abort"):
        answer = place.ask(f"/releases/{place.commits[1]}/{what}", looks, {"csrf": csrf(page.text)})
        assert answer.status == 403
        assert "role operate" in answer.text
    assert "halted" in place.ask("/releases", looks).text


def test_who_logs_out_is_out(place: Place) -> None:
    cookie = place.logged_in(place.read)
    answer = place.ask("/logout", cookie, {"csrf": csrf(place.ask("/", cookie).text)})
    assert (answer.status, answer.headers["Location"]) == (303, "/login")
    assert "Max-Age=0" in str(answer.headers["Set-Cookie"])
    assert place.ask("/", cookie).status == 303


def test_who_has_no_token_any_more_is_out(place: Place) -> None:
    cookie = place.logged_in(place.server.token("leaves", "read"))
    assert place.ask("/", cookie).status == 200
    run(*GITCFG, "-C", str(place.site.bare), "serve", "token", "revoke", "leaves", cwd=place.site.work)
    assert place.ask("/", cookie).status == 303


def test_the_overview_says_how_the_fleet_stands(place: Place, looks: str) -> None:
    found = read(place, "/", looks)
    for said in ("1 reverted", "1 pending", "1 drifted", "37 nodes", "halted", SIGNS, "stranger.example.org"):
        assert said in found.text, said
    assert place.commits[0][:10] in found.text


def test_the_table_shows_what_is_asked_for(place: Place, looks: str) -> None:
    found = read(place, "/?state=reverted", looks)
    assert "1 node." in found.text
    assert f"/nodes/{FAILS}{DOMAIN}" in [said["href"] for said in found.all("a")]
    assert "0 nodes." in read(place, f"/?q={quote(NASTY)}&sort={quote(NASTY)}&page=x", looks).text


def test_a_node_says_what_it_runs_and_why(place: Place, looks: str) -> None:
    found = read(place, f"/nodes/{FAILS}{DOMAIN}", looks)
    assert "reverted" in found.text
    assert "line 39" in found.text
    assert "ExecuteNode" in found.text
    assert "SHA256:" in found.text
    steps = [said["href"] or "" for said in found.all("a") if "/files/" in (said["href"] or "")]
    assert len(steps) > 40
    for address in steps[::10]:
        path, _, line = address.partition("#L")
        lines = read(place, path, looks)
        assert f"L{line}" in lines.ids
    drifted = read(place, f"/nodes/{DRIFTS}{DOMAIN}", looks)
    assert f"+{SIGNS}" in drifted.text
    assert "cores" in drifted.text


def test_a_node_with_another_key_is_told_with_its_fingerprint(place: Place, looks: str) -> None:
    name = SECOND + DOMAIN
    assert "another key" not in read(place, f"/nodes/{name}", looks).text
    anew = Node(name, place.server.url, place.server.key)
    until(lambda: anew.config().status != 200 and "another key" in read(place, f"/nodes/{name}", looks).text)
    assert fingerprint(anew.public) in read(place, f"/nodes/{name}", looks).text


def test_a_nodes_history_says_which_commits_changed_it(place: Place, looks: str) -> None:
    found = read(place, f"/nodes/{FAILS}{DOMAIN}/history", looks)
    assert found.text.index(place.commits[1][:10]) < found.text.index(place.commits[0][:10])
    for said in ("/etc/motd", SIGNS, "+ExecuteNode", "+Workers"):
        assert said in found.text, said
    gone = place.ask(f"/nodes/{FAILS}{DOMAIN}/history?param=NOTHING", looks)
    assert (gone.status, place.ask("/nodes/nobody/history", looks).status) == (404, 404)


def test_a_parameter_says_who_made_each_step_and_when_it_changed(place: Place, looks: str) -> None:
    node = read(place, f"/nodes/{FAILS}{DOMAIN}", looks)
    address = f"/nodes/{FAILS}{DOMAIN}/history?param=DAEMON_LIST"
    assert address in [said["href"] for said in node.all("a")]
    found = read(place, address, looks)
    assert "ExecuteNode.yaml" in found.text
    assert f"by {place.commits[0][:10]} a, " in found.text
    assert place.commits[1][:10] not in found.text.partition("Accepted:")[0]  # it did not change that


def test_what_was_decided_for_a_rule_says_so_with_the_commit_of_its_allocation(
    place: Place, looks: str
) -> None:
    assert "left open by rule one-credd" in read(place, f"/nodes/submit1{DOMAIN}", looks).text
    ported = read(place, f"/nodes/mpi2{DOMAIN}/history?param=FORWARDED_PORT", looks).text
    assert "decided for rule startd-ports" in ported
    assert "FORWARDED_PORT is left open by rule startd-ports at rules/gateways.yaml:8" in ported
    told = read(place, f"/nodes/submit1{DOMAIN}/history?param=SEC_CREDENTIAL_DIRECTORY_KRB", looks).text
    assert f"decided at allocations/one-credd.yaml:3 by {place.commits[0][:10]} a, " in told


def test_who_has_logged_in_finds_the_way_on_where_nothing_is(place: Place, looks: str) -> None:
    found = Read(place.ask("/nowhere", looks).text)
    assert "/releases" in [said["href"] for said in found.all("a")]
    assert "/releases" not in [said["href"] for said in Read(place.ask("/nowhere").text).all("a")]


def test_a_forge_shows_the_files_where_git_says_one(place: Place, looks: str) -> None:
    forge = "https://git.example.org/{commit}/{file}#L{line}"
    run("git", "config", "gitcfg.url", forge, cwd=place.site.bare)
    try:
        found = read(place, f"/nodes/{FAILS}{DOMAIN}", looks)
        assert any((said["href"] or "").startswith("https://git.example.org/") for said in found.all("a"))
    finally:
        run("git", "config", "--unset", "gitcfg.url", cwd=place.site.bare)


def test_a_commit_says_what_it_changes_and_how_far_it_has_got(place: Place, looks: str) -> None:
    found = read(place, f"/commits/{place.commits[1]}", looks)
    for said in (
        "/etc/motd (mode 0644 -> 0640)",
        "36 nodes differ",
        "No findings",
        "halted",
        f"With a body: {SIGNS}",
        "'bold'",
    ):
        assert said in found.text, said
    assert "first commit" in read(place, f"/commits/{place.commits[0]}", looks).text
    listed = read(place, "/commits", looks)
    assert all(commit[:10] in listed.text for commit in place.commits)


def test_a_search_finds_nodes_commits_and_definitions(place: Place, looks: str) -> None:
    assert f"{FAILS}{DOMAIN}" in read(place, "/search?q=EXEC03", looks).text
    assert place.commits[1][:10] in read(place, "/search?q=new+line", looks).text
    assert place.commits[1][:10] in read(place, f"/search?q={place.commits[1][:7]}", looks).text
    assert "DAEMON_LIST" in read(place, "/search?q=daemon_list", looks).text
    assert SIGNS in read(place, f"/search?q={quote(NASTY)}", looks).text
    assert "Enter part" in read(place, "/search", looks).text


@pytest.mark.parametrize(
    "target",
    [
        "/nodes/nobody",
        "/nodes/%3Cscript%3E",
        "/nodes/%00",
        "/commits/main",
        "/commits/HEAD~1",
        "/commits/" + "0" * 40,
        "/commits/%2e%2e",
        "/commits/{commit}/files/nothing.yaml",
        "/commits/{commit}/files/..%2f..%2fetc%2fpasswd",
        "/commits/{commit}/files/%2fetc%2fpasswd",
        "/commits/{commit}/files/secrets/any.yaml",
        "/commits/{commit}/files/groups",
        "/nowhere",
    ],
)
def test_what_is_not_there_is_said_on_a_page(place: Place, looks: str, target: str) -> None:
    answer = place.ask(target.format(commit=place.commits[0]), looks)
    assert answer.status == 404, answer.text
    accessible(Read(answer.text))


def test_programs_get_no_pages(place: Place) -> None:
    assert (
        place.ask("/nowhere", headers={"Accept": "*/*"}).headers["Content-Type"] == "application/problem+json"
    )
    assert place.ask("/v1/nodes").headers["Content-Type"] == "application/problem+json"


def test_a_browser_in_a_session_may_watch(place: Place, looks: str) -> None:
    where = urlsplit(place.server.url)
    for cookie, status in ((looks, 200), ("gitcfg=" + "A" * 43, 401)):
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=30)
        connection.request("GET", "/v1/events", headers={"Cookie": cookie})
        assert connection.getresponse().status == status
        connection.close()


def test_who_may_operate_lets_a_release_go_on_and_takes_it_back(place: Place, operates: str) -> None:
    proof = {"csrf": csrf(place.ask("/releases", operates).text)}
    steer = f"/releases/{place.commits[1]}"
    try:
        assert place.ask(f"{steer}/resume", operates, proof).headers["Location"] == "/releases"
        again = place.ask(f"{steer}/resume", operates, proof)
        assert again.status == 409
        assert "cannot be resumed" in again.text
    finally:
        until(place.fail_again)
    assert place.ask(f"/releases/{'0' * 40}/abort", operates, proof).status == 404
