import java.io.FileWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;

/** A RocketMQ producer: arguments are key=value. */
public final class RocketFeeder {
    private static volatile boolean stopping;

    public static void main(String[] words) throws Exception {
        Map<String, String> options = new HashMap<>();
        for (String word : words) {
            String[] pair = word.split("=", 2);
            options.put(pair[0], pair[1]);
        }
        String name = options.get("name");
        DefaultMQProducer producer = new DefaultMQProducer("P_" + name.replace('-', '_'));
        producer.setNamesrvAddr(options.get("address"));
        producer.setClientIP("127.0.0.1");
        producer.setSendMsgTimeout(10_000);
        producer.start();
        Thread working = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            stopping = true;
            try {
                working.join(10_000);
            } catch (InterruptedException ignored) {
                Thread.currentThread().interrupt();
            }
        }));
        double rate = Double.parseDouble(options.getOrDefault("rate", "10"));
        long sent = 0;
        long begun = System.nanoTime();
        try (PrintWriter acks = new PrintWriter(new FileWriter(options.get("ledgers") + "/" + name + "-acked.csv"))) {
            acks.println("acked_at,id,topic,queue,offset");
            while (!stopping) {
                if (sent > (System.nanoTime() - begun) / 1e9 * rate) {
                    Thread.sleep(5);
                    continue;
                }
                String key = String.format("%s-%07d", options.getOrDefault("prefix", name), ++sent);
                byte[] body = key.getBytes(StandardCharsets.UTF_8);
                SendResult at = producer.send(new Message(options.get("topic"), "*", key, body));
                acks.println(Instant.now().truncatedTo(ChronoUnit.MILLIS) + "," + key + "," + options.get("topic") + ","
                        + at.getMessageQueue().getQueueId() + "," + at.getQueueOffset());
                acks.flush();
            }
        }
        producer.shutdown();
    }
}
