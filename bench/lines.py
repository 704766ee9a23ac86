"""What a broker writes in a quiet week: the shapes of its lines, how often each comes, and the events to be planted.

A slot in braces is filled anew in every block that is written. ``{4}`` is a number of four digits; ``{n}`` one of one
to six, used only behind the first eighty characters, where no shape is cut; ``{uuid}``, ``{id}`` and ``{ip}`` are what
they say. ``{b}`` (a broker), ``{topic}`` and ``{group}`` are drawn once per line of a block.
"""

from __future__ import annotations

from dataclasses import dataclass

TOPICS = ("meter.readings", "tickets.opened", "device-json", "payments", "orders.v2", "audit", "stock-moves", "clicks")
GROUPS = ("billing", "stock-sync", "dashboard", "fraud-check", "mailer", "warehouse-etl")


@dataclass(frozen=True)
class Kind:
    """One kind of record: how many of 100,000 records are of it, its level and its lines behind ``LEVEL ``."""

    weight: int
    level: str
    text: str


_FRAMES = """
\tat org.apache.kafka.common.network.NetworkReceive.readFrom(NetworkReceive.java:{3})
\tat org.apache.kafka.common.network.KafkaChannel.receive(KafkaChannel.java:{3})
\tat org.apache.kafka.common.network.KafkaChannel.read(KafkaChannel.java:{3})
\tat org.apache.kafka.common.network.Selector.attemptRead(Selector.java:{3})
\tat org.apache.kafka.common.network.Selector.pollSelectionKeys(Selector.java:{3})
\tat org.apache.kafka.common.network.Selector.poll(Selector.java:{3})
\tat kafka.network.Processor.poll(SocketServer.scala:{4})
\tat kafka.network.Processor.run(SocketServer.scala:{4})
\tat java.base/java.lang.Thread.run(Thread.java:{3})"""

KINDS = (
    Kind(11200, "INFO", "[ProducerStateManager partition=meter.readings-{2}] Wrote producer snapshot at offset {9} "
         "with {n} producer ids in {n} ms. (org.apache.kafka.storage.internals.log.ProducerStateManager)"),
    Kind(11200, "INFO", "[LocalLog partition=meter.readings-{2}, dir=/var/lib/kafka/data] Rolled new log segment at "
         "offset {n}{6} in {n} ms. (kafka.log.LocalLog)"),
    Kind(9200, "INFO", "[LocalLog partition=meter.readings-{2}, dir=/var/lib/kafka/data] Deleting segment files "
         "LogSegment(baseOffset={9}, size={n}{3}, lastModifiedTime=17{11}, largestRecordTimestamp=17{11}),"
         "LogSegment(baseOffset={9}, size={n}{3}, lastModifiedTime=17{11}, largestRecordTimestamp=17{11}) "
         "(kafka.log.LocalLog$)"),
    Kind(7600, "INFO", "Deleted log /var/lib/kafka/data/tickets.opened-{2}/{20}.log.deleted. "
         "(org.apache.kafka.storage.internals.log.LogSegment)"),
    Kind(7600, "INFO", "Deleted offset index /var/lib/kafka/data/tickets.opened-{2}/{20}.index.deleted. "
         "(org.apache.kafka.storage.internals.log.LogSegment)"),
    Kind(7600, "INFO", "Deleted time index /var/lib/kafka/data/tickets.opened-{2}/{20}.timeindex.deleted. "
         "(org.apache.kafka.storage.internals.log.LogSegment)"),
    Kind(7600, "INFO", "Deleted producer state snapshot /var/lib/kafka/data/device-json-{2}/{20}.snapshot.deleted "
         "(org.apache.kafka.storage.internals.log.SnapshotFile)"),
    Kind(5200, "INFO", "[ProducerStateManager partition=device-json-{2}] Writing producer snapshot at offset {9} "
         "(kafka.log.ProducerStateManager)"),
    Kind(4200, "INFO", "[GroupMetadataManager brokerId={1}] Removed 0 expired offsets in {2} milliseconds. "
         "(kafka.coordinator.group.GroupMetadataManager)"),
    Kind(3000, "INFO", "[GroupMetadataManager brokerId={1}] Finished unloading __consumer_offsets-{2} for coordinator "
         "epoch Some({n}). Removed {n} cached offsets and {n} cached groups. "
         "(kafka.coordinator.group.GroupMetadataManager)"),
    Kind(3000, "INFO", "[TransactionCoordinator id={1}] Initialized transactionalId billing-{4} with producerId {6} "
         "and producer epoch {n} on partition __transaction_state-{n} "
         "(kafka.coordinator.transaction.TransactionCoordinator)"),
    Kind(2600, "INFO", "[SocketServer listenerType=BROKER, nodeId={1}] Closing idle connection of /{ip} (channelId="
         "{ip}:9092-{ip}:4{4}-{n}) (idle for 600 s) (org.apache.kafka.common.network.Selector)"),
    Kind(2000, "INFO", "[GroupMetadataManager brokerId={1}] Scheduling loading of offsets and group metadata from "
         "__consumer_offsets-{n} for epoch {n} (kafka.coordinator.group.GroupMetadataManager)"),
    Kind(2000, "INFO", "[GroupMetadataManager brokerId={1}] Finished loading offsets and group metadata from "
         "__consumer_offsets-{n} in {n} milliseconds for epoch {n}, of which {n} milliseconds was spent in the "
         "scheduler. (kafka.coordinator.group.GroupMetadataManager)"),
    Kind(1500, "INFO", "[TransactionCoordinator id={1}] Elected as the txn coordinator for partition {2} at epoch {3} "
         "(kafka.coordinator.transaction.TransactionCoordinator)"),
    Kind(900, "INFO", "[TransactionCoordinator id={1}] Resigned as the txn coordinator for partition {2} at epoch "
         "Some({n}) (kafka.coordinator.transaction.TransactionCoordinator)"),
    Kind(900, "INFO", "[Partition payments-{2} broker={1}] Log loaded for partition payments-{2} with initial high "
         "watermark {n}{4} (kafka.cluster.Partition)"),
    Kind(900, "INFO", "[LogLoader partition=orders-{2}, dir=/var/lib/kafka/data] Loading producer state till offset "
         "{n}{4} with message format version 2 (kafka.log.UnifiedLog$)"),
    Kind(700, "INFO", "[ReplicaFetcherManager on broker {1}] Added fetcher to broker {1} for partitions HashMap("
         "{topic}-{n} -> InitialFetchState(Some({id}),BrokerEndPoint(id={b}, host=kafka-{b}:9092),{n},{n}{4})) "
         "(kafka.server.ReplicaFetcherManager)"),
    Kind(700, "INFO", "[ReplicaFetcherManager on broker {1}] Removed fetcher for partitions Set(audit-{2}) "
         "(kafka.server.ReplicaFetcherManager)"),
    Kind(600, "INFO", "[ReplicaFetcher replicaId={1}, leaderId={1}, fetcherId={1}] Partition clicks-{2} has an "
         "older epoch ({n}) than the current leader. Will await the new LeaderAndIsr state before resuming fetching. "
         "(kafka.server.ReplicaFetcherThread)"),
    Kind(600, "INFO", "[UnifiedLog partition=orders-{2}, dir=/var/lib/kafka/data] Truncating to 0 has no effect as "
         "the largest offset in the log is {n} (kafka.log.UnifiedLog)"),
    Kind(500, "INFO", "[Broker id={1}] Skipped the become-follower state change for stock-moves-{2} with topic id Some "
         "since it is already a follower of leader {b} with leader epoch {n}. (state.change.logger)"),
    Kind(500, "INFO", "[Broker id={1}] Ignoring LeaderAndIsr request from controller {1} with correlation id {3} epoch "
         "{n} for partition stock-moves-{n} since its associated leader epoch {n} matches the current leader epoch "
         "(state.change.logger)"),
    Kind(500, "INFO", "Created log for partition clicks-{2} in /var/lib/kafka/data/clicks-{2} with properties "
         "{retention.ms={n}{4}, segment.bytes=1073741824} (kafka.log.LogManager)"),
    Kind(400, "INFO", "[LogCleaner thread {1}] Log cleaner thread {1} cleaned log __consumer_offsets-{2} (dirty "
         "section = [{n}{4}, {n}{4}]) (kafka.log.LogCleaner)"),
    Kind(900, "WARN", "[ReplicaFetcher replicaId={1}, leaderId={1}, fetcherId={1}] Received "
         "UNKNOWN_TOPIC_OR_PARTITION from the leader for partition {topic}-{n}. This error may be returned "
         "transiently when the partition is being created or deleted, but it is not expected to persist. "
         "(kafka.server.ReplicaFetcherThread)"),
    Kind(500, "WARN", "[BrokerLifecycleManager id={1}] Broker {1} sent a heartbeat request but was answered by "
         "an older epoch. (kafka.server.BrokerLifecycleManager)"),
    Kind(400, "WARN", "Attempting to send response via channel for which there is no open connection, connection id "
         "{ip}:9092-{ip}:4{4}-{n} (kafka.network.Processor)"),
    Kind(300, "ERROR", "given member.id stock-sync-{1}-{uuid} is known as a static member {group}, but not "
         "matching the expected member.id {group}-{uuid} during commit (kafka.coordinator.group.GroupMetadata)"),
    Kind(1230, "ERROR", "[ReplicaManager broker={1}] Error processing append operation on partition payments-{2} "
         "(kafka.server.ReplicaManager)\norg.apache.kafka.common.InvalidRecordException: Inner record inside the "
         "compressed record batch does not have incremental offsets, by broker {b} in partition payments-{n}"),
    Kind(820, "ERROR", "[ReplicaManager broker={1}] Error processing append operation on partition device-json-{2} "
         "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order "
         "sequence number for producer {n} at offset {n} in partition device-json-{n}: {n} (incoming seq. number), {n} "
         "(current end sequence number)"),
    Kind(35, "WARN", "[SocketServer listenerType=BROKER, nodeId={1}] Connection from /{ip} disconnected while it read "
         "(org.apache.kafka.common.network.Selector)\njava.io.EOFException: end of the "
         "channel (size = {n}{4} of 104857600)" + _FRAMES),
    Kind(35, "WARN", "[RaftManager id={1}] Connection to node {1} could not be used, retrying "
         "(kafka.raft.RaftManager)\njava.io.IOException: Connection to {1} was disconnected before the response was "
         "read" + _FRAMES +
         "\nCaused by: java.net.SocketTimeoutException: Read timed out\n\t... {1} more"),
)  # fmt: skip
"""Records that no signature selects, about in the proportions of a broker that rolls and deletes segments."""

PLANTED = (
    Kind(0, "INFO", "[GroupCoordinator {1}]: Preparing to rebalance group planted-{group} in state PreparingRebalance "
         "with old generation {n} (__consumer_offsets-{2}) (reason: removing member {group}-{uuid} on heartbeat "
         "expiration) (kafka.coordinator.group.GroupCoordinator)"),
    Kind(0, "INFO", "[GroupCoordinator {1}]: Member {group}-{uuid} in group planted-{group} has failed, removing it "
         "from the group (kafka.coordinator.group.GroupCoordinator)"),
    Kind(0, "INFO", "[Partition planted-{2} broker={1}] Shrinking ISR from 1,2,3 to {1}. Leader: (highWatermark: "
         "{n}{4}, endOffset: {n}{4}). Out of sync replicas: (brokerId: {b}, endOffset: {n}{4}). "
         "(kafka.cluster.Partition)"),
    Kind(0, "WARN", "[KafkaApi-{1}] Rejected a record for planted-{2}: org.apache.kafka.common.errors."
         "RecordTooLargeException: The message is {n}{4} bytes when serialized which is larger than 1048588 "
         "(kafka.server.KafkaApis)"),
    Kind(0, "INFO", "Processing override for entityPath: topics/planted-{2} with config: Map(retention.ms -> {n}{4}) "
         "(kafka.server.DynamicConfigManager)"),
)  # fmt: skip
"""Records that a signature selects: all of a generated log's events."""

EVENTS = {
    "rebalance-started": "Preparing to rebalance group planted-",
    "member-expired": "has failed, removing it from the group",
    "isr-shrunk": "Shrinking ISR from",
    "record-too-large": "RecordTooLargeException",
    "topic-config-changed": "Processing override for entityPath: topics/planted-",
}
"""The kind that mqlab gives each of ``PLANTED``, and words that only its lines hold."""
