"""Over HTTP user, password and token go to the host that was named, once where they are refused."""

import threading
from contextlib import ExitStack
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mqlab.gather.bundle import Bundle
from mqlab.gather.manifest import Manifest
from mqlab.gather.prometheus import Scrapes
from mqlab.gather.schedule import RefusedError, Tick
from mqlab.gather.web import Web, check

AT = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)


class Answers(BaseHTTPRequestHandler):
    """Answers as its server was told; what it is asked, and over which connection, is kept."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append((self.path, self.headers.get("Authorization")))
        self.server.connections.add(self.client_address)
        status, where = self.server.answers.get(self.path, (200, None))
        text = b"up 1\n"
        self.send_response(status)
        if where:
            self.send_header("Location", where)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        """Nothing on the screen."""


@pytest.fixture
def servers():
    """Two servers that stand for two hosts."""
    with ExitStack() as stack:
        made = [stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Answers)) for _ in range(2)]
        for one in made:
            one.asked, one.answers, one.connections, one.daemon_threads = [], {}, set(), True
            threading.Thread(target=one.serve_forever, args=(0.01,), daemon=True).start()
            stack.callback(one.shutdown)
        yield made


def web():
    return Web(Manifest("kafka", {}))


def address(server, user="u:p@", host="127.0.0.1"):
    return f"http://{user}{host}:{server.server_port}"


@pytest.mark.parametrize("token", [None, "t0k3n"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_other_host_is_asked_whatever_a_redirect_names(servers, status, token):
    first, other = servers
    first.answers["/metrics"] = (status, f"{address(other, user='')}/metrics?s3cret")
    with pytest.raises(ValueError, match=rf"redirects to http://127.0.0.1:{other.server_port}/metrics, which"):
        web().got(f"{address(first)}/metrics", token)
    assert (len(first.asked), other.asked) == (1, [])


@pytest.mark.parametrize(
    "where", ["http://localhost:{port}/metrics", "https://127.0.0.1:{port}/metrics", "//x/metrics"]
)
def test_another_name_or_scheme_of_the_same_port_is_another_host(servers, where):
    first, _ = servers
    first.answers["/metrics"] = (302, where.format(port=first.server_port))
    with pytest.raises(ValueError, match="which is not followed: give that address"):
        web().got(f"{address(first)}/metrics")
    assert len(first.asked) == 1


def test_a_redirect_within_a_host_is_followed(servers):
    first, _ = servers
    first.answers["/metrics"] = (301, "/metrics/")
    assert web().got(f"{address(first)}/metrics") == "up 1\n"
    assert first.asked == [("/metrics", "Basic dTpw"), ("/metrics/", "Basic dTpw")]
    first.answers["/turning"] = (302, "/turning")
    with pytest.raises(ValueError, match="redirects more than 5 times"):
        web().got(f"{address(first)}/turning")


def test_neither_proxies_of_the_environment_nor_netrc_are_used(servers, monkeypatch, tmp_path):
    first, proxy = servers
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password mine\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, address(proxy))
    assert web().got(f"{address(first, user='')}/metrics") == "up 1\n"
    assert (first.asked, proxy.asked) == ([("/metrics", None)], [])


@pytest.mark.parametrize("status", [401, 403])
def test_a_login_is_refused_once_and_other_pages_of_that_host_are_not_asked(servers, status):
    first, other = servers
    first.answers["/a"] = (status, None)
    asking = web()
    for path in ("/a", "/a", "/b"):
        with pytest.raises(RefusedError, match=rf":{first.server_port} refused it \(HTTP {status} .*not asked again"):
            asking.got(f"{address(first)}{path}")
    assert asking.got(f"{address(other)}/b") == "up 1\n"
    assert [path for path, _ in first.asked] == ["/a"]


def test_a_page_that_a_user_may_not_see_is_no_refused_login(servers):
    first, _ = servers
    first.answers["/b"] = (403, None)
    asking = web()
    asking.got(f"{address(first)}/a")
    with pytest.raises(ValueError, match="HTTP 403 Forbidden"):
        asking.got(f"{address(first)}/b")
    assert asking.got(f"{address(first)}/c") == "up 1\n"


def test_a_host_gets_one_connection_that_stays(servers):
    first, _ = servers
    first.answers["/gone"] = (404, None)
    asking = web()
    for path in ("/a", "/gone", "/b"):
        with ExitStack() as stack:
            stack.enter_context(pytest.raises(ValueError, match="404")) if path == "/gone" else None
            asking.got(f"{address(first)}{path}")
    assert len(first.connections) == 1


def test_of_several_pages_only_those_that_refuse_are_left_out(servers, tmp_path):
    first, other = servers
    first.answers["/metrics"] = (401, None)
    bundle = Bundle(tmp_path / "b", Manifest("kafka", {}))
    scrapes = Scrapes(bundle, [f"{address(one)}/metrics" for one in servers])
    for first_tick, last in ((True, False), (False, True)):
        scrapes(Tick(AT, first_tick, last))
    assert (len(first.asked), len(other.asked)) == (1, 2)
    assert bundle.manifest.questions[f"page {address(first, user='')}/metrics"].failed == 1


@pytest.mark.parametrize("url", ["http://u:pa/ss@h:9", "ftp://h", "h:9090", "http://", "http://[::1", "http://h:99999"])
def test_what_is_no_address_is_refused_before_it_is_asked_or_shown(url):
    with pytest.raises(ValueError, match=r"[Pp]ort|address|IPv6"):
        check(url)
