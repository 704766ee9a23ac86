import java.io.FileWriter;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;

/** A RocketMQ push consumer: arguments are key=value; instance is the name that an image brings along. */
public final class RocketWorker {
    public static void main(String[] words) throws Exception {
        Map<String, String> options = new HashMap<>();
        for (String word : words) {
            String[] pair = word.split("=", 2);
            options.put(pair[0], pair[1]);
        }
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(options.get("group"));
        consumer.setNamesrvAddr(options.get("address"));
        consumer.setClientIP("127.0.0.1");
        if (options.containsKey("instance")) {
            consumer.setInstanceName(options.get("instance"));
        }
        int threads = Integer.parseInt(options.getOrDefault("threads", "2"));
        consumer.setConsumeThreadMin(threads);
        consumer.setConsumeThreadMax(threads);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(options.get("topic"), options.getOrDefault("tags", "*"));
        long work = Long.parseLong(options.getOrDefault("work_ms", "1"));
        String path = options.get("ledgers") + "/" + options.get("name") + "-processed.csv";
        boolean fresh = !new java.io.File(path).exists();
        PrintWriter ledger = new PrintWriter(new FileWriter(path, true));
        if (fresh) {
            ledger.println("processed_at,topic,queue,offset,id");
        }
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                try {
                    Thread.sleep(work);
                } catch (InterruptedException stopped) {
                    Thread.currentThread().interrupt();
                    return ConsumeConcurrentlyStatus.RECONSUME_LATER;
                }
                synchronized (ledger) {
                    ledger.println(Instant.now().truncatedTo(ChronoUnit.MILLIS) + "," + message.getTopic() + ","
                            + message.getQueueId() + "," + message.getQueueOffset() + "," + message.getKeys());
                    ledger.flush();
                }
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        Runtime.getRuntime().addShutdownHook(new Thread(consumer::shutdown));
        Thread.currentThread().join();
    }
}
