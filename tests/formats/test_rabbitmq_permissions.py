"""Permissions of RabbitMQ's users, as its own tool lists them."""

from mqlab.formats import rabbitmq_permissions
from mqlab.formats.base import Head
from mqlab.tables import SETTINGS

TOPICS = (
    'Listing topic permissions for vhost "/" ...\nuser\texchange\twrite\tread\npanel\tamq.topic\t^$\t^press\\.1\\..*'
)
QUEUES = 'Listing permissions for vhost "/" ...\nuser\tconfigure\twrite\tread\npanel\t.*\t^a\t\n'


def test_each_permission_is_a_setting_of_its_user(loaded):
    assert loaded(rabbitmq_permissions, SETTINGS, "scope origin owner key value", TOPICS) == [
        ("permission", "describe", "panel", "write", "^$"),
        ("permission", "describe", "panel", "read", r"^press\.1\..*"),
    ]
    assert loaded(rabbitmq_permissions, SETTINGS, "owner key value", QUEUES) == [
        ("panel", "configure", ".*"),
        ("panel", "write", "^a"),
        ("panel", "read", ""),
    ]


def test_what_stands_above_the_rows_is_noise(classes):
    assert classes(rabbitmq_permissions, f"{TOPICS}\nother words") == ["noise", "noise", "data", None]


def test_tables_are_recognised_by_their_header():
    for text, known in ((TOPICS, True), (TOPICS.replace("user\t", "who\t"), False)):
        assert rabbitmq_permissions.recognise(Head("x.txt", text, len(text))) == known
