"""Certificates, proxies and what may be reached at all."""

import datetime as dt
import http.client
import ipaddress
import socket
import ssl
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from httpcore2 import SyncBackend

from tests.helpers.loopback_server import LoopbackServer, Silent
from tests.helpers.requests import facts, request
from tests.helpers.scripted_server import Script, ScriptedServer
from viewer.domain.errors import (
    PrivacyError,
    ProviderError,
    RetryClass,
    UnreadableInputError,
    WrongUseError,
)
from viewer.domain.exchange import ModelProfile
from viewer.models import endpoint, keys
from viewer.models.catalog import (
    adapter_for,
    endpoint_of,
    profile_from_table,
    reader_for,
)
from viewer.models.endpoint import Allowance, endpoint_at
from viewer.models.openai_api import transport
from viewer.models.openai_api.adapter import OpenAIAdapter
from viewer.models.openai_api.deadlines import Deadlines
from viewer.models.openai_api.transport import _SENT_HEADERS, _Watch
from viewer.models.protocol import Adapter
from viewer.models.reading import plain_reply

QUESTION = request(facts(), text="Where is it?")


class _Handler(Silent, BaseHTTPRequestHandler):
    server: "ForwardProxy"

    def do_POST(self) -> None:
        self.server.asked.append(self.path)
        if self.server.refuses:
            self.send_error(407)
            return
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers["content-length"]))
        onward = http.client.HTTPConnection(str(url.hostname), url.port)
        onward.request("POST", url.path, body, {"content-type": "application/json"})
        reply = onward.getresponse()
        data = reply.read()
        onward.close()
        self.send_response(reply.status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_CONNECT(self) -> None:
        self.server.asked.append(self.path)
        self.send_error(403)


class ForwardProxy(LoopbackServer):
    """The proxy in this process, as a context manager.

    ``asked`` are the addresses that were asked for through it.
    """

    def __init__(self, *, refuses: bool = False) -> None:
        super().__init__(_Handler)
        self.refuses = refuses
        self.asked: list[str] = []


def self_signed(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """Return a server's side of TLS and the PEM file of its certificate."""
    pytest.importorskip("cryptography", reason="making a certificate needs it")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    now = dt.datetime.now(dt.UTC)
    day = dt.timedelta(days=1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, secret = folder / "certificate.pem", folder / "key.pem"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, secret)
    return context, pem


def profile_at(base_url: str, **settings: object) -> ModelProfile:
    table = {
        "name": "s",
        "adapter": "openai_api",
        "base_url": base_url,
        "model": "m",
        **settings,
    }
    return profile_from_table(table)


def failure(adapter: Adapter) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        adapter.generate(QUESTION)
    return caught.value


def test_that_an_untrusted_certificate_is_told_in_a_sentence(tmp_path: Path) -> None:
    tls, pem = self_signed(tmp_path)
    with ScriptedServer(tls=tls) as server:
        error = failure(adapter_for(profile_at(server.base_url)))
        assert not server.script.received
        trusting = adapter_for(profile_at(server.base_url, ca_file=str(pem)))
        assert trusting.generate(QUESTION).http_status == 200
    assert error.reason == "certificate"
    assert error.retry_class is RetryClass.STOP_RUN
    assert "self-signed certificate" in str(error)
    assert "ca_file" in error.how


def test_that_an_encrypted_reply_that_never_ends_is_ended(tmp_path: Path) -> None:
    tls, pem = self_signed(tmp_path)
    with ScriptedServer(Script(default="drip"), tls=tls) as server:
        profile = profile_at(server.base_url, ca_file=str(pem), timeout_s=0.5)
        error = failure(adapter_for(profile))
    assert error.reason == "timeout"


def test_that_time_that_runs_out_while_connecting_ends_the_connection() -> None:
    watch = _Watch("here", 0.001, Deadlines(0.001), stays_here=True)
    while not watch._deadline.is_over:
        time.sleep(0.001)
    with LoopbackServer(BaseHTTPRequestHandler) as server:
        stream = SyncBackend().connect_tcp("127.0.0.1", server.port)
        with pytest.raises(ProviderError, match="within"):
            watch.trace("connection.connect_tcp.complete", {"return_value": stream})
        assert stream.get_extra_info("socket").fileno() == -1


def test_that_a_server_without_https_is_named() -> None:
    with ScriptedServer() as server:
        url = server.base_url.replace("http://", "https://")
        error = failure(adapter_for(profile_at(url)))
    assert error.reason == "not_tls"


@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
def test_that_a_ca_file_without_a_certificate_is_refused(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    profile = profile_at("https://127.0.0.1:9/v1", ca_file=str(path))
    with pytest.raises(UnreadableInputError, match=r"ca\.pem"):
        adapter_for(profile).generate(QUESTION)


def test_that_only_a_proxy_that_is_named_is_used() -> None:
    with ScriptedServer() as server, ForwardProxy() as proxy:
        adapter_for(profile_at(server.base_url)).generate(QUESTION)
        assert not proxy.asked
        named = adapter_for(profile_at(server.base_url, proxy=proxy.url))
        assert named.generate(QUESTION).http_status == 200
        assert proxy.asked == [f"{server.base_url}/chat/completions"]


def test_that_a_proxy_that_refuses_is_told_in_a_sentence() -> None:
    with ScriptedServer() as server, ForwardProxy(refuses=True) as proxy:
        adapter = adapter_for(profile_at(server.base_url, proxy=proxy.url))
        plain = failure(adapter)
        https = server.base_url.replace("http://", "https://")
        tunnel = failure(adapter_for(profile_at(https, proxy=proxy.url)))
        assert not server.script.received
    assert plain.reason == "http_407"
    assert tunnel.reason == "proxy"
    assert proxy.url.removeprefix("http://") in str(tunnel)
    assert {plain.retry_class, tunnel.retry_class} == {RetryClass.STOP_RUN}


def test_that_a_proxy_where_nobody_answers_is_named() -> None:
    with socket.socket() as free, ScriptedServer() as server:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        profile = profile_at(server.base_url, proxy=f"http://{address}")
        error = failure(adapter_for(profile))
    assert error.unreachable
    assert address in str(error)


@pytest.mark.parametrize("proxy", ["proxy:3128", "http://u:secret@proxy:3128"])
def test_that_an_odd_proxy_is_refused_without_being_repeated(proxy: str) -> None:
    with pytest.raises(
        WrongUseError, match=r"The proxy|keys must not be stored"
    ) as caught:
        adapter_for(profile_at("http://127.0.0.1:9/v1", proxy=proxy))
    assert "secret" not in str(caught.value)


def test_that_a_server_beyond_this_machine_is_asked_only_where_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endpoint, "is_loopback", lambda _: False)
    with ScriptedServer() as server:
        profile = profile_at(server.base_url)
        where = endpoint_of(profile)
        assert where is not None
        other = Allowance(frozenset({"http://127.0.0.1:1"}))
        for allowance in (Allowance(), other):
            with pytest.raises(PrivacyError):
                adapter_for(profile, allowance)
        with pytest.raises(PrivacyError):
            reader_for(profile).generate(QUESTION)
        assert not server.script.received
        allowed = Allowance(frozenset({where.origin}))
        assert adapter_for(profile, allowed).generate(QUESTION).http_status == 200


def test_that_replies_of_a_server_that_may_not_be_asked_are_read() -> None:
    profile = profile_at("https://example.org/v1")
    assert reader_for(profile).read(plain_reply("D4")).text == "D4"
    assert reader_for(profile).identity(0).endpoint["host"] == "example.org:443"


def test_that_an_address_is_taken_apart() -> None:
    there = endpoint_at("https://[::1]/v1/")
    assert (there.address, there.path, there.is_here) == ("[::1]:443", "/v1", True)
    assert there.url == "https://[::1]:443/v1"
    assert not endpoint_at("https://example.org").is_here


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://localhost.example.com/v1", "localhost.example.com:80"),
        ("http://127.0.0.1.nip.io/v1", "127.0.0.1.nip.io:80"),
        ("http://0.0.0.0/v1", "0.0.0.0:80"),
        ("http://[::]/v1", "[::]:80"),
        ("http://2130706433/v1", "2130706433:80"),
        ("http://0x7f.1/v1", "0x7f.1:80"),
        ("http://127.1/v1", "127.1:80"),
        ("http://localhost./v1", "localhost.:80"),
        ("http://[::ffff:8.8.8.8]/v1", "[::ffff:808:808]:80"),
        ("http://192.168.1.5:8000/v1", "192.168.1.5:8000"),
        ("https://аpi.example.org/v1", "xn--pi-6kc.example.org:443"),
    ],
)
def test_that_what_only_looks_like_this_machine_or_another_server_is_told_apart(
    url: str, address: str
) -> None:
    there = endpoint_at(url)
    assert (there.address, there.is_here) == (address, False)


@pytest.mark.parametrize(
    ("allowed", "asked", "passes"),
    [
        ("https://a.example", "https://a.example:443/v1", True),
        ("https://A.example:443/v1", "https://a.example", True),
        ("http://a.example:80", "http://a.example/v1", True),
        ("https://a.example", "http://a.example", False),
        ("https://a.example:443", "http://a.example:443", False),
        ("http://a.example", "https://a.example", False),
        ("https://a.example", "https://a.example:8443", False),
        ("https://a.example", "https://b.a.example", False),
    ],
)
def test_that_an_allowance_is_for_one_scheme_host_and_port(
    allowed: str, asked: str, *, passes: bool
) -> None:
    allowance = Allowance(frozenset({endpoint_at(allowed).origin}))
    if passes:
        allowance.check(endpoint_at(asked))
    else:
        with pytest.raises(PrivacyError, match="only be sent to this machine"):
            allowance.check(endpoint_at(asked))


@pytest.mark.parametrize("listing", [False, True])
def test_that_no_key_goes_to_another_machine_unencrypted(
    monkeypatch: pytest.MonkeyPatch, *, listing: bool
) -> None:
    monkeypatch.setattr(endpoint, "is_loopback", lambda _: False)
    monkeypatch.setenv("FAR_KEY", "sk-0123456789abcdef")
    with ScriptedServer() as server:
        profile = profile_at(server.base_url, api_key_env="FAR_KEY")
        there = endpoint_of(profile)
        assert there is not None
        adapter = adapter_for(profile, Allowance(frozenset({there.origin})))
        assert isinstance(adapter, OpenAIAdapter)
        with pytest.raises(PrivacyError, match="FAR_KEY would go to http:"):
            _ = adapter.listed_models() if listing else adapter.generate(QUESTION)
        assert not server.script.received


def test_that_neither_key_nor_question_is_led_from_https_to_http(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAR_KEY", "sk-0123456789abcdef")
    tls, pem = self_signed(tmp_path)
    with ScriptedServer() as other:
        script = Script(default=f"redirect:{other.base_url}/chat/completions")
        with ScriptedServer(script, tls=tls) as server:
            settings = {"api_key_env": "FAR_KEY", "ca_file": str(pem)}
            failure(adapter_for(profile_at(server.base_url, **settings)))
            assert server.script.received
        assert not other.script.received


@pytest.mark.parametrize(
    "url",
    [
        "http://user@127.0.0.1/v1",
        "http://127.0.0.1@example.org/v1",
        "http://127.0.0.1\\@example.org/v1",
        "http://127.0.0.1#@example.org/v1",
        "http://127.0.0.1%2eexample.org/v1",
        "http://localhost%00.example.org/v1",
        "http://127.0.0.1 .example.org/v1",
        "https://example.org/v1?key=sk-1",
        "http://[::g]/v1",
    ],
)
def test_that_an_address_that_hides_another_is_refused(url: str) -> None:
    with pytest.raises(WrongUseError, match="base_url") as caught:
        endpoint_at(url)
    assert "sk-1" not in str(caught.value)


@pytest.mark.parametrize(
    ("base_url", "proxy", "passes"),
    [
        ("http://127.0.0.1:9/v1", "http://192.168.1.9:3128", False),
        ("http://far.example.org/v1", "http://192.168.1.9:3128", False),
        ("https://far.example.org/v1", "http://192.168.1.9:3128", True),
        ("http://far.example.org/v1", "http://127.0.0.1:3128", True),
    ],
)
def test_that_no_proxy_on_another_machine_reads_what_is_sent(
    base_url: str, proxy: str, passes: bool
) -> None:
    there, through = endpoint_at(base_url), endpoint_at(proxy, "proxy")
    allowance = Allowance(frozenset({there.origin}))
    if passes:
        allowance.check(there, through)
    else:
        with pytest.raises(PrivacyError, match=r"192\.168\.1\.9 .* could read"):
            allowance.check(there, through)


def test_that_a_question_stays_here_where_a_proxy_could_read_it() -> None:
    with ScriptedServer() as server:
        profile = profile_at(server.base_url, proxy="http://192.168.1.9:3128")
        with pytest.raises(PrivacyError, match="could read"):
            adapter_for(profile).generate(QUESTION)
        assert not server.script.received


KEY = "sk-CANARY/5fe1c0d2-0123456789"


@pytest.mark.parametrize("answer", [KEY, f"you sent {KEY} to me"])
def test_that_a_reply_that_holds_the_key_is_not_kept(answer: str) -> None:
    keys.remember_key("TOLD", KEY)
    try:
        with ScriptedServer(Script(answer=answer)) as server:
            profile = profile_at(server.base_url, api_key_env="TOLD")
            error = failure(adapter_for(profile))
    finally:
        keys.remember_key("TOLD", "")
    assert (error.reason, error.retry_class) == ("key_echoed", RetryClass.STOP_RUN)
    assert KEY not in f"{error!r}{error}"


def test_that_nothing_of_the_environment_reaches_a_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nowhere = "http://192.0.2.1:9"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, nowhere)
    monkeypatch.setenv("OPENAI_BASE_URL", nowhere)
    monkeypatch.setenv("SSL_CERT_FILE", "/CANARY")
    transport._trusted_by_system.cache_clear()
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "CANARY")
    with ScriptedServer() as server:
        adapter_for(profile_at(server.base_url)).generate(QUESTION)
        (received,) = server.script.received
    assert "CANARY" not in f"{received.headers}"
    assert set(received.headers) <= _SENT_HEADERS


def test_that_the_system_s_certificates_are_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[bool] = []
    make = ssl.get_default_verify_paths

    def paths() -> ssl.DefaultVerifyPaths:
        made.append(True)
        return make()

    monkeypatch.setattr(ssl, "get_default_verify_paths", paths)
    transport._trusted_by_system.cache_clear()
    here = endpoint_at("http://127.0.0.1:9")
    for _ in range(3):
        transport.transport_for(here, Allowance(), 1.0)
    assert made == [True]
