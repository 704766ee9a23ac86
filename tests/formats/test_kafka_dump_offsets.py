"""Dumps of __consumer_offsets."""

from mqlab.formats import kafka_dump_offsets as loader
from mqlab.formats.base import Head
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, POSITIONS

MEMBER = (
    '{"memberId":"p-%s-5e99a049-385a-48dd-b193-c9a558f65060","groupInstanceId":null,"clientId":"p-%s",'
    '"clientHost":"/10.52.0.1%s","rebalanceTimeout":300000,"sessionTimeout":45000,"subscription":{"topics":["b","a"]},'
    '"assignment":{"assignedPartitions":[{"topic":"a","partitions":[%s]}],"userData":null}}'
)
GROUP = (
    '{"version":"3","data":{"protocolType":"consumer","generation":7,"protocol":"range","leader":"p-1",'
    '"currentStateTimestamp":1795263298226,"members":['
)
JSON = f"""
Dumping /var/lib/kafka/data/__consumer_offsets-33/00000000000000000000.log
[2026-11-21 12:17:45,325] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jController$)
Log starting offset: 0
baseOffset: 0 lastOffset: 0 count: 1 baseSequence: -1 position: 0 CreateTime: 1795263298671 size: 644 magic: 2
| offset: 0 CreateTime: 1795263298671 keySize: 18 headerKeys: [] key: {{"type":"2","data":{{"group":"g"}}}} payload: {GROUP}{MEMBER % (2, 2, 2, "2,3")},{MEMBER % (1, 1, 1, "0")}]}}}}
| offset: 1 CreateTime: 1795263301773 keySize: 36 headerKeys: [] key: {{"type":"1","data":{{"group":"g","topic":"a.x","partition":0}}}} payload: {{"version":"3","data":{{"offset":136,"leaderEpoch":-1,"metadata":"","commitTimestamp":1795263301560}}}}
| offset: 2 CreateTime: 1795263301774 keySize: 36 headerKeys: [] key: {{"type":"1","data":{{"group":"g","topic":"a.x","partition":1}}}} payload: <DELETE>
| offset: 3 CreateTime: 1795263301774 keySize: 36 headerKeys: [] key: {{"type":"3","data":{{"groupId":"n"}}}} payload: {{"version":"0","data":{{"epoch":2}}}}
what"""  # noqa: E501
TEXT = """
Dumping /data/__consumer_offsets-15/00000000000000000000.log
Starting offset: 0
| offset: 0 isValid: true CreateTime: 1795262733097 position: 0 sequence: -1 headerKeys: [][2026-11-21 12:07:02,962] INFO Loaded member MemberMetadata(memberId=sink-1-42948065-ecce-4ee8-af60-a2d965bfebb3, groupInstanceId=None, clientId=sink-1, clientHost=/10.51.0.14, sessionTimeoutMs=10000) in group my g with generation 1. (kafka.coordinator.group.GroupMetadata$)
[2026-11-21 12:07:02,963] INFO Loaded member MemberMetadata(memberId=odd, groupInstanceId=None, clientId=o, clientHost=/10.51.0.15, sessionTimeoutMs=10000) in group my g with generation 1. (kafka.coordinator.group.GroupMetadata$)
 key: group_metadata::group=my g payload: {"protocolType":"consumer","protocol":"range","generationId":1,"assignment":"{sink-1-42948065-ecce-4ee8-af60-a2d965bfebb3=[in-put-0, in-put-12], odd=[]}"}
| offset: 1 isValid: true CreateTime: 1795262743796 position: 9 headerKeys: [] key: offset_commit::group=my,partition=g,partition=in-put-12 payload: offset=981
offset: 2 position: 9 CreateTime: 1795262743797 isvalid: true keysize: 5 key: offset::g:t:3 payload: 42
offset: 3 position: 9 CreateTime: 1795262743798 isvalid: true keysize: 5 key: offset::g:t:4 payload: <DELETE>
| offset: 4 CreateTime: 1795262743799 key: {"metadata":"g"} payload: {"protocolType":"consumer","protocol":null,"generationId":2,"assignment":"{}"}"""  # noqa: E501
PRINTED = """
[g,t,0]::OffsetAndMetadata(offset=5, leaderEpoch=Optional.empty, metadata=, commitTimestamp=1795262743799, expireTimestamp=None)
[g,t,1]::[OffsetMetadata[6,NO_METADATA],CommitTime 1795262743800,ExpirationTime 1449852550466]
[g,t,1]::NULL
{"key":{"type":1,"data":{"group":"g","topic":"t","partition":2}},"value":{"version":4,"data":{"offset":7,"leaderEpoch":-1,"metadata":"","commitTimestamp":1795262743801}}}
{"key":{"type":1,"data":{"group":"g","topic":"t","partition":2}},"value":null}
g::GroupMetadata(groupId=g, generation=1, protocolType=Some(consumer), currentState=Stable, members=Map(c-1-u -> MemberMetadata(memberId=c-1-u, groupInstanceId=None, clientId=c-1, clientHost=/10.0.0.1, sessionTimeoutMs=10000)))
g::NULL
Processed a total of 7 messages"""  # noqa: E501
CELLS = "line at group topic queue committed end"


def test_commits_are_positions_without_an_end(loaded):
    assert loaded(loader, POSITIONS, CELLS, JSON) == [(6, "12:15:01", "g", "a.x", "0", 136, None)]
    assert loaded(loader, POSITIONS, CELLS, TEXT) == [
        (6, "12:05:43", "my,partition=g", "in-put", "12", 981, None),
        (7, "12:05:43", "g", "t", "3", 42, None),
    ]
    assert loaded(loader, POSITIONS, CELLS, PRINTED) == [
        (1, "12:05:43", "g", "t", "0", 5, None),
        (2, "12:05:43", "g", "t", "1", 6, None),
        (4, "12:05:43", "g", "t", "2", 7, None),
    ]


def test_of_several_commits_within_ten_seconds_the_last_is_kept(loaded, classes):
    line = "| offset: {} CreateTime: {} key: offset_commit::group=g,partition=t-{} payload: offset={}".format
    text = "\n".join(
        (
            line(0, 1795262740000, 0, 1),
            line(1, 1795262749999, 0, 2),
            line(2, 1795262750000, 0, 3),
            line(3, 1795262749999, 1, 4),
        )
    )
    assert loaded(loader, POSITIONS, "line queue committed", text) == [(2, "0", 2), (3, "0", 3), (4, "1", 4)]
    assert classes(loader, text) == ["data"] * 4


def test_group_metadata_is_an_event_with_its_generation_and_how_many_members_there_are(loaded):
    columns = "line at system kind group value reason"
    assert loaded(loader, EVENTS, columns, JSON) == [(5, "12:14:58", "kafka", "group-metadata", "g", 7.0, "2")]
    assert loaded(loader, EVENTS, columns, TEXT) == [
        (5, "12:05:33", "kafka", "group-metadata", "my g", 1.0, "2"),
        (9, "12:05:43", "kafka", "group-metadata", "g", 2.0, "0"),
    ]
    assert loaded(loader, EVENTS, columns, PRINTED) == [(6, None, "kafka", "group-metadata", "g", 1.0, "1")]


def test_its_members_are_clients(loaded):
    columns = "line at system group client_id peer subscription"
    assert sorted(loaded(loader, CLIENTS, columns, JSON)) == [
        (5, "12:14:58", "kafka", "g", "p-1", "10.52.0.11", "a;b"),
        (5, "12:14:58", "kafka", "g", "p-2", "10.52.0.12", "a;b"),
    ]
    assert loaded(loader, CLIENTS, "line group client_id peer", TEXT) == [
        (5, "my g", "sink-1", "10.51.0.14"),
        (5, "my g", None, "10.51.0.15"),
    ]
    assert loaded(loader, CLIENTS, "line at group client_id peer", PRINTED) == [(6, None, "g", "c-1", "10.0.0.1")]


def test_what_they_hold_are_assignments(loaded):
    columns = "member_id client_id topic queue"
    assert sorted(loaded(loader, ASSIGNMENTS, columns, JSON)) == [
        ("p-1-5e99a049-385a-48dd-b193-c9a558f65060", "p-1", "a", "0"),
        ("p-2-5e99a049-385a-48dd-b193-c9a558f65060", "p-2", "a", "2"),
        ("p-2-5e99a049-385a-48dd-b193-c9a558f65060", "p-2", "a", "3"),
    ]
    assert sorted(loaded(loader, ASSIGNMENTS, columns, TEXT)) == [
        ("sink-1-42948065-ecce-4ee8-af60-a2d965bfebb3", "sink-1", "in-put", "0"),
        ("sink-1-42948065-ecce-4ee8-af60-a2d965bfebb3", "sink-1", "in-put", "12"),
    ]
    assert loaded(loader, ASSIGNMENTS, columns, PRINTED) == []


def test_members_whose_record_was_cut_are_not_counted(loaded):
    text = JSON.split("\n")[5].split('"rebalanceTimeout"')
    cut = '"rebalanceTimeout"'.join(text[:2]) + "…"
    assert loaded(loader, EVENTS, "group value reason", cut) == [("g", 7.0, None)]
    assert len(loaded(loader, CLIENTS, "line", '"rebalanceTimeout"'.join(text) + "…")) == 1


def test_records_of_other_shapes_say_nothing(tables, classes):
    record = 'key: {"type":"2","data":{"group":"g"}} payload: {'
    broken = ('"data":' + "[" * 8000, '"data":[]', '"members":7')
    text = "\n".join((*(record + rest for rest in broken), record.replace('"g"', "7") + '"data":{"members":[7,{}]}}'))
    assert tables(loader, text)[EVENTS][0] | {"text": ""} == {
        **dict.fromkeys(EVENTS.names), "line": 4, "text": "", "system": "kafka", "kind": "group-metadata", "group": "7",
        "reason": "2",
    }  # fmt: skip
    assert POSITIONS not in tables(loader, text)
    assert classes(loader, text) == ["data"] * 4


def test_every_line_has_a_class(classes):
    assert classes(loader, JSON) == [*["noise"] * 4, "data", "data", "noise", "noise", None]
    assert classes(loader, TEXT) == [*["noise"] * 4, "data", "data", "data", "noise", "data"]
    assert classes(loader, PRINTED) == ["data", "data", "noise", "data", "noise", "data", "noise", "noise"]


def test_dumps_of_other_topics_are_not_read():
    assert all(loader.recognise(Head("x", text, len(text))) for text in (JSON, TEXT, PRINTED))
    other = JSON.replace("__consumer_offsets", "orders")
    assert not loader.recognise(Head("x", other, len(other)))
    assert not loader.recognise(Head("x", "| offset: 1 CreateTime: 1 keySize: 2 key: a payload: b\n", 50))
    assert not loader.recognise(Head("x", "[a,b]::c\n", 9))
