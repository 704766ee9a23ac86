"""A capture changes nothing: the package is read for every call of a client, of HTTP and of programs."""

import ast
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient
from paho.mqtt.client import Client

import mqlab.gather
from mqlab.gather import kafka, mqtt, outside, rocketmq

PACKAGE = Path(mqlab.gather.__file__).parent
MODULES = sorted(PACKAGE.glob("*.py"))
CLIENT = {name for kind in (AdminClient, Consumer, Producer) for name in dir(kind) if not name.startswith("_")}
"""Everything that a client of Kafka can be asked, by whatever name the client has in the code."""
DATA = {"cluster_id", "assignment", "committed"}
"""Names that answers have too: they are read, and never called."""
MUTATING = ("alter", "create", "delete", "elect", "produce", "commit", "subscribe", "assign", "store", "incremental",
            "begin_transaction", "send_offsets", "init_transactions", "abort_transaction")  # fmt: skip


def tree(module):
    return ast.parse(module.read_text(), str(module))


def attributes(module):
    return {node.attr for node in ast.walk(tree(module)) if isinstance(node, ast.Attribute)}


def called(module):
    calls = [node.func for node in ast.walk(tree(module)) if isinstance(node, ast.Call)]
    return {func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "") for func in calls}


def imported(module):
    """Names as they are imported: ``confluent_kafka.admin.AdminClient``."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{one.name}" for one in node.names)


def asking_kafka():
    return [module for module in MODULES if any(name.startswith("confluent_kafka") for name in imported(module))]


def test_nothing_but_what_is_listed_is_asked_of_a_client():
    asked = set().union(*(attributes(module) for module in asking_kafka())) & CLIENT
    assert asked - DATA == set(kafka.READS)
    assert not set().union(*(called(module) for module in asking_kafka())) & DATA


def test_what_is_listed_changes_nothing():
    assert [name for name in kafka.READS if name.startswith(MUTATING)] == []
    assert set(kafka.READS) <= set(dir(AdminClient))


def test_no_consumer_and_no_producer_is_made():
    names = [name for module in asking_kafka() for name in imported(module)]
    assert [name for name in names if name.endswith((".Consumer", ".Producer", "SerializingProducer", "cimpl"))] == []
    assert "confluent_kafka" not in names, "single names are imported, so that this test sees them"


def test_no_client_is_asked_by_a_name_that_is_made_up():
    for module in asking_kafka():
        assert not called(module) & {"getattr", "setattr", "eval", "exec", "vars", "__import__", "import_module"}


def test_topics_are_never_listed_by_name():
    calls = [node for module in MODULES for node in ast.walk(tree(module)) if isinstance(node, ast.Call)
             and isinstance(node.func, ast.Attribute) and node.func.attr == "list_topics"]  # fmt: skip
    assert [(len(call.args), [one.arg for one in call.keywords]) for call in calls] == [(0, ["timeout"])]


def test_one_module_speaks_http_and_only_gets():
    speech = ("urllib.request", "urllib3", "http.client", "http.server", "requests", "socket")
    speaking = {module.name for module in MODULES for name in imported(module) if name.startswith(speech)}
    assert speaking <= {"web.py"}
    words = [node for node in ast.walk(tree(PACKAGE / "web.py")) if isinstance(node, ast.Call)]
    assert not {one.arg for call in words for one in call.keywords} & {"body", "fields", "data", "method", "json"}
    requests = [call for call in words if isinstance(call.func, ast.Attribute) and call.func.attr.startswith("request")]
    assert [ast.literal_eval(call.args[0]) for call in requests] == ["GET"]


def test_programs_are_run_where_their_beginnings_are_listed():
    running = {module.name for module in MODULES if "subprocess" in set(imported(module))}
    assert running <= {"programs.py", "watching.py"}
    asking = {module.name for module in MODULES if "mqlab.gather.programs.ran" in set(imported(module))}
    assert asking == {"outside.py", "rocketmq.py"}
    assert outside.READS == (("kubectl", "get", "pods"), ("kubectl", "logs"), ("journalctl",))


@pytest.mark.parametrize("command", [("kubectl", "delete", "pods"), ("kubectl", "get"), ("rm", "-r"), ()])
def test_another_command_is_refused(command):
    with pytest.raises(ValueError, match="not run like that"):
        outside._run(command)


@pytest.mark.parametrize("call", ["alter_configs", "create_topics", "delete_records", "commit", "subscribe", "produce"])
def test_a_call_that_changes_something_would_be_seen(call, tmp_path, monkeypatch):
    stray = tmp_path / "stray.py"
    stray.write_text(f"from confluent_kafka.admin import AdminClient\n\n\ndef do(admin):\n    return admin.{call}()\n")
    monkeypatch.setattr(__name__ + ".MODULES", [*MODULES, stray])
    with pytest.raises(AssertionError):
        test_nothing_but_what_is_listed_is_asked_of_a_client()


def test_mqadmin_is_run_with_commands_that_only_tell():
    telling = ("brokerC", "brokerS", "cluster", "consumer", "get", "stats", "topicList", "topicRoute", "topicStatus")
    assert [command for command in rocketmq.READS if not command.startswith(telling)] == []
    spelled = {node.value for node in ast.walk(tree(PACKAGE / "rocketmq.py")) if isinstance(node, ast.Constant)}
    assert not {"updateTopic", "deleteTopic", "resetOffsetByTime", "updateSubGroup", "cleanExpiredCQ"} & spelled


@pytest.mark.parametrize("command", ["updateTopic", "deleteSubGroup", "resetOffsetByTime", "sendMessage", "sh"])
def test_another_command_of_mqadmin_is_refused(command, tmp_path):
    with pytest.raises(ValueError, match="not run here"):
        rocketmq._run(("mqadmin", command, "-n", "localhost:9876"), tmp_path)


def test_a_client_of_mqtt_listens_and_nothing_else():
    module = PACKAGE / "mqtt.py"
    asked = attributes(module) & {name for name in dir(Client) if not name.startswith("_")}
    assert asked - {"host", "port", "username", "password", "protocol"} == set(mqtt.READS)
    assert not {"publish", "will_set", "enable_bridge_mode", "reinitialise"} & set(mqtt.READS)
    assert [m.name for m in MODULES if any(name.startswith("paho") for name in imported(m))] == ["mqtt.py"]
    assert not called(module) & {"getattr", "setattr", "eval", "exec", "vars", "__import__", "import_module"}
    loads = [node for node in ast.walk(tree(module)) if isinstance(node, ast.Constant)]
    assert [node.value for node in loads if isinstance(node.value, str) and node.value.startswith("$share")] == []
