"""Logs of applications that no other form knows."""

from mqlab.formats import application_log as form
from mqlab.formats.base import Head


def recognised(text):
    return form.recognise(Head("app.log", text, len(text)))


def test_a_level_may_stand_before_the_moment():
    assert recognised("[WARN] 2026/11/21 12:05:05.717284 [store]    memorystore del: message 1 not found\n")
    assert recognised("2026/11/21 12:05:05.710773 connected to tcp://mqtt-1:21883 as kafka-bridge-1\n")


def test_the_moment_may_be_a_named_field():
    assert recognised('time="2026-11-21T12:05:05Z" level=info msg="status ok"\n')
    assert recognised("time=2026-11-21 12:05:05,710 level=INFO msg=status\n")
    assert not recognised("lifetime=2026-11-21 12:05:05\n")


def test_text_without_a_moment_is_no_log():
    assert not recognised("[WARN] nothing was stored\nlinger.ms = 5\n")


def test_a_log_that_is_mostly_stack_traces_is_a_log():
    frames = "\n".join(f"\tat com.acme.Worker.step{n}(Worker.java:{n})" for n in range(80))
    assert recognised(
        f"2026-11-21 12:05:05,717 ERROR failed\njava.lang.IllegalStateException: x\n{frames}\n\t... 3 more\n"
    )


def test_moments_that_only_a_few_programs_write_are_moments():
    assert recognised("22.11.2026 05:43:08,931 subscribed crane/+/weight qos=1\n")
    assert recognised("[22/Nov/2026:10:46:14 +0100] started\n")
    assert not recognised("22/11/2026 05:43:08 Mon Tue Wed\n")
