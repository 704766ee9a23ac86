"""Every figure of a capture, as a method: ``capture.plot.timeline()``.

Each answers one question and is drawn by a function of ``mqlab.figures``; where nothing can be drawn, it says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.findings import Finding

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mqlab.views.delivery import AuditView
    from mqlab.views.kafka_group import RebalanceView
    from mqlab.views.rocketmq_group import GroupView


@dataclass(frozen=True)
class Plots:
    """The figures of one capture."""

    facts: Facts
    diagnosis: Diagnosis
    group: str | None = None
    topic: str | None = None
    client: str | None = None
    """What the capture is about, where it is about one group, topic or client."""

    # -- the whole ---------------------------------------------------------------------------------------------------

    def timeline(self, *, log: bool = True, height: int = 320) -> go.Figure:
        """What happened when? Traffic of the host that sent most, lag, events, changes and findings."""
        from mqlab.figures.timeline import timeline

        return timeline(self.facts, self.diagnosis, log=log, height=height)

    def line_shapes(self) -> go.Figure:
        """Which lines fill the log? Bytes per minute by shape of line."""
        from mqlab.figures.line_shapes import line_shapes

        return line_shapes(self.facts, self.diagnosis.findings)

    # -- traffic -----------------------------------------------------------------------------------------------------

    def traffic(self) -> go.Figure:
        """Did traffic change, and when? Bytes in and out, and how many left for one that came in."""
        from mqlab.figures.traffic import traffic

        return traffic(self.facts, self._about_bytes())

    def waterfall(self) -> go.Figure:
        """Where did the bytes come from? The stages of the ledger, and what is left unexplained."""
        from mqlab.figures.traffic import waterfall

        finding = self._about_bytes()
        return waterfall(finding.ledger if finding else None)

    def senders(self, *kinds: str) -> go.Figure:
        """Who did it, and when? Events of *kinds* (splits, retries, rejects) per client and partition."""
        from mqlab.figures.traffic import heatmap

        return heatmap(self.facts, *(kinds or ("batch-split", "produce-retry", "record-too-large")))

    def memory(self, host: str | None = None) -> go.Figure:
        """Does each split cost memory? Heap in use against splits since the process started."""
        from mqlab.figures.traffic import memory

        finding = self._about_bytes()
        guilty = finding.ledger.host if finding and finding.ledger else None
        return memory(self.facts, host or guilty)

    # -- groups ------------------------------------------------------------------------------------------------------

    def members(self, group: str | None = None) -> go.Figure:
        """Who was in the group when? Of a Kafka group with the rebalances that stopped it."""
        from mqlab.figures.kafka_group import swim_lanes
        from mqlab.figures.rocketmq_group import membership

        return membership(self._rocketmq(group)) if self._is_rocketmq(group) else swim_lanes(self._kafka(group))

    def lag(self, group: str | None = None, topic: str | None = None) -> go.Figure:
        """What waits in each partition or queue, and what did rebalances do to it?"""
        from mqlab.figures.kafka_group import partition_lag
        from mqlab.figures.rocketmq_group import queue_lag

        if self._is_rocketmq(group):
            return queue_lag(self.facts, self._rocketmq(group, topic))
        return partition_lag(self._kafka(group, topic))

    def ownership(self, group: str | None = None) -> go.Figure:
        """Which process of a RocketMQ group reads which queue, before, during and after?"""
        from mqlab.figures.rocketmq_group import ownership

        return ownership(self._rocketmq(group).panels)

    def rebalances(self, group: str | None = None) -> go.Figure:
        """What did each rebalance of a Kafka group cost? Standstill, and records that were handed out again."""
        from mqlab.figures.kafka_group import repeats

        return repeats(self._kafka(group))

    def poll_times(self, group: str | None = None) -> go.Figure:
        """How long did polls of a Kafka group take, and how long may they?"""
        from mqlab.figures.polls import poll_times

        return poll_times(self._kafka(group))

    def feasibility(self, group: str | None = None) -> go.Figure:
        """Can a Kafka group work off a poll in the time that it may take? Records of a poll against time of one."""
        from mqlab.figures.polls import feasibility

        return feasibility(self._kafka(group))

    # -- delivery ----------------------------------------------------------------------------------------------------

    def delivery(self, topic: str | None = None) -> go.Figure:
        """How far did the messages of a topic get? One bar per stage."""
        from mqlab.figures.delivery import delivery_funnel

        return delivery_funnel(self._audit(topic).audit)

    def replicas(self, topic: str | None = None) -> go.Figure:
        """Who led each partition, who was in sync, and where did each replica's log end?"""
        from mqlab.figures.delivery import replicas

        return replicas(self._audit(topic))

    def failover(self, topic: str | None = None, partition: int | str | None = None) -> go.Figure:
        """What happened to the offsets of one partition as its leader changed?"""
        from mqlab.figures.delivery import failover

        return failover(self._audit(topic), None if partition is None else str(partition))

    # -- MQTT --------------------------------------------------------------------------------------------------------

    def connection_lengths(self) -> go.Figure:
        """How long did MQTT connections last, and how did they end? Constant lengths point to a timer."""
        from mqlab.figures.mqtt import connection_lengths
        from mqlab.mqtt.connections import connections

        return connection_lengths(connections(self.facts))

    def takeovers(self, client: str | None = None) -> go.Figure:
        """Who used an MQTT client id when? Bars that take turns are two devices with one id."""
        from mqlab.figures.mqtt import ping_pong
        from mqlab.mqtt.connections import connections
        from mqlab.views.mqtt_tables import busiest

        return ping_pong(busiest(self.facts, self.diagnosis, client or self.client), connections(self.facts))

    def sessions(self) -> go.Figure:
        """What does the MQTT broker keep for sessions? Messages that wait and that were dropped."""
        from mqlab.figures.mqtt import session_store
        from mqlab.mqtt.sessions import offline_sessions

        return session_store(self.facts, offline_sessions(self.facts))

    def receivers(self) -> go.Figure:
        """Why did an MQTT receiver get fewer messages than were published? The one that lacks most."""
        from mqlab.figures.mqtt import message_funnel
        from mqlab.views.mqtt_tables import worst

        return message_funnel(worst(self.facts))

    def _about_bytes(self) -> Finding | None:
        """The first finding with a ledger of bytes, else the first one."""
        findings = self.diagnosis.findings
        return next((one for one in findings if one.ledger), next(iter(findings), None))

    def _is_rocketmq(self, group: str | None) -> bool:
        """The group is one of RocketMQ; where none is named, there are no others."""
        from mqlab.rocketmq.members import groups
        from mqlab.views.kafka_group import groups_to_show

        known = groups(self.facts)
        return group in known if group else bool(known) and not groups_to_show(self.facts)

    def _kafka(self, group: str | None, topic: str | None = None) -> RebalanceView:
        from mqlab.views.kafka_group import rebalance_view

        return rebalance_view(self.facts, self.diagnosis, group or self.group, topic or self.topic)

    def _audit(self, topic: str | None) -> AuditView:
        from mqlab.views.delivery import audit_view

        return audit_view(self.facts, topic or self.topic)

    def _rocketmq(self, group: str | None, topic: str | None = None) -> GroupView:
        from mqlab.views.rocketmq_group import group_view

        return group_view(self.facts, self.diagnosis, group or self.group, topic or self.topic)
