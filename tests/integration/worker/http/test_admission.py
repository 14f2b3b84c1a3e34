"""Who may come in: every route of the application, both kinds of token, and all that may be wrong with one."""

import asyncio
import base64
import hashlib
import hmac
import json
import re
import socket
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import uuid4

import httpx2
import jwt
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric import rsa
from fastapi.routing import APIRoute
from jwt.algorithms import RSAAlgorithm
from starlette.responses import Response

from perdure.errors import StoreUnavailable
from perdure.stores.audit.lines import AuditKind
from perdure.stores.redis import keys
from perdure.stores.redis.access_tokens import AccessTokens
from perdure.stores.redis.connection import ask
from perdure.values.access_tokens import TokenScope
from tests.support.belongings import Belongings, belongings
from tests.support.http_service import ADMIN, Service
from tests.support.issuer import Issuer, issuer
from worker import audits
from worker.access.failures import MOST
from worker.access.provider import Provider
from worker.gateway import Gateway
from worker.http.console.session import COOKIE, FIELD, Sessions, proof_of


class Row(NamedTuple):
    """A route: the scope that it needs, and a request that reaches it."""

    scope: TokenScope | None
    body: dict[str, Any] | None = None
    query: dict[str, Any] | None = None
    person: bool = False
    of_a_user: bool = True
    page: bool = False
    """Whether it is a page of the console, which takes its token from a cookie, and answers as pages do."""


READ, WRITE, TASKS, OPERATE, ERASE = (
    TokenScope.READ,
    TokenScope.WRITE,
    TokenScope.TASKS,
    TokenScope.OPERATE,
    TokenScope.ERASE,
)
TASK, MEMORY, HOLD = "/v2/control/tasks/{workflow_id}", "/v2/control/memories/{memory_id}", "/v2/control/holds"

TABLE: dict[str, Row] = {
    "POST /v2/control/ingest": Row(WRITE, {"items": [{"kind": "memory", "content": "x", "occurrence": "x"}]}),
    "GET /v2/control/ingest/jobs/{job_id}": Row(WRITE),
    "GET /v2/control/activity": Row(READ, None, {"lane": "pattern", "key": "k"}),
    "POST /v2/control/query": Row(READ, {"text": "x"}),
    "GET /v2/control/memories": Row(READ),
    f"GET {MEMORY}": Row(READ),
    f"POST {MEMORY}/correct": Row(WRITE, {"content": "x"}),
    f"POST {MEMORY}/pin": Row(WRITE, {}),
    f"POST {MEMORY}/forget": Row(WRITE, {}),
    f"GET {HOLD}": Row(READ),
    f"POST {HOLD}/{{hold_id}}": Row(WRITE, {"approve": True}, person=True),
    "POST /v2/control/consent": Row(WRITE, {}),
    "GET /v2/control/export": Row(READ),
    "POST /v2/control/erase": Row(ERASE, {}),
    "POST /v2/control/tasks": Row(TASKS, {"task_id": "t", "skill": "no-such-skill"}),
    "GET /v2/control/tasks": Row(TASKS),
    f"GET {TASK}": Row(TASKS),
    f"GET {TASK}/events": Row(TASKS),
    f"GET {TASK}/explanation": Row(TASKS),
    "GET /v2/control/questions": Row(TASKS),
    f"POST {TASK}/answer": Row(TASKS, {"question_id": "q", "value": "yes"}, person=True),
    f"POST {TASK}/deliver": Row(TASKS, {"name": "x"}),
    f"POST {TASK}/message": Row(TASKS, {"text": "x"}),
    f"POST {TASK}/redirect": Row(TASKS, {"goal": "x"}),
    f"POST {TASK}/pause": Row(TASKS, {}),
    f"POST {TASK}/resume": Row(TASKS, {}),
    f"POST {TASK}/cancel": Row(TASKS, {}),
    "POST /mcp": Row(READ, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, of_a_user=False),
    "GET /v2/control/skills": Row(READ, of_a_user=False),
    "GET /v2/control/skills/{name}": Row(READ, of_a_user=False),
    "GET /v2/control/status": Row(OPERATE, of_a_user=False),
    "GET /metrics": Row(OPERATE, of_a_user=False),
    "GET /openapi.json": Row(READ, of_a_user=False),
    "GET /inbox": Row(TASKS, page=True),
    "POST /inbox/{workflow_id}": Row(TASKS, person=True, page=True),
    "GET /memories": Row(READ, page=True),
    "GET /memories/{memory_id}": Row(READ, page=True),
    "POST /memories/{memory_id}/correct": Row(WRITE, page=True),
    "POST /memories/{memory_id}/pin": Row(WRITE, page=True),
    "POST /memories/{memory_id}/forget": Row(WRITE, page=True),
    "POST /holds/{hold_id}": Row(WRITE, person=True, page=True),
    "GET /export": Row(READ, page=True),
    "GET /erase": Row(ERASE, page=True),
    "POST /erase": Row(ERASE, page=True),
    "GET /tasks": Row(TASKS, page=True),
    "GET /tasks/{workflow_id}": Row(TASKS, page=True),
    "POST /tasks/{workflow_id}/cancel": Row(TASKS, page=True),
    "GET /forgetting": Row(ERASE, of_a_user=False, page=True),
    "POST /forgetting/sweep": Row(ERASE, person=True, page=True),
    "POST /forgetting/undo": Row(ERASE, person=True, page=True),
    "GET /status": Row(OPERATE, of_a_user=False, page=True),
    "GET /": Row(None, of_a_user=False, page=True),
    "GET /login": Row(None, of_a_user=False, page=True),
    "POST /login": Row(None, of_a_user=False, page=True),
    "POST /logout": Row(None, of_a_user=False, page=True),
    "GET /static/{name}": Row(None, of_a_user=False, page=True),
    "GET /livez": Row(None, of_a_user=False),
    "GET /readyz": Row(None, of_a_user=False),
}
"""Every route there is."""

GUARDED = sorted(place for place, row in TABLE.items() if row.scope)

OPEN = sorted(place for place, row in TABLE.items() if not row.scope and not row.page)

Make = Callable[..., Awaitable[str]]


async def own(
    service: Service, _: Issuer, *scopes: TokenScope, user: str, person: bool = False, expired: bool = False
) -> str:
    made = await service.token(*scopes, user_id=user, person=person)
    if expired:
        [kept] = [one for one in await service.gateway.tokens(by=ADMIN) if one.id == made.split("_")[1]]
        past = datetime.now(UTC) - timedelta(seconds=1)
        await AccessTokens(service.here.services.redis).add(kept.changed(expires_at=past))
    return made


async def foreign(
    _: Service, provider: Issuer, *scopes: TokenScope, user: str, person: bool = False, expired: bool = False
) -> str:
    said = [f"perdure:{one}" for one in scopes] + ["perdure:person"] * person
    now = int(time.time())
    return provider.token(sub=user, scope=" ".join(said), exp=now - 60 if expired else now + 60)


KINDS: dict[str, Make] = {"own": own, "of a provider": foreign}


async def asked(
    service: Service,
    place: str,
    token: str | None,
    *,
    user: str | None = None,
    headers: dict[str, str] | None = None,
    of: Belongings | None = None,
) -> httpx2.Response:
    """Send the request of a row of the table.

    Args:
        service: Where it is sent.
        place: The row.
        token: Who asks; None: nobody.
        user: For whom is asked; None: nobody is named.
        headers: Further headers.
        of: Whose ids are in the path; None: nobody's.
    """
    method, _, path = place.partition(" ")
    path = of.place(path) if of else re.sub(r"\{\w+\}", "none-such", path)
    row = TABLE[place]
    if row.page:
        return await opened(service, method, path, token, user, of.fields if of else {})
    query, body = dict(row.query or {}), None if row.body is None else dict(row.body)
    if of and body and "question_id" in body:
        body["question_id"] = of.fields["question"]
    if user is not None and body is not None:
        body["user_id"] = user
    elif user is not None:
        query["user_id"] = user
    given = {"Authorization": f"Bearer {token}"} if token is not None else {}
    sent = [(name.encode(), value.encode("latin-1")) for name, value in (given | (headers or {})).items()]
    async with httpx2.AsyncClient(base_url=service.url, timeout=60, trust_env=False) as client:
        return await client.request(method, path, params=query, json=body, headers=sent)


async def opened(
    service: Service, method: str, path: str, token: str | None, user: str | None, fields: dict[str, str]
) -> httpx2.Response:
    """Ask for a page as a browser does."""
    sealed = Response()
    sessions: Sessions = service.app.state.sessions
    sessions.let_in(sealed, token or "", https=False)
    cookie = sealed.headers["set-cookie"].partition(";")[0].partition("=")[2]
    cookies = {COOKIE: cookie} if token is not None else {}
    query, form = {"user": user} if user is not None else {}, {**fields, FIELD: proof_of(cookie)}
    async with httpx2.AsyncClient(base_url=service.url, cookies=cookies, timeout=60, trust_env=False) as client:
        return await client.request(method, path, params=query, data=form if method == "POST" else None)


def test_every_route_has_its_row(service: Service) -> None:
    routes = {
        f"{method} {one.path}"
        for one in service.app.routes
        if isinstance(one, APIRoute)
        for method in one.methods or ()
    }
    assert routes == TABLE.keys()
    assert all(isinstance(one, APIRoute) for one in service.app.routes)


@pytest.mark.parametrize("kind", ["own", pytest.param("of a provider", marks=pytest.mark.slow)])
@pytest.mark.parametrize("place", GUARDED)
async def test_a_route_lets_in_whom_it_should_and_nobody_else(
    service: Service, provider: Issuer, place: str, kind: str, user: str
) -> None:
    make, row = KINDS[kind], TABLE[place]
    assert row.scope
    others = [one for one in TokenScope if one is not row.scope]
    refused = {
        "no token": (await asked(service, place, None), 401),
        "an expired one": (
            await asked(
                service, place, await make(service, provider, *TokenScope, user=user, person=True, expired=True)
            ),
            401,
        ),
        "a forged one": (
            await asked(service, place, forged(await make(service, provider, *TokenScope, user=user))),
            401,
        ),
        "one without the scope": (
            await asked(service, place, await make(service, provider, *others, user=user, person=True)),
            403,
        ),
    }
    right = await make(service, provider, row.scope, user=user, person=row.person)
    if row.person:
        program = await make(service, provider, row.scope, user=user)
        refused["a program's"] = (await asked(service, place, program), 403)
    if row.of_a_user:
        refused["another user's"] = (await asked(service, place, right, user=f"kim {uuid4().hex}"), 404)
    # A browser without a token that counts is sent to where it can log in.
    assert {name: answer.status_code for name, (answer, _) in refused.items()} == {
        name: 303 if row.page and status == 401 else status for name, (_, status) in refused.items()
    }
    for answer, status in refused.values():
        if row.page:
            assert (answer.headers.get("location") == "/login") == (status == 401)
            continue
        assert answer.headers["content-type"] == "application/problem+json"
        assert (status == 401) == ("WWW-Authenticate" in answer.headers)
    let_in = await asked(service, place, right)
    assert let_in.status_code not in (401, 403)
    assert let_in.headers.get("location") != "/login"


BY_ID = sorted(place for place, row in TABLE.items() if row.of_a_user and "{" in place)
"""The routes of what one user has."""

ENDS = ("forget", "holds", "answer", "inbox", "cancel", "events")
"""Routes by which what is asked for ends, in the order in which they are asked: a task is followed to its end."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def theirs(service: Service) -> AsyncGenerator[Belongings]:
    async with belongings(service) as one:
        yield one


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", BY_ID)
async def test_what_another_user_has_does_not_exist_for_a_stranger(
    service: Service, provider: Issuer, theirs: Belongings, place: str, kind: str, user: str
) -> None:
    before = await theirs.standing()
    stranger = await KINDS[kind](service, provider, *TokenScope, user=user, person=True)
    for named in (None, user, theirs.user):
        answer = await asked(service, place, stranger, user=named, of=theirs)
        assert answer.status_code == 404, (named, answer.text)
    assert await theirs.standing() == before


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_page", [False, True], ids=["routes", "pages"])
async def test_what_a_user_has_exists_for_them(service: Service, provider: Issuer, is_page: bool, kind: str) -> None:
    places = [place for place in BY_ID if TABLE[place].page is is_page]
    order = [next((number for number, part in enumerate(ENDS, 1) if part in place), 0) for place in places]
    async with belongings(service) as mine:
        right = await KINDS[kind](service, provider, *TokenScope, user=mine.user, person=True)
        found = {
            place: (await asked(service, place, right, of=mine)).status_code
            for _, place in sorted(zip(order, places, strict=True))
        }
    assert {place: status for place, status in found.items() if status in (401, 403, 404)} == {}
    assert sum(status < 400 for status in found.values()) > len(found) / 2, found


def forged(token: str) -> str:
    """Return a token with another last character in its secret or its signature."""
    place = len(token) // 2 if "." not in token else token.rindex(".") + 10
    return token[:place] + ("a" if token[place] != "a" else "b") + token[place + 1 :]


@pytest.mark.parametrize("place", OPEN)
async def test_what_is_open_says_nothing_of_anybody(service: Service, place: str) -> None:
    answer = await asked(service, place, None)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    "header",
    [
        ("Forwarded", "for=203.0.113.7;proto=https"),
        ("Via", "1.1 proxy"),
        ("X-Forwarded-For", "203.0.113.7"),
        ("X-Forwarded-For", "127.0.0.1"),
        ("X-Forwarded-Host", "memory.example.org"),
        ("X-Forwarded-Proto", "https"),
        ("X-Real-IP", ""),
    ],
    ids=lambda header: header[0],
)
async def test_this_machines_token_does_not_count_for_what_a_proxy_passes_on(
    service: Service, header: tuple[str, str], user: str
) -> None:
    headers, right = dict([header]), await service.token(user_id=user)
    for place in ("GET /v2/control/skills", "POST /mcp"):
        refused = await asked(service, place, service.local, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (401, "PRD500")
        assert "a proxy passes on (make one by perdure tokens create)" in refused.json()["detail"]
        guessed = await asked(service, place, "perdure-local-x", headers=headers)
        assert guessed.json()["detail"] == refused.json()["detail"], "it does not tell a right one from a wrong one"
        # The controls: without a proxy it counts, and so does another token behind one.
        assert (await asked(service, place, service.local)).status_code not in (401, 429)
        assert (await asked(service, place, right, headers=headers)).status_code not in (401, 403, 429)


async def test_in_the_console_this_machines_token_does_not_count_behind_a_proxy(service: Service) -> None:
    passed_on = {"X-Forwarded-For": "203.0.113.7"}
    async with httpx2.AsyncClient(base_url=service.url, trust_env=False) as client:
        refused = await client.post("/login", data={"token": service.local}, headers=passed_on)
        assert (refused.status_code, "a proxy passes on" in refused.text) == (401, True)
        assert (await client.post("/login", data={"token": service.local})).headers["location"] == "/inbox"
        assert (await client.get("/inbox")).status_code == 200, "the control"
        assert (await client.get("/inbox", headers=passed_on)).headers["location"] == "/login"


@pytest.mark.parametrize(
    ("headers", "secure"),
    [
        ({}, False),
        ({"X-Forwarded-Proto": "https"}, True),
        ({"Forwarded": 'for=203.0.113.7;Proto="HTTPS", for=10.0.0.1;proto=http'}, True),
        ({"X-Forwarded-Proto": "http, https"}, False),
    ],
)
async def test_a_cookie_goes_by_https_alone_where_the_browser_speaks_it_with_a_proxy(
    service: Service, headers: dict[str, str], secure: bool, user: str
) -> None:
    form = {"token": await service.token(user_id=user, person=True)}
    async with httpx2.AsyncClient(base_url=service.url, trust_env=False) as client:
        answer = await client.post("/login", data=form, headers=headers)
    assert (answer.status_code, "; Secure" in answer.headers["set-cookie"]) == (303, secure)


async def test_a_path_that_is_none_needs_a_token_too(service: Service) -> None:
    async with httpx2.AsyncClient(base_url=service.url, trust_env=False) as client:
        assert (await client.get("/v2/control/nothing")).status_code == 401
        assert (await client.delete("/livez")).status_code == 401
    async with service.client_with(service.local) as client:
        missing = await client.get("/v2/control/nothing")
        assert (missing.status_code, missing.json()["code"]) == (404, "PRD511")
        method = await client.delete("/livez")
        assert (method.status_code, method.json()["code"], method.headers["Allow"]) == (405, "PRD512", "GET")


def unsigned(claims: dict[str, Any]) -> str:
    parts = [{"alg": "none", "typ": "JWT"}, claims]
    return ".".join(base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in parts) + "."


async def test_a_token_that_only_looks_like_the_providers_is_refused(service: Service, provider: Issuer) -> None:
    scope = "perdure:read"
    own_key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    [(kid, (algorithm, key))] = provider.keys.items()
    claims = provider.claims(scope=scope)
    by_public = base64.urlsafe_b64encode(provider.public_pem).decode()
    refused = {
        "none": unsigned(claims),
        "HS256 with the public key": hs256(claims, provider.public_pem, kid),
        "HS256 with it in base64": jwt.encode(claims, by_public, "HS256", {"kid": kid}),
        "another key": provider.token(scope=scope, key=own_key, kid=kid) if algorithm == "RS256" else unsigned(claims),
        "an unknown key": provider.token(scope=scope, kid="unknown"),
        "another algorithm": jwt.encode(claims, key, "PS256", {"kid": kid}) if algorithm == "RS256" else "a.b.c",
        "its own key": jwt.encode(
            claims, own_key, "RS256", {"jwk": RSAAlgorithm.to_jwk(own_key.public_key(), as_dict=True)}
        ),
        "another audience": provider.token(scope=scope, aud="another"),
        "no audience": provider.token(scope=scope, aud=None),
        "another issuer": provider.token(scope=scope, iss="https://example.org"),
        "no end": provider.token(scope=scope, exp=None),
        "not yet": provider.token(scope=scope, nbf=int(time.time()) + 600),
        "no user": provider.token(scope=scope, sub=None),
        "a user that is none": provider.token(scope=scope, sub="team:ops"),
        "no text": provider.token(scope=scope, sub=None, user={"id": 1}),
        "nonsense": "a.b.c",
        "empty": "..",
    }
    found = {name: await asked(service, "POST /v2/control/query", token) for name, token in refused.items()}
    assert {name: one.status_code for name, one in found.items() if one.status_code != 401} == {}
    good = await asked(service, "POST /v2/control/query", provider.token(scope=scope))
    assert good.status_code == 200, "the control"


def hs256(claims: dict[str, Any], secret: bytes, kid: str) -> str:
    """Sign as an attacker does; the library itself refuses to use a public key so."""
    parts = [{"alg": "HS256", "typ": "JWT", "kid": kid}, claims]
    told = ".".join(base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in parts)
    signature = hmac.new(secret, told.encode(), hashlib.sha256).digest()
    return f"{told}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


async def test_a_scope_of_another_service_permits_nothing_here(service: Service, provider: Issuer) -> None:
    for scope in ("read", "perdure:", "perdure:everything", "other:read", ""):
        answer = await asked(service, "POST /v2/control/query", provider.token(scope=scope))
        assert (scope, answer.status_code) == (scope, 403)
    for scope in ("openid perdure:read", ["perdure:read"]):
        assert (await asked(service, "POST /v2/control/query", provider.token(scope=scope))).status_code == 200


async def test_a_revoked_token_counts_no_longer(service: Service, user: str) -> None:
    token = await service.token(user_id=user)
    assert (await asked(service, "GET /v2/control/memories", token)).status_code == 200
    await service.gateway.revoke_token(token.split("_")[1], by=ADMIN)
    assert (await asked(service, "GET /v2/control/memories", token)).status_code == 401


async def test_of_a_token_nothing_is_kept_by_which_somebody_comes_in(service: Service, user: str) -> None:
    token = await service.token(user_id=user)
    identifier, secret = token.split("_")[1:]
    kept = await ask(service.here.services.redis, "HGET", keys.ACCESS_TOKENS, identifier)
    assert secret not in kept
    digest = json.loads(kept)["digest"]
    for guess in (
        f"perdure_{identifier}_{digest}",
        f"perdure_{identifier}_",
        f"perdure__{secret}",
        digest,
        "x" * 5_000,
    ):
        assert (await asked(service, "GET /v2/control/memories", guess)).status_code == 401


@pytest.mark.parametrize("header", ["", "Bearer", "Basic dXNlcjpwYXNz", "Token x", "Bearer \u00e4", "Bearer x y"])
async def test_a_header_that_is_none_is_refused(service: Service, header: str) -> None:
    answer = await asked(service, "GET /v2/control/skills", None, headers={"Authorization": header})
    assert answer.status_code == 401


async def test_of_two_headers_none_counts(service: Service) -> None:
    headers = [("Authorization", f"Bearer {service.local}"), ("Authorization", "Bearer x")]
    async with httpx2.AsyncClient(base_url=service.url, trust_env=False) as client:
        assert (await client.get("/v2/control/skills", headers=headers)).status_code == 401


@pytest.mark.slow
async def test_too_many_tokens_that_do_not_count_are_told_to_wait_and_others_still_come_in(service: Service) -> None:
    found = [await asked(service, "GET /v2/control/skills", f"perdure_x_{one}") for one in range(MOST + 1)]
    assert found[-1].status_code == 429
    assert 0 < int(found[-1].headers["Retry-After"]) <= 60
    assert (await asked(service, "GET /v2/control/skills", service.local)).status_code == 200


async def test_each_decision_is_audited(service: Service, user: str) -> None:
    token = await service.token(TokenScope.READ, user_id=user, name="billing")
    await asked(service, "GET /v2/control/memories", token, headers={"X-Request-Id": "one"})
    await asked(service, "POST /v2/control/erase", token, headers={"X-Request-Id": "two"})
    reader = await service.gateway._keyed_reader()  # pyright: ignore[reportPrivateUsage]
    await reader._reading.audit.written()  # pyright: ignore[reportPrivateUsage]
    lines = [
        one
        for one in await audits.show(service.here.settings, user, None, None, ADMIN)
        if one.kind in (AuditKind.ADMITTED, AuditKind.TURNED_AWAY)
    ]
    identifier = token.split("_")[1]
    assert [(one.kind.value, one.operation, one.by and one.by.id, dict(one.ids)) for one in lines] == [
        ("admitted", "one", "billing", {"GET /v2/control/memories": (identifier,)}),
        ("turned_away", "two", "billing", {"POST /v2/control/erase": (identifier,)}),
    ]


async def test_who_asks_for_another_user_is_audited_as_turned_away(service: Service, user: str) -> None:
    token = await service.token(TokenScope.READ, user_id=user, name="probing")
    places = ("/v2/control/memories?user_id=kim", "/memories?user=kim", "/v2/control/memories")
    async with service.client_with(token) as client:
        statuses = [
            (await client.get(place, headers={"X-Request-Id": f"r{number}"})).status_code
            for number, place in enumerate(places)
        ]
        mcp = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        called = {"name": "forget", "arguments": {"memory_id": "mem_1"}}
        tool = await client.post("/mcp", json={**mcp, "params": called}, headers={"X-Request-Id": "r3"})
    assert statuses == [404, 404, 200]
    assert "lacks the scope" in tool.text
    reader = await service.gateway._keyed_reader()  # pyright: ignore[reportPrivateUsage]
    await reader._reading.audit.written()  # pyright: ignore[reportPrivateUsage]
    shown = await audits.show(service.here.settings, user, None, None, ADMIN)
    lines = Counter((one.kind.value, one.operation) for one in shown if one.by and one.by.id == "probing")
    assert [lines["turned_away", f"r{number}"] for number in range(4)] == [1, 1, 0, 1]


async def test_who_has_no_token_does_not_fill_the_audit(service: Service) -> None:
    mark = uuid4().hex[:8]
    async with httpx2.AsyncClient(base_url=service.url, trust_env=False) as client:
        for number in range(MOST + 10):
            answer = await client.get("/v2/control/holds", headers={"X-Request-Id": f"{mark}-{number}"})
            assert answer.status_code == 401
    reader = await service.gateway._keyed_reader()  # pyright: ignore[reportPrivateUsage]
    await reader._reading.audit.written()  # pyright: ignore[reportPrivateUsage]
    lines = await audits.show(service.here.settings, "", None, None, ADMIN)
    # Others may have come from this address within the minute: then none of these has a line.
    assert len([one for one in lines if one.operation.startswith(mark)]) <= MOST


async def test_each_decision_is_audited_also_under_one_id_of_a_request(service: Service, user: str) -> None:
    reading = await service.token(TokenScope.READ, user_id=user, name="reading")
    full = await service.token(user_id=user, name="full")
    for token in (reading, full, full):
        await asked(service, "POST /v2/control/consent", token, headers={"X-Request-Id": "one"})
    reader = await service.gateway._keyed_reader()  # pyright: ignore[reportPrivateUsage]
    await reader._reading.audit.written()  # pyright: ignore[reportPrivateUsage]
    shown = await audits.show(service.here.settings, user, None, None, ADMIN)
    lines = [(one.kind.value, one.by and one.by.id) for one in shown if one.operation == "one"]
    assert lines == [("turned_away", "reading"), ("admitted", "full"), ("admitted", "full")]


async def test_the_providers_new_key_counts_soon_and_its_old_one_no_longer(service: Service, provider: Issuer) -> None:
    one = Provider(issuer=provider.url, audience="perdure-tests")
    old = provider.token(scope="perdure:read")
    assert (await one.caller(old)).user_id == "ada"
    before = dict(provider.keys)
    try:
        provider.rotate("ES256")
        new = provider.token(scope="perdure:read")
        asked_before = provider.asked
        with pytest.raises(Exception, match="PRD500"):
            await one.caller(new)
        assert provider.asked == asked_before, "tokens with unknown keys do not have the keys fetched again and again"
        one._fetched -= 31  # pyright: ignore[reportPrivateUsage]  half a minute later
        assert (await one.caller(new)).scopes == {TokenScope.READ}
        with pytest.raises(Exception, match="PRD500"):
            await one.caller(old)
    finally:
        provider.keys = before


@pytest.mark.slow
async def test_a_provider_that_hangs_holds_up_nobody_whose_key_is_known(provider: Issuer) -> None:
    one = Provider(issuer=provider.url, audience="perdure-tests")
    token = provider.token(scope="perdure:read")
    await one.caller(token)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        one.keys_url = f"http://127.0.0.1:{silent.getsockname()[1]}/keys"
        one._fetched -= 601  # pyright: ignore[reportPrivateUsage]  ten minutes later
        began = time.monotonic()
        found = await asyncio.gather(*(one.caller(token) for _ in range(5)), one.caller(token))
        found.append(await one.caller(token))
        assert time.monotonic() - began < 9, "one of them waited the five seconds, and nobody after it"
        assert {caller.user_id for caller in found} == {"ada"}
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="openid provider"):
                await one.caller(provider.token(scope="perdure:read", kid="unknown"))
        assert time.monotonic() - began < 9, "tokens with unknown keys do not have it asked again at once either"


async def test_a_provider_that_names_an_unsafe_place_for_its_keys_is_away_and_nobody_elses_mistake() -> None:
    with issuer() as odd:
        odd.keys_url = "http://keys.example.org/keys"
        one = Provider(issuer=odd.url, audience="perdure-tests")
        with pytest.raises(StoreUnavailable, match=r"openid provider.*is not an address by https"):
            await one.caller(odd.token(scope="perdure:read"))


def test_a_gateway_offers_no_door_to_make_tokens(service: Service) -> None:
    assert Gateway.create_token
    assert not [one for one in TABLE if "token" in one]
