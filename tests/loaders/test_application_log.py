"""Logs of applications that no other loader knows."""

from mqlab.loaders import application_log as loader
from mqlab.loaders.base import Head


def recognised(text):
    return loader.recognise(Head("app.log", text, len(text)))


def test_a_level_may_stand_before_the_moment():
    assert recognised("[WARN] 2026/11/21 12:05:05.717284 [store]    memorystore del: message 1 not found\n")
    assert recognised("2026/11/21 12:05:05.710773 connected to tcp://mqtt-1:21883 as kafka-bridge-1\n")


def test_text_without_a_moment_is_no_log():
    assert not recognised("[WARN] nothing was stored\nlinger.ms = 5\n")
