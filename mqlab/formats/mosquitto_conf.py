"""``mosquitto.conf`` → SETTINGS of scope broker: what the broker allows and limits, and what its bridges do.

Sample lines::

    listener 1883
    max_queued_messages 10000
    connection east-to-west
    topic sensors/# both 0

``connection NAME`` is the setting ``bridge`` with the value NAME; a bridge's directives below it are
``bridge.<directive>`` and have NAME for an owner (``mosquitto.conf(5)``, "Configuring Bridges").
"""

from __future__ import annotations

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Spec, regex
from mqlab.sources import Role
from mqlab.tables import SETTINGS, Row

FORMAT = Spec("mosquitto-conf", Role.CONFIGURATION, (SETTINGS,), "mosquitto")

_PAIR = regex(r"^\s*(?P<directive>[a-z][a-z0-9_]*)(?:\s+(?P<value>\S(?:.*\S)?))?\s*$")
_COMMENT = regex(r"^\s*(?:#.*)?$")
_OWN = regex(
    r"^\s*(?:listener|allow_anonymous|log_type|log_dest|log_timestamp(?:_format)?|max_queued_(?:messages|bytes)"
    r"|max_inflight_(?:messages|bytes)|persistence(?:_location|_file)?|autosave_(?:interval|on_changes)|acl_file"
    r"|password_file|connection|bind_address|per_listener_settings|allow_zero_length_clientid|sys_interval"
    r"|connection_messages|allow_duplicate_messages|queue_qos0_messages|message_size_limit|max_packet_size"
    r"|max_keepalive|max_connections|upgrade_outgoing_qos|retain_available|persistent_client_expiration|try_private"
    r"|remote_clientid|local_clientid|restart_timeout|mount_point|use_identity_as_username|require_certificate"
    r"|include_dir|store_clean_interval|set_tcp_nodelay|max_topic_alias|plugin(?:_opt_\w+)?|auth_plugin)\b"
)
_OF_BRIDGE = regex(
    r"^(?:address(?:es)?|topic|try_private|(?:local_|remote_)?(?:clientid|username|password)"
    r"|(?:local_)?clean(?:session|start)|keepalive_interval|idle_timeout|restart_timeout|round_robin|start_type"
    r"|threshold|notifications(?:_local_only)?|notification_topic|attempt_unsubscribe|bridge_\w+)$"
)


def recognise(head: Head) -> bool:
    """True when every line is a directive or a comment and at least two, or all, are mosquitto's own."""
    lines = [line for line in head.text.replace("\r", "").split("\n") if not _COMMENT.match(line)]
    own = sum(bool(_OWN.match(line)) for line in lines)
    return 0 < min(2, len(lines)) <= own and all(_PAIR.match(line) for line in lines)


def parse(lines: Lines, about: About) -> Items:
    """One row a directive; undated; the owner is the bridge, and null elsewhere."""
    bridge = None
    for one in console.shown(lines, about):
        if pair := _PAIR.search(one.plain):
            if pair["directive"] == "connection":
                bridge = pair["value"] or bridge
            yield Data(one.line, (_setting(pair["directive"], pair["value"], bridge),))
        else:
            yield Noise(one.line) if _COMMENT.search(one.plain) else console.remark(one)


def _setting(directive: str, value: str | None, bridge: str | None) -> Row:
    key, owner = directive, None
    if directive == "connection":
        key = "bridge"
    elif bridge and _OF_BRIDGE.search(directive):
        key, owner = f"bridge.{directive}", bridge
    return SETTINGS.row(scope="broker", origin="file", owner=owner, key=key, value=value)
