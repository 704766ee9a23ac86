import java.io.BufferedReader;
import java.io.FileWriter;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The Java producer: arguments are key=value, client.* its own settings; standard input changes options as JSON. */
public final class Feeder {
    private static final Logger LOG = LoggerFactory.getLogger(Feeder.class);
    private static final Pattern PAIR = Pattern.compile("\"(\\w+)\": *\"?([^,\"}]+)");
    private static final Map<String, String> OPTIONS = new ConcurrentHashMap<>();
    private static final long LIFE = System.currentTimeMillis();
    private static volatile boolean stopping;
    private static volatile long sent;
    private static volatile long bytes;

    public static void main(String[] words) throws Exception {
        Properties client = new Properties();
        for (String word : words) {
            String[] pair = word.split("=", 2);
            if (pair[0].startsWith("client.")) {
                client.put(pair[0].substring(7), pair[1]);
            } else {
                OPTIONS.put(pair[0], pair[1]);
            }
        }
        String name = OPTIONS.get("name");
        client.put("bootstrap.servers", OPTIONS.get("address"));
        client.put("client.id", name);
        if (OPTIONS.containsKey("acks")) {
            client.put("acks", OPTIONS.get("acks"));
        }
        KafkaProducer<String, byte[]> producer =
                new KafkaProducer<>(client, new StringSerializer(), new ByteArraySerializer());
        Thread working = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            stopping = true;
            try {
                working.join(25_000);
            } catch (InterruptedException ignored) {
                Thread.currentThread().interrupt();
            }
        }));
        Thread listener = new Thread(Feeder::listen);
        listener.setDaemon(true);
        listener.start();
        try (PrintWriter ids = ledger(name + "-sent", "sent_at,id");
                PrintWriter acks = ledger(name + "-acked", "acked_at,id,topic,partition,offset");
                PrintWriter facts = new PrintWriter(new FileWriter(OPTIONS.get("facts"), true))) {
            // A thread of its own: send() stands still for up to max.block.ms where memory for batches is short.
            Thread noting = new Thread(() -> {
                while (!Thread.currentThread().isInterrupted()) {
                    note(producer, name, facts);
                    try {
                        Thread.sleep(500);
                    } catch (InterruptedException over) {
                        return;
                    }
                }
            });
            noting.setDaemon(true);
            noting.start();
            feed(producer, name, ids, acks);
            producer.close(java.time.Duration.ofSeconds(20));
            noting.interrupt();
            noting.join();
            note(producer, name, facts);
        }
        LOG.info("feeder stopped, sent={}", sent);
    }

    private static void feed(KafkaProducer<String, byte[]> producer, String name, PrintWriter ids, PrintWriter acks)
            throws InterruptedException {
        double owed = 0;
        long before = System.nanoTime();
        while (!stopping) {
            long now = System.nanoTime();
            String burst = OPTIONS.remove("burst");
            owed += (now - before) / 1e9 * number("rate", 10) + (burst == null ? 0 : Double.parseDouble(burst));
            before = now;
            for (; owed >= 1 && !stopping; owed--) {
                String key = String.format("%s-%07d", OPTIONS.getOrDefault("prefix", name), ++sent);
                byte[] value = new byte[(int) number("size", 100)];
                Arrays.fill(value, (byte) '.');
                bytes += value.length;
                ids.println(now() + "," + key);
                ids.flush();
                producer.send(new ProducerRecord<>(OPTIONS.get("topic"), key, value), (at, error) -> {
                    if (error == null) {
                        acks.println(now() + "," + key + "," + at.topic() + "," + at.partition() + "," + at.offset());
                        acks.flush();
                    } else {
                        LOG.error("record {} failed: {}", key, error.toString());
                    }
                });
            }
            Thread.sleep(20);
        }
    }

    /** Write down the client's own counters of this life: the last line of each life counts. */
    private static void note(KafkaProducer<?, ?> producer, String name, PrintWriter facts) {
        facts.printf("{\"at\": %.3f, \"who\": \"%s\", \"kind\": \"producer\", \"life\": %d, \"sent\": %d, \"bytes\": %d, "
                + "\"splits\": %.0f, \"retries\": %.0f, \"wire\": %.0f, \"errors\": %.0f}%n",
                System.currentTimeMillis() / 1000.0, name, LIFE, sent, bytes,
                total(producer, "batch-split-total"), total(producer, "record-retry-total"),
                total(producer, "outgoing-byte-total"), total(producer, "record-error-total"));
        facts.flush();
    }

    private static PrintWriter ledger(String stem, String columns) throws Exception {
        Path path = Paths.get(OPTIONS.get("ledgers"), stem + ".csv");
        boolean fresh = !Files.exists(path);
        PrintWriter rows = new PrintWriter(new FileWriter(path.toFile(), true));
        if (fresh) {
            rows.println(columns);
        }
        return rows;
    }

    private static void listen() {
        try (BufferedReader told = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = told.readLine(); line != null; line = told.readLine()) {
                Matcher pair = PAIR.matcher(line);
                while (pair.find()) {
                    OPTIONS.put(pair.group(1), pair.group(2));
                }
            }
        } catch (java.io.IOException ended) {
            LOG.debug("nobody tells anything any more", ended);
        }
    }

    private static double total(KafkaProducer<?, ?> producer, String name) {
        double sum = 0;
        for (Map.Entry<MetricName, ? extends Metric> one : producer.metrics().entrySet()) {
            if (one.getKey().name().equals(name) && one.getKey().group().equals("producer-metrics")) {
                sum += (Double) one.getValue().metricValue();
            }
        }
        return sum;
    }

    private static double number(String key, double otherwise) {
        String told = OPTIONS.get(key);
        return told == null ? otherwise : Double.parseDouble(told);
    }

    private static String now() {
        return Instant.now().truncatedTo(ChronoUnit.MILLIS).toString();
    }
}
