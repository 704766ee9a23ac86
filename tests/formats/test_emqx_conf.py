"""emqx.conf of 4.x and 5.x, and acl.conf."""

from mqlab.formats import emqx_conf as loader
from mqlab.formats.base import Head
from mqlab.tables import SETTINGS

FOUR = """
## Zones
zone.external.max_mqueue_len = 1000
zone.external.session_expiry_interval = 2h
#zone.external.rate_limit.conn_bytes_in = 100KB,10s
broker.shared_subscription_strategy = random
node.cookie = emqxsecretcookie"""
FIVE = """
mqtt {
  max_mqueue_len = infinity
  ## keep
  session_expiry_interval = 2h
}
listeners.tcp.default { bind = "0.0.0.0:1883", max_connections = 1024000 }
authorization {
  no_match = deny
  sources = [
    {
      type = file
      path = "etc/acl.conf"
    }
  ]
}
force_shutdown.max_heap_size: "32MB"
"""
PRINTED = """[2026-11-21 11:59:58,427] INFO KafkaConfig values:
\tlisteners = PLAINTEXT://:9092
\tlisteners = PLAINTEXT://:9092
 (kafka.server.KafkaConfig)
"""
ACL = """
%% who may what
{allow, {user, "dashboard"}, subscribe, ["$SYS/#"]}.
{deny, {user, "pump"}, publish, ["plant/+/set"]}.
{allow, all}."""


def test_keys_of_four_stand_in_one_line(loaded):
    assert loaded(loader, SETTINGS, "line scope key value origin", FOUR) == [
        (2, "broker", "zone.external.max_mqueue_len", "1000", "file"),
        (3, "broker", "zone.external.session_expiry_interval", "2h", "file"),
        (5, "broker", "broker.shared_subscription_strategy", "random", "file"),
        (6, "broker", "node.cookie", "[masked]", "file"),
    ]


def test_keys_of_five_carry_the_names_of_their_blocks(loaded):
    assert sorted(loaded(loader, SETTINGS, "line key value", FIVE)) == [
        (2, "mqtt.max_mqueue_len", "infinity"), (4, "mqtt.session_expiry_interval", "2h"),
        (6, "listeners.tcp.default.bind", "0.0.0.0:1883"), (6, "listeners.tcp.default.max_connections", "1024000"),
        (8, "authorization.no_match", "deny"), (9, "authorization.sources", "["),
        (11, "authorization.type", "file"), (12, "authorization.path", "etc/acl.conf"),
        (16, "force_shutdown.max_heap_size", "32MB"),
    ]  # fmt: skip


def test_braces_in_strings_and_variables_open_nothing(loaded):
    text = """
mqtt {
  name = "a{b" # an odd one
  server = ${env.host}":1883"
  "idle" = 15s
  hosts = [
    "localhost:1883",
    {}
  ]
}
}
node.name = x"""
    assert loaded(loader, SETTINGS, "line key value", text) == [
        (2, "mqtt.name", "a{b"), (3, "mqtt.server", '${env.host}":1883'), (4, "mqtt.idle", "15s"),
        (5, "mqtt.hosts", "["), (11, "node.name", "x"),
    ]  # fmt: skip


def test_rules_of_access_stay_in_their_order(loaded):
    assert loaded(loader, SETTINGS, "line scope key value", ACL) == [
        (2, "acl", "allow", '{user, "dashboard"}, subscribe, ["$SYS/#"]'),
        (3, "acl", "deny", '{user, "pump"}, publish, ["plant/+/set"]'),
        (4, "acl", "allow", "all"),
    ]


def test_every_line_has_its_class(classes):
    assert classes(loader, FOUR) == ["noise", "data", "data", "noise", "data", "data"]
    assert set(classes(loader, FIVE)) == {"data", "noise"}
    assert classes(loader, ACL) == ["noise", "data", "data", "data"]
    assert classes(loader, "what is this, anyway") == [None]


def test_only_files_of_emqx_are_recognised():
    for text in (FOUR, FIVE, ACL):
        assert loader.recognise(Head("emqx.conf", text, len(text)))
    for text in (
        "listener 1883\nallow_anonymous true\n",
        "group.id=a\nacks=1\n",
        "stream {\n  server {\n  }\n}\n",
        PRINTED,
        "",
    ):
        assert not loader.recognise(Head("x.conf", text, len(text)))
