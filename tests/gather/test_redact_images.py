"""What is not known to be the software's own goes, in whatever form; what is stays."""

import pytest
from redact_builder import left, redacted

from mqlab.gather.redact_words import is_software, vocabulary

PLANTED = [
    line.split(" | ")
    for line in """
anna schmidt acme-bank | login of anna.schmidt@acme-bank.com failed
anna.s acme | mailto:anna.s%40acme.example.net wrote
bbaker | GET /api?user=bbaker&password=[masked]
bbaker | GET /api?password=[masked]&user=bbaker HTTP/1.1
Schmidt | Called Anna Schmidt, she restarts the consumer
zeus olympus | {"host":"zeus","user":"olympus\\\\anna"}
reader-ay | reader-ay wrote; clientId=reader-ay-1
falcon x2x4z 7d9f8b6c5d | pod=billing-7d9f8b6c5d-x2x4z namespace=team-falcon
10-20-0-7 | node ip-10-20-0-7.eu-west-1.compute.internal
10.20.0.7 | Thread[Client_10.20.0.7@DEFAULT_GuardForSyn]
10.20.0.7 | Connection to node 3 (/10.20.0.7:9092) could not be established
0A140007 10.20.0.7 | msgId 0A1400072B414E0E2F2A697F4FAA001B of 10.20.0.7
fe80::5054:ff:feab:cdef | from fe80::5054:ff:feab:cdef
52:54:00:ab:cd:ef | HWaddr 52:54:00:ab:cd:ef
3C-52-82 1F-EE-08 | Physical Address: 3C-52-82-1F-EE-08
ac52 ee09 | learned ac52.821f.ee09 on port 3
123456789012 | arn:aws:iam::123456789012:role/x
0b0f0f10-aaaa-4bbb-8ccc-0123456789ab | subscription 0b0f0f10-aaaa-4bbb-8ccc-0123456789ab
5L6g3nShT eMCtK X86sw | Cluster ID = 5L6g3nShT-eMCtK--X86sw
xKq3ZbTIQ6ahmf0GQ2P1uw | topic id xKq3ZbTIQ6ahmf0GQ2P1uw
4f3a9c2b1d0e | container 4f3a9c2b1d0e was killed
00417233 | serial=SN-00417233
00417233 | device SN-00417233 left
Schmidt Acme | CN=anna.Schmidt, OU=Treasury, O=Acme Bank AG
anna | open /home/anna/app.log
anna | C:\\Users\\anna\\Desktop\\x.txt
1701234567 | phone 1701234567
170 1234567 | call +49 (0)170 1234567 now
0561 4477 999 | {"tel":"0561 4477 999"}
8888-6666 | call 010-8888-6666 now
90871234 | customer (ID 90871234) called
555-123-4567 | call 555-123-4567 now
13812345678 | 手机号 13812345678
4111111111111111 | paid by 4111111111111111
4111 1111 1111 1111 | paid by 4111 1111 1111 1111
3704 0044 | to DE89 3704 0044 0532 0130 00
DE89370400440532013000 | to DE89370400440532013000
张伟 杭州 订单 | 张伟报告杭州机房的订单服务重启
Müller | for Müller GmbH
YW5uYS5zY2htaWR0 | blob YW5uYS5zY2htaWR0
616e6e612e7363686d696474 | blob 616e6e612e7363686d696474
acme ordersapp | at com.acme.ordersapp.OrdersWorker.run(OrdersWorker.java:7)
order-sync order_sync | group.id=order-sync and order_sync of JMX
zoe acme | jdbc:postgresql://db-1.acme.io:5432/books?user=zoe
etl-writer | transactional.id=etl-writer-0
billing | Member consumer-billing-1-0b0f0f10-aaaa-4bbb-8ccc-0123456789ab in group billing has failed
""".strip().split("\n")
]


@pytest.mark.parametrize(("planted", "line"), PLANTED)
def test_nobody_is_left_in_a_line(planted, line):
    written = redacted(line)
    assert [name for name in planted.split() if name in written] == []
    assert left(line, written) == {}
    assert len(written.encode()) == len(line.encode())


SOFTWARE = """
2026-11-21 11:44:26,458 INFO [GroupCoordinator 1]: Preparing to rebalance group in state PreparingRebalance
[2026-11-21T11:44:26.458Z] isolation.level = read_committed, acks = all, max.poll.interval.ms = 300000
partition.assignment.strategy = [class org.apache.kafka.clients.consumer.RangeAssignor]
org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment after 30000ms
java.net.ConnectException: Connection refused
ConnectionResetError: [Errno 104] Connection reset by peer
kafka_server_brokertopicmetrics_bytesin_total 1.0E7
Partition: 3	Leader: 1	Replicas: 1,2,3	Isr: 1,2
offset 1032 of 4194304 bytes in 1732182266458 ms at 1732182266458000
00000000000000001032.log 100% 12.5 MiB 1h30m p99 utf8 sha256 0x1a2b
brokerVersionDesc               : V4_9_4
%RETRY% RMQ_SYS_TRANS_HALF_TOPIC __consumer_offsets consumer-1 127.0.0.1 ::1
1763725466: New client connected (p2, c1, k60)
2024年5月1日 12:18:43 上午
libs/jackson-databind-2.10.5.1.jar
"""


@pytest.mark.parametrize("line", SOFTWARE.strip().split("\n")[:-1])
def test_the_softwares_own_words_numbers_and_moments_stay(line):
    assert redacted(line) == line


def test_a_mask_stays_readable_where_a_name_is_expected():
    lines = "username=[masked] host: [masked], user=[hidden] group.id=[masked]\n(p2, c1, k60, u'[masked]')"
    written = redacted(lines)
    assert written.count("[masked]") == lines.count("[masked]")
    assert "user=[hidden]" in written


def test_words_are_replaced_alike_whatever_their_case():
    first, second, third = redacted("acme Acme ACME").split()
    assert (first.capitalize(), first.upper()) == (second, third)


def test_words_of_one_name_are_replaced_within_other_words():
    written = redacted("group.id=shipments com.x.ShipmentsWorker myshipmentsjob")
    image = written.split()[0].partition("=")[2]
    assert image.capitalize() + "Worker" in written
    assert image in written.split()[2]


def test_no_two_words_become_one():
    words = [a + b for a in "bcdfgh" for b in "jklmnpqrstvwxz"]
    unknown = [word for word in words if not is_software(word)]
    assert len({*redacted(" ".join(unknown)).split()}) == len(unknown)


def test_the_vocabulary_holds_no_people_and_no_business():
    names = "anna alice peter schmidt zhang acme contoso berlin shanghai payments invoice billing customers orders"
    assert set(names.split()) & vocabulary() == set()
