"""Ledgers of applications."""

import pytest

from mqlab.loaders import ledger_csv as loader
from mqlab.loaders.base import Head
from mqlab.sources import Reading


@pytest.mark.parametrize(
    "text",
    [
        "0,2,0,1795262666225\n1,2,1,1795262666225\n",
        "0,1795262651717\n",
        "1795262756811,orders,0,0,2\n1795262756811,orders,0,1,5\n",
        "sent_utc,id,topic,qos,done_utc,result\n2026-11-21T11:39:48.576Z,a-1,site/a,1,2026-11-21T11:39:48.576Z,ok\n",
        "ts_ms,topic,broker,queueId,queueOffset,tag,key,msgId,reconsume\n1795262557667,P,b,1,0,T,K,7F,0\n",
        "consumed_utc,id,partition,offset\n2026-11-21T12:06:23.347Z,v-1,2,0\n",
        "acked_utc,id,topic,reason\n2026-11-21T11:39:47.636Z,a-1,press/07/state,Success\n",
    ],
)
def test_notes_about_messages_are_recognised(text):
    assert loader.recognise(Head("x.csv", text, len(text)))


@pytest.mark.parametrize(
    "text", ["utc,VmRSS_kB\n2026-11-21T11:49:14.328Z,8660\n", "1795262756811\n", "a,b\n1,2\n", "", '{"a":1,"b":2}\n']
)
def test_other_lines_are_not(text):
    assert not loader.recognise(Head("x.csv", text, len(text)))


def test_its_lines_are_counted_only():
    assert (loader.READING, loader.TABLES) == (Reading.COUNT, ())
