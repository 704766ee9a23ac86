"""A broker of MQTT tells below $SYS, EMQX over its API; nobody's session and no message is touched."""

import json
import re
import shutil
import socket
import subprocess
import threading
import time
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from mqlab.gather import mqtt
from mqlab.gather.bundle import Bundle
from mqlab.gather.emqx import Emqx
from mqlab.gather.manifest import Manifest
from mqlab.gather.mqtt import Broker, SharedError, Sniff, listening
from mqlab.gather.schedule import RefusedError, Tick

AT = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)
ONLY = Tick(AT, True, True)
CLIENT = {"clientid": "pump-7", "ip_address": "10.0.0.7", "port": 59441, "clean_start": False, "mqueue_len": 17}
ANSWERS = {
    "nodes": [{"node": "emqx@10.0.0.1", "version": "5.8.1"}],
    "metrics": [{"node": "emqx@10.0.0.1", "messages.dropped": 17}],
    "stats": [{"node": "emqx@10.0.0.1", "connections.count": 3}],
    "rules": {"data": [{"id": "to:kafka", "sql": "SELECT *"}], "meta": {"count": 1}},
    "rules/to%3Akafka/metrics": {"id": "to:kafka", "metrics": {"matched": 5, "failed": 1}},
}


@pytest.fixture
def bundle(tmp_path):
    return Bundle(tmp_path / "b", Manifest("mqtt", {}))


def files(bundle):
    return {str(p.relative_to(bundle.folder)): p.read_text() for p in sorted(bundle.folder.rglob("*.*")) if p.is_file()}


class Api(BaseHTTPRequestHandler):
    """EMQX's API of one version, with 1001 clients."""

    def do_GET(self):
        parts = urlsplit(self.path)
        self.server.asked.append((self.path, self.headers.get("Authorization")))
        version, what = parts.path.removeprefix("/api/v").split("/", 1)
        if int(version) != self.server.version:
            self.send_error(404)
            return
        answer = ANSWERS.get(what, {"data": []})
        if what == "clients":
            page = int((parse_qs(parts.query).get("page") or parse_qs(parts.query)["_page"])[0])
            answer = {"data": [CLIENT] * (1000 if page == 1 else 1), "meta": {"page": page, "count": -1}}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_):
        """Nothing on the screen."""


@pytest.fixture
def api():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    server.asked, server.version = [], 5
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def url(api):
    return f"http://key:secret@127.0.0.1:{api.server_port}"


def test_all_pages_of_clients_are_fetched_with_the_key_and_never_written_with_it(api, bundle):
    Emqx(bundle, url(api))(ONLY)
    told = files(bundle)
    assert [len(json.loads(told[f"emqx/clients-{n}.20261122T100000Z.json"])["data"]) for n in (1, 2)] == [1000, 1]
    assert {authorization for _, authorization in api.asked} == {"Basic a2V5OnNlY3JldA=="}
    assert [name for name, text in told.items() if "secret" in text] == []


def test_rules_of_5_stand_with_their_counters(api, bundle):
    Emqx(bundle, url(api))(ONLY)
    assert json.loads(files(bundle)["emqx/rules-1.20261122T100000Z.json"])["data"] == [
        {"id": "to:kafka", "sql": "SELECT *", "metrics": {"matched": 5, "failed": 1}}
    ]


def test_4_is_asked_in_its_own_words(api, bundle):
    api.version = 4
    Emqx(bundle, url(api))(ONLY)
    asked = [path for path, _ in api.asked]
    assert "/api/v4/clients?_page=1&_limit=1000" in asked
    assert "/api/v4/alarms/activated" in asked
    assert bundle.manifest.facts["EMQX"] == ["5.8.1"]


def test_lists_of_clients_are_not_fetched_at_every_sampling(api, bundle):
    ask = Emqx(bundle, url(api))
    for first, last in ((True, False), (False, False), (False, True)):
        ask(Tick(AT, first, last))
    paths = [urlsplit(path).path for path, _ in api.asked]
    assert (paths.count("/api/v5/clients"), paths.count("/api/v5/metrics")) == (4, 3)


def test_an_api_that_does_not_answer_is_noted_only(bundle):
    Emqx(bundle, "http://127.0.0.1:1")(ONLY)
    assert bundle.manifest.questions["version of EMQX"].failed == 1
    assert sorted(files(bundle)) == ["manifest.json"]


@pytest.mark.parametrize("topic", ["$share/readers/plant/#", "$queue/plant", "$SYS/#", "$exclusive/plant"])
def test_what_would_take_messages_from_others_is_refused(topic):
    with pytest.raises(SharedError, match=re.escape(topic)):
        Sniff((topic,))


@pytest.fixture
def broker(tmp_path):
    program = shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/usr/bin:/opt/homebrew/sbin")
    if program is None:
        pytest.skip("no mosquitto on this machine")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = tmp_path / "mosquitto.conf"
    settings.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\nsys_interval 1\nlog_type all\nlog_dest stderr\n"
    )
    log = (tmp_path / "broker.log").open("wb")
    process = subprocess.Popen([program, "-c", str(settings)], stderr=log, stdout=log)
    for _ in range(100):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield Broker("127.0.0.1", port), tmp_path / "broker.log"
    process.terminate()
    process.wait()
    log.close()


@pytest.fixture
def talking(broker):
    """Somebody who publishes while others listen."""
    from paho.mqtt.client import Client
    from paho.mqtt.enums import CallbackAPIVersion

    client, over = Client(CallbackAPIVersion.VERSION2, client_id="pump-7"), threading.Event()
    client.connect(broker[0].host, broker[0].port)
    client.loop_start()
    client.publish("plant/kept", "kept", retain=True).wait_for_publish(5)

    def talk():
        while not over.wait(0.05):
            client.publish("plant/7/state", "very secret payload")

    thread = threading.Thread(target=talk)
    thread.start()
    yield
    over.set()
    thread.join()
    client.disconnect()
    client.loop_stop()


@pytest.mark.usefixtures("talking")
def test_a_broker_tells_of_itself_and_sizes_are_noted_without_payloads(broker, bundle):
    where, log = broker
    with listening(where, Sniff(("plant/#",), seconds=20, messages=5), bundle) as ask:
        ask(ONLY)
    told = files(bundle)
    assert "$SYS/broker/version mosquitto" in told["mqtt/sys-topics.20261122T100000Z.log"]
    assert (
        '_largest_bytes{topic="plant/7/state",qos="0",retained="false"} 19'
        in told["mqtt/topic-sizes.20261122T100000Z.prom"]
    )
    assert [name for name, text in told.items() if "secret" in text or "kept" in text] == []
    (name,) = set(re.findall(r"connected from \S+ as (mqlab-[0-9a-f]{32}) \(p5, c1,", log.read_text()))
    last, until = f"Received DISCONNECT from {name}", time.monotonic() + 20
    while last not in log.read_text() and time.monotonic() < until:
        time.sleep(0.1)
    assert last in log.read_text()
    assert f"Received PUBLISH from {name}" not in log.read_text()


def test_a_broker_that_is_not_there_is_noted_only(bundle):
    with listening(Broker("127.0.0.1", 1), Sniff(), bundle) as ask:
        ask(ONLY)
        ask(Tick(AT, False, True))
    assert bundle.manifest.questions["broker over MQTT"].failed == 2


class Connacks:
    """A broker that answers each CONNECT with the next of these packets, and closes the connection."""

    def __init__(self, *answers):
        self.answers, self.connections, self.listener = answers, 0, socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.serve, daemon=True).start()

    @property
    def broker(self):
        return Broker("127.0.0.1", self.listener.getsockname()[1], "gatherer", "wr0ng")

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(1000)
                connection.sendall(self.answers[min(self.connections, len(self.answers) - 1)])
                self.connections += 1


UNSUPPORTED, BAD_USER_5, BANNED_5 = b"\x20\x03\x00\x84\x00", b"\x20\x03\x00\x86\x00", b"\x20\x03\x00\x8a\x00"
BAD_USER_3, DENIED_3, BUSY = b"\x20\x02\x00\x04", b"\x20\x02\x00\x05", b"\x20\x03\x00\x89\x00"


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(mqtt, "_BETWEEN_TRIES", 0)


@pytest.mark.parametrize(
    ("answers", "connections"),
    [
        ((BAD_USER_5,), 1),
        ((BANNED_5,), 1),
        ((UNSUPPORTED, BAD_USER_3), 2),
        ((UNSUPPORTED, DENIED_3), 2),
    ],
)
@pytest.mark.usefixtures("hasty")
def test_a_refused_login_is_not_tried_again(bundle, answers, connections):
    fake = Connacks(*answers)
    with (
        listening(fake.broker, Sniff(), bundle) as ask,
        pytest.raises(RefusedError, match=r"refused it .*not asked again"),
    ):
        ask(ONLY)
    time.sleep(0.2)
    assert fake.connections == connections


@pytest.mark.usefixtures("hasty")
def test_a_broker_that_is_busy_is_asked_again_at_the_next_sampling(bundle):
    fake = Connacks(BUSY)
    with listening(fake.broker, Sniff(), bundle) as ask:
        ask(ONLY)
        ask(ONLY)
    assert (fake.connections, bundle.manifest.questions["broker over MQTT"].because) == (2, "refused: Server busy")


@pytest.mark.usefixtures("hasty")
def test_a_broker_that_closes_in_place_of_an_answer_is_left_alone_after_three_connections(bundle):
    fake = Connacks(b"")
    with listening(fake.broker, Sniff(), bundle) as ask:
        ask(ONLY)
        with pytest.raises(RefusedError, match="closes every connection instead of answering"):
            ask(ONLY)
    assert fake.connections == 3


def test_two_tries_to_connect_are_seconds_apart(bundle, monkeypatch):
    waited, own, sleep = [], threading.current_thread(), time.sleep
    monkeypatch.setattr(
        mqtt.time, "sleep", lambda s: waited.append(s) if threading.current_thread() is own else sleep(s)
    )
    with listening(Connacks(BUSY).broker, Sniff(), bundle) as ask:
        ask(ONLY)
        ask(ONLY)
    assert [round(each) for each in waited] == [0, 3]
