"""What two logs tell together: who was missed had not run, or ran on behind a link that failed."""

import pytest
from plain_reading import opened

from mqlab.verdict import diagnose

NAMESRV = """
2025-02-11 08:59:51 INFO main - The Name Server boot success. serializeType=JSON
2025-02-11 09:00:01 INFO RemotingExecutorThread_1 - new broker registered, 10.5.0.5:10911 HAServer: 10.5.0.5:10912
2025-02-11 09:41:00 WARN NSScheduledThread1 - The broker channel expired, 10.5.0.5:10911 120000ms
2025-02-11 09:41:05 INFO RemotingExecutorThread_1 - new broker registered, 10.5.0.5:10911 HAServer: 10.5.0.5:10912
2025-02-11 09:57:04 WARN NSScheduledThread1 - The broker channel expired, 10.5.0.5:10911 120000ms
2025-02-11 09:57:09 INFO RemotingExecutorThread_1 - new broker registered, 10.5.0.5:10911 HAServer: 10.5.0.5:10912
2025-02-11 10:53:08 WARN NSScheduledThread1 - The broker channel expired, 10.5.0.5:10911 120000ms
2025-02-11 10:53:13 INFO RemotingExecutorThread_1 - new broker registered, 10.5.0.5:10911 HAServer: 10.5.0.5:10912
"""
ASLEEP = ("09:00:00", "09:00:30", "09:41:04", "09:41:34", "09:57:08", "09:57:38", "10:53:12", "10:53:42")
AWAKE = [f"{9 + minute // 60:02d}:{minute % 60:02d}:{second}" for minute in range(114) for second in ("00", "30")]


@pytest.mark.parametrize(("moments", "first"), [(ASLEEP, "host-starved"), (AWAKE, "network-partition")])
def test_a_broker_that_was_missed_while_its_log_was_silent_too_did_not_run(tmp_path, moments, first):
    registered = "INFO brokerOutApi_thread_1 - register broker[0]to name server namesrv:9876 OK"
    (tmp_path / "namesrv.log").write_text(NAMESRV.lstrip())
    (tmp_path / "broker.log").write_text("".join(f"2025-02-11 {at} {registered}\n" for at in moments))
    verdict = diagnose(opened(sorted(tmp_path.glob("*.log")), tmp_path / "scratch"))
    named = [f.incident for f in verdict.findings] or [h.incident for h in verdict.verdict.hypotheses]

    assert named[0] == first
