"""A thousand requests that nobody means well with: a sentence each, no trace of the program, no file, no script."""

import json
import random
import re
import socket
from contextlib import suppress
from urllib.parse import quote

import pytest

from recombine.explorer.rooms import Rooms
from recombine.explorer.server import LARGEST, POLICY, Door
from tests.explorer.conftest import Server, serving

SECRET = "not for everyone"
PATHS = (
    "/static/../server.py",
    "/static/..%2fserver.py",
    "/static/%2e%2e/%2e%2e/rooms.py",
    "/static//etc/passwd",
    "/static/....//....//etc/passwd",
    "/picture/curi/..%2f..%2fetc%2fpasswd.png",
    "/picture/../../etc/passwd",
    "/figure/../../../etc/passwd.svg",
    "/figure/%2e%2e%2fsecret.svg",
    "/sound/curi/-1.wav",
    "/picture/curi/1e3.png",
    "/picture/curi/99999999999999999999.png",
    "/picture/curi/0x10.png",
    "/picture/curi/٣.png",
    "/picture/curi/1.png.png",
    "/api/../api/benchmarks",
    "/api/%00/about",
    "/api/curi%00/about",
    "/api/os/about",
    "/api/__class__/about",
    "/api/curi/round?split=boolean&number=-1",
    "/api/curi/round?split=../../etc&number=0",
    "/api/curi/scene?number=NaN",
    "/api/curi/round?split=%3Cscript%3Ealert(1)%3C/script%3E",
    "/api/curi/differences?split=boolean&one=os:system&other=weak",
    "/api/curi/differences?split=boolean&one=evil.py:Solver&other=/etc/passwd:x",
    "/api/curi/differences?split=boolean&one=../runs&other=weak",
    "/%2e%2e/%2e%2e/etc/passwd",
    "//evil.example/",
    "/api/curi/scene?number=0&number=1&number=2",
    "/?token=" + "a" * 1500,
    "/api/curi/scenes?first=999999999",
    "/favicon.ico",
    "/.git/config",
    "/static/app.js/../index.html",
    "/api/read",
    "/api/curi/read",
    "/api/curi/thought?split=boolean&number=-1",
    "/api/curi/thought?split=%3Cb%3E&number=0",
    "/api/os/thought?split=boolean&number=0",
)
WORDS = (
    "exists",
    "x",
    "in",
    "S",
    "and(",
    ")",
    "=",
    "(",
    "color?",
    "blue",
    "all",
    "objects",
    "are",
    "the",
    "number",
    "of",
    "concept",
    "X",
    ":",
    "==",
    "grid",
    "512",
    "by",
    "<script>alert(1)</script>",
    "lambda",
    "S.",
    "f_pent",
    "west",
    "How",
    "many",
    "cubes",
    "?",
    "'",
    '"',
    "⟨here⟩",
    "\x00",
    "\u202e",
    "🙂",
    "{{7*7}}",
    "../../etc/passwd",
    "mine.concepts",
    "%s%n",
    "`",
    "\\",
    "\n",
    "…",
    "9" * 40,
)
LEAKS = re.compile(rb"Traceback|File \"|\.py\b|/root|/home|/tmp|root:x:0|" + SECRET.encode())


def fine(status: int, headers: dict, body: bytes) -> None:
    """What every answer must be."""
    assert status < 500, body[:300]
    assert not LEAKS.search(body), body[:300]
    kind = headers.get("content-type", "")
    if status != 200:
        assert kind.startswith(("application/json", "text/plain")), (kind, body[:100])
    if kind.startswith("application/json"):
        json.loads(body)
        assert headers["x-content-type-options"] == "nosniff" and headers["content-security-policy"] == POLICY


def hostile_text(luck: random.Random) -> str:
    return luck.choice(("", " ", "\n")).join(luck.choice(WORDS) for _ in range(luck.randrange(1, 14)))


def test_a_thousand_hostile_requests(server: Server, tmp_path, monkeypatch) -> None:
    (tmp_path / "mine.concepts").write_text(f"# {SECRET}\n")
    monkeypatch.chdir(tmp_path)
    luck, sent = random.Random(0), 0
    for path in PATHS:
        for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
            body = None if method in ("GET", "TRACE") else b'{"text": "all objects are blue"}'
            fine(*server.ask(quote(path, safe="/%?&=.:-_"), body, method))
            sent += 1
    bodies = (
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"[" * 30_000,
        b'{"text": 5}',
        b'{"text": null}',
        b'{"text": "a", "first": -1}',
        b'{"text": "a", "first": 1e99}',
        b'{"text": "a", "first": true}',
        b'{"text": "a", "first": [[]]}',
        b"\xff\xfe\x00",
        b'{"text": "' + b"a" * 60_000 + b'"}',
        b'{"text": "' + b"(" * 7_000 + b'"}',
        b'{"text": "not ' + b"not " * 1_900 + b'"}',
    )
    for name in ("curi", "closure", "concept-world", "clevr", "human", "", "..", "%2e%2e"):
        for body in bodies:
            fine(*server.ask(f"/api/{name}/read", body, "POST"))
            sent += 1
    while sent < 1_000:
        name = luck.choice(("curi", "curi", "closure", "concept-world"))
        fine(*server.ask(f"/api/{name}/read", {"text": hostile_text(luck), "first": luck.choice((0, 24, 10**8))}))
        sent += 1
    assert server.json("/api/benchmarks"), "it still answers"


def test_what_is_too_large_is_refused(server: Server) -> None:
    status, _, body = server.ask("/api/curi/read", b'{"text": "' + b"a" * LARGEST + b'"}')
    assert status == 413 and b"too large" in body
    assert server.ask("/api/benchmarks?" + "a" * 3_000)[0] == 414
    assert server.ask("/api/curi/read", b"text=all", Content_Type="application/x-www-form-urlencoded")[0] == 415
    assert "longer than" in server.json("/api/curi/read", {"text": "x" * 9_000})["error"]


def test_only_its_own_address_is_answered(server: Server) -> None:
    assert server.ask("/api/benchmarks", Host="evil.example")[0] == 403
    assert server.ask("/api/benchmarks", Host=f"evil.example:{server.port}")[0] == 403
    assert server.ask("/api/curi/read", {"text": "all objects are blue"}, Origin="http://evil.example")[0] == 403
    for site in ("cross-site", "same-site"):
        assert server.ask("/picture/curi/0.png", Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors")[0] == 403
        assert server.ask("/", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate")[0] == 200
    assert server.ask("/api/benchmarks", Origin=f"http://127.0.0.1:{server.port}")[0] == 200
    assert server.ask("/", Host=f"localhost:{server.port}")[0] == 200


def test_broken_http_does_not_stop_it(server: Server) -> None:
    for raw in (
        b"\x00\x01\x02\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET " + b"/" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"POST /api/curi/read HTTP/1.1\r\nContent-Length: 10\r\n\r\nab",
    ):
        with socket.create_connection(("127.0.0.1", server.port), 5) as line:
            line.sendall(raw)
            line.shutdown(socket.SHUT_WR)
            line.settimeout(5)
            with suppress(ConnectionError, TimeoutError):
                assert not LEAKS.search(line.recv(65_536))
    assert server.ask("/")[0] == 200


def test_elsewhere_than_on_this_computer_it_asks_for_a_token() -> None:
    door = Door(1, "0.0.0.0", "the-token")
    assert not door.local and door.address.endswith("?token=the-token") and Door(1).local
    assert len(Door(1, "0.0.0.0").token) > 20 and Door(1, "0.0.0.0").token != Door(1, "0.0.0.0").token
    for server in serving(Rooms(), door):
        for path in ("/", "/api/benchmarks", "/static/app.js", "/picture/curi/0.png"):
            assert server.ask(path)[0] == 401
            assert server.ask(f"{path}?token=another")[0] == 401
        status, headers, _ = server.ask("/?token=the-token")
        assert (
            status == 200 and "HttpOnly" in headers["set-cookie"] and "samesite=strict" in headers["set-cookie"].lower()
        )
        assert server.ask("/api/benchmarks", Cookie="recombine=the-token")[0] == 200
        assert server.ask("/api/benchmarks", Cookie="recombine=other")[0] == 401


def test_the_page_runs_no_script_but_its_own(server: Server) -> None:
    status, headers, body = server.ask("/")
    policy = headers["content-security-policy"]
    assert status == 200 and "default-src 'none'" in policy and "unsafe" not in policy
    assert b"http" not in body and not re.search(rb"<script>|style=|\son\w+=", body)
    script = server.ask("/static/app.js")[2]
    for sink in (b"innerHTML", b"outerHTML", b"insertAdjacentHTML", b"document.write", b"eval(", b"new Function"):
        assert sink not in script
    outside = [url for url in re.findall(rb"https?://[\w./]+", script) if b"www.w3.org" not in url]
    assert outside == []


def test_a_bug_of_ours_is_a_sentence(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError(SECRET)

    monkeypatch.setattr(server.rooms, "scene", broken)
    status, _, body = server.ask("/api/curi/scene?number=1")
    assert status == 500 and b"KeyError" in body and not LEAKS.search(body)
