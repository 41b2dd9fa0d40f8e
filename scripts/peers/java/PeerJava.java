import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageClientExt;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.heartbeat.MessageModel;

/**
 * Drives the official Java client, so that mqctl can be compared with it and tested against it. The commands, options and
 * lines are those of peer-go; consuming also knows --mode lite (poll with subscription) and assign (poll of assigned queues).
 */
public class PeerJava {
  static final String USAGE = String.join("\n",
      "usage: peer-java produce NS TOPIC N [--keys PREFIX] [--tags A,B] [--size BYTES] [--props k=v,...] [--batch N] [--order SHARDS] [--delay-level N] [--tx commit|rollback|unknown]",
      "       peer-java consume NS GROUP TOPIC N TIMEOUT [--mode push|orderly|broadcast|lite|assign] [--tags EXPR | --sql EXPR]",
      "       peer-java bench produce|async|consume|lite NS TOPIC N SIZE WORKERS",
      "       all: [--access-key K --secret-key K]");
  /** Ends a speed run whose messages never come. */
  static final long BENCH_LIMIT_SECONDS = 300;

  /** Of one request; the default of 3 s is short for a busy machine, on which the drivers must still tell right from wrong. */
  static final int REQUEST_LIMIT_MILLIS = 15000;

  static class UsageException extends Exception {
    private static final long serialVersionUID = 1;

    UsageException(String message) { super(message); }
  }

  static class FailedException extends Exception {
    private static final long serialVersionUID = 1;

    FailedException(String message) { super(message); }
  }

  public static void main(String[] args) {
    int code = 0;
    try {
      run(args);
    } catch (UsageException e) {
      System.err.println("peer-java: " + e.getMessage() + " (--help shows the usage)");
      code = 2;
    } catch (FailedException e) {
      System.err.println("peer-java: " + e.getMessage());
      code = 1;
    } catch (Exception e) {
      System.err.println("peer-java: " + e);
      code = 1;
    }
    System.out.flush();
    System.exit(code);
  }

  static void run(String[] args) throws Exception {
    String command = args.length == 0 ? "" : args[0];
    switch (command) {
      case "produce": produce(new Options(args, 3)); break;
      case "consume": consume(new Options(args, 5)); break;
      case "bench": bench(new Options(args, 6)); break;
      case "-h": case "--help": System.out.println(USAGE); break;
      default: throw new UsageException("no command '" + command + "'");
    }
  }

  /** Positional arguments after the command, then --name value pairs. */
  static class Options {
    final String[] at;
    final Map<String, String> named = new TreeMap<>();

    Options(String[] args, int positional) throws UsageException {
      if (args.length < positional + 1) throw new UsageException((args.length - 1) + " of " + positional + " positional arguments");
      at = Arrays.copyOfRange(args, 1, positional + 1);
      for (int i = positional + 1; i < args.length; i += 2) {
        if (!args[i].startsWith("--") || i + 1 == args.length) throw new UsageException("unexpected '" + args[i] + "'");
        named.put(args[i].substring(2), args[i + 1]);
      }
    }

    String text(String name, String fallback) { return named.getOrDefault(name, fallback); }

    int number(String name, int fallback) throws UsageException { return named.containsKey(name) ? parse(named.get(name)) : fallback; }

    int number(int position) throws UsageException { return parse(at[position]); }

    static int parse(String s) throws UsageException {
      try {
        int n = Integer.parseInt(s);
        if (n > 0) return n;
      } catch (NumberFormatException e) {
        // told below
      }
      throw new UsageException("'" + s + "' is not a positive number");
    }

    RPCHook hook() {
      String key = text("access-key", "");
      return key.isEmpty() ? null : new AclClientRPCHook(new SessionCredentials(key, text("secret-key", "")));
    }
  }

  // ---- produce ------------------------------------------------------------------------------------------------------

  static void produce(Options o) throws Exception {
    String topic = o.at[1];
    int n = o.number(2), batch = o.number("batch", 1), shards = o.number("order", 0);
    if (o.named.containsKey("tx")) { produceTx(o, topic, n); return; }
    DefaultMQProducer p = new DefaultMQProducer("peer_java_producer", o.hook());
    p.setNamesrvAddr(o.at[0]);
    p.setMqClientApiTimeout(REQUEST_LIMIT_MILLIS);
    p.setSendMsgTimeout(REQUEST_LIMIT_MILLIS);
    p.start();
    for (int seq = 0; seq < n; seq += batch) {
      List<Message> messages = new ArrayList<>();
      for (int i = seq; i < Math.min(seq + batch, n); i++) messages.add(message(topic, i, o));
      SendResult r;
      if (shards > 0) {
        r = p.send(messages.get(0), (queues, m, shard) -> queues.get((Integer) shard % queues.size()), seq % shards);
      } else {
        r = messages.size() == 1 ? p.send(messages.get(0)) : p.send(messages);
      }
      if (r.getSendStatus() != SendStatus.SEND_OK) throw new FailedException("send " + seq + ": " + r.getSendStatus());
      printSent(seq, messages, r);
    }
    p.shutdown();
  }

  static void produceTx(Options o, String topic, int n) throws Exception {
    LocalTransactionState state;
    switch (o.text("tx", "")) {
      case "commit": state = LocalTransactionState.COMMIT_MESSAGE; break;
      case "rollback": state = LocalTransactionState.ROLLBACK_MESSAGE; break;
      case "unknown": state = LocalTransactionState.UNKNOW; break;
      default: throw new UsageException("--tx takes commit, rollback or unknown");
    }
    TransactionMQProducer p = new TransactionMQProducer("peer_java_producer", o.hook());
    p.setNamesrvAddr(o.at[0]);
    p.setMqClientApiTimeout(REQUEST_LIMIT_MILLIS);
    p.setSendMsgTimeout(REQUEST_LIMIT_MILLIS);
    p.setTransactionListener(new TransactionListener() {
      public LocalTransactionState executeLocalTransaction(Message m, Object arg) { return state; }

      public LocalTransactionState checkLocalTransaction(MessageExt m) { return LocalTransactionState.COMMIT_MESSAGE; }
    });
    p.start();
    for (int seq = 0; seq < n; seq++) {
      Message m = message(topic, seq, o);
      printSent(seq, List.of(m), p.sendMessageInTransaction(m, null));
    }
    p.shutdown();
  }

  /** The message of a sequence number: the number alone decides every byte of it. */
  static Message message(String topic, int seq, Options o) throws UsageException {
    Message m = new Message(topic, body(seq, o.number("size", 64)));
    m.putUserProperty("seq", Integer.toString(seq));
    for (String pair : o.text("props", "").split(",")) {
      int i = pair.indexOf('=');
      if (i > 0) m.putUserProperty(pair.substring(0, i), pair.substring(i + 1));
    }
    if (o.named.containsKey("keys")) m.setKeys(o.text("keys", "") + seq);
    if (o.named.containsKey("tags")) {
      String[] tags = o.text("tags", "").split(",");
      m.setTags(tags[seq % tags.length]);
    }
    if (o.named.containsKey("delay-level")) m.setDelayTimeLevel(o.number("delay-level", 0));
    return m;
  }

  /** "message SEQ " repeated and cut to size bytes; both drivers make the same. */
  static byte[] body(int seq, int size) {
    byte[] word = ("message " + seq + " ").getBytes(StandardCharsets.UTF_8), b = new byte[size];
    for (int i = 0; i < size; i++) b[i] = word[i % word.length];
    return b;
  }

  /** One line for each message of a batch: the broker answers with the first one's offset and all ids. */
  static void printSent(int seq, List<Message> batch, SendResult r) throws Exception {
    String[] ids = text(r.getMsgId()).split(","), offsetIds = text(r.getOffsetMsgId()).split(",");
    for (int i = 0; i < batch.size(); i++) {
      Message m = batch.get(i);
      Line line = new Line().put("seq", seq + i).put("broker", r.getMessageQueue().getBrokerName()).put("queue", r.getMessageQueue().getQueueId());
      line.put("offset", r.getQueueOffset() + i).put("msgId", i < ids.length ? ids[i] : "").put("offsetMsgId", i < offsetIds.length ? offsetIds[i] : "");
      line.put("tags", text(m.getTags())).put("keys", text(m.getKeys())).put("length", m.getBody().length).put("sha256", hash(m.getBody())).print();
    }
  }

  // ---- consume ------------------------------------------------------------------------------------------------------

  /** Prints messages and opens done when n distinct ones (by queue and offset) have come. */
  static class Tally {
    final Set<String> seen = new HashSet<>();
    final int n;
    final CountDownLatch done = new CountDownLatch(1);

    Tally(int n) { this.n = n; }

    synchronized void take(List<MessageExt> messages) {
      for (MessageExt m : messages) {
        if (seen.size() >= n) return;
        try {
          printReceived(m);
        } catch (Exception e) {
          throw new IllegalStateException(e);
        }
        seen.add(m.getBrokerName() + "/" + m.getQueueId() + "/" + m.getQueueOffset());
        if (seen.size() == n) done.countDown();
      }
    }

    synchronized int count() { return seen.size(); }
  }

  static void consume(Options o) throws Exception {
    int n = o.number(3), limit = o.number(4);
    Tally tally = new Tally(n);
    Runnable stop;
    String mode = o.text("mode", "push");
    switch (mode) {
      case "push": case "orderly": case "broadcast": stop = push(o, mode, tally); break;
      case "lite": stop = lite(o, tally, limit); break;
      case "assign": stop = assign(o, tally, limit); break;
      default: throw new UsageException("--mode takes push, orderly, broadcast, lite or assign");
    }
    boolean complete = tally.done.await(limit, TimeUnit.SECONDS);
    if (!complete) throw new FailedException(tally.count() + " of " + n + " messages after " + limit + "s");
    stop.run();
  }

  static MessageSelector selector(Options o) {
    return o.named.containsKey("sql") ? MessageSelector.bySql(o.text("sql", "")) : MessageSelector.byTag(o.text("tags", "*"));
  }

  static Runnable push(Options o, String mode, Tally tally) throws Exception {
    DefaultMQPushConsumer c = new DefaultMQPushConsumer(o.at[1]);
    if (o.hook() != null) c = new DefaultMQPushConsumer(o.at[1], o.hook());
    c.setNamesrvAddr(o.at[0]);
    c.setMqClientApiTimeout(REQUEST_LIMIT_MILLIS);
    c.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
    c.subscribe(o.at[2], selector(o));
    if (mode.equals("broadcast")) c.setMessageModel(MessageModel.BROADCASTING);
    if (mode.equals("orderly")) {
      c.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
        tally.take(messages);
        return ConsumeOrderlyStatus.SUCCESS;
      });
    } else {
      c.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
        tally.take(messages);
        return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
      });
    }
    c.start();
    return c::shutdown;
  }

  static DefaultLitePullConsumer liteConsumer(Options o) {
    DefaultLitePullConsumer c = new DefaultLitePullConsumer(o.at[1], o.hook());
    c.setNamesrvAddr(o.at[0]);
    c.setMqClientApiTimeout(REQUEST_LIMIT_MILLIS);
    c.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
    return c;
  }

  static Runnable lite(Options o, Tally tally, int limit) throws Exception {
    DefaultLitePullConsumer c = liteConsumer(o);
    c.subscribe(o.at[2], selector(o));
    c.start();
    poll(c, tally, limit);
    return c::shutdown;
  }

  static Runnable assign(Options o, Tally tally, int limit) throws Exception {
    DefaultLitePullConsumer c = liteConsumer(o);
    c.start();
    List<MessageQueue> queues = new ArrayList<>(c.fetchMessageQueues(o.at[2]));
    c.assign(queues);
    for (MessageQueue q : queues) c.seekToBegin(q);
    poll(c, tally, limit);
    return c::shutdown;
  }

  static void poll(DefaultLitePullConsumer c, Tally tally, int limit) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(limit);
    while (tally.done.getCount() > 0 && System.nanoTime() < end) tally.take(c.poll(200));
  }

  static void printReceived(MessageExt m) throws Exception {
    int seq = -1;
    try {
      seq = Integer.parseInt(text(m.getUserProperty("seq")));
    } catch (NumberFormatException e) {
      // a message of someone else's
    }
    Line line = new Line().put("seq", seq).put("broker", text(m.getBrokerName())).put("queue", m.getQueueId()).put("offset", m.getQueueOffset());
    // getMsgId answers the producer's id; the id made of address and offset hides in the class that the client decodes to.
    line.put("msgId", text(m.getMsgId())).put("offsetMsgId", offsetId(m)).put("tags", text(m.getTags())).put("keys", text(m.getKeys()));
    line.put("properties", new TreeMap<>(m.getProperties())).put("reconsume", m.getReconsumeTimes()).put("born", m.getBornTimestamp());
    line.put("store", m.getStoreTimestamp()).put("length", m.getBody().length).put("sha256", hash(m.getBody())).print();
  }

  static String offsetId(MessageExt m) throws Exception {
    return m instanceof MessageClientExt ? ((MessageClientExt) m).getOffsetMsgId() : "";
  }

  // ---- speed --------------------------------------------------------------------------------------------------------

  static void bench(Options o) throws Exception {
    String mode = o.at[0], ns = o.at[1], topic = o.at[2];
    int n = o.number(3), size = o.number(4), workers = o.number(5);
    switch (mode) {
      case "produce": case "async": benchProduce(mode, ns, topic, n, size, workers); break;
      case "consume": benchPush(ns, topic, n, workers); break;
      case "lite": benchLite(ns, topic, n); break;
      default: throw new UsageException("no mode '" + mode + "'");
    }
  }

  static void benchProduce(String mode, String ns, String topic, int n, int size, int workers) throws Exception {
    byte[] body = new byte[size];
    Arrays.fill(body, (byte) 'x');
    DefaultMQProducer p = new DefaultMQProducer("peer_java");
    p.setNamesrvAddr(ns);
    p.start();
    // The first send fetches the route and dials; the measurement starts after it.
    p.send(new Message(topic, body));
    AtomicLong ok = new AtomicLong(), bad = new AtomicLong();
    double cpu = cpu();
    long began = System.nanoTime();
    if (mode.equals("produce")) sendSync(p, topic, body, n, workers, ok, bad);
    else sendAsync(p, topic, body, n, workers, ok, bad);
    figures(mode, ok.get(), bad.get(), began, cpu);
  }

  static void sendSync(DefaultMQProducer p, String topic, byte[] body, int n, int workers, AtomicLong ok, AtomicLong bad) throws Exception {
    AtomicLong next = new AtomicLong();
    ExecutorService pool = Executors.newFixedThreadPool(workers);
    for (int i = 0; i < workers; i++) {
      pool.submit(() -> {
        while (next.getAndIncrement() < n) {
          try {
            p.send(new Message(topic, body));
            ok.incrementAndGet();
          } catch (Exception e) {
            bad.incrementAndGet();
          }
        }
      });
    }
    pool.shutdown();
    pool.awaitTermination(BENCH_LIMIT_SECONDS, TimeUnit.SECONDS);
  }

  static void sendAsync(DefaultMQProducer p, String topic, byte[] body, int n, int inflight, AtomicLong ok, AtomicLong bad) throws Exception {
    Semaphore slots = new Semaphore(inflight);
    for (int i = 0; i < n; i++) {
      slots.acquire();
      p.send(new Message(topic, body), new SendCallback() {
        public void onSuccess(SendResult r) { ok.incrementAndGet(); slots.release(); }

        public void onException(Throwable e) { bad.incrementAndGet(); slots.release(); }
      });
    }
    slots.acquire(inflight);
  }

  static void benchPush(String ns, String topic, int n, int workers) throws Exception {
    DefaultMQPushConsumer c = new DefaultMQPushConsumer("peer_java_" + System.nanoTime());
    c.setNamesrvAddr(ns);
    c.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
    c.subscribe(topic, "*");
    c.setPullBatchSize(32);
    c.setConsumeMessageBatchMaxSize(32);
    c.setConsumeThreadMin(workers);
    c.setConsumeThreadMax(workers);
    CountDownLatch done = new CountDownLatch(1);
    AtomicLong first = new AtomicLong(), got = new AtomicLong();
    c.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
      first.compareAndSet(0, System.nanoTime());
      if (got.addAndGet(messages.size()) >= n) done.countDown();
      return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
    });
    double cpu = cpu();
    c.start();
    done.await(BENCH_LIMIT_SECONDS, TimeUnit.SECONDS);
    if (got.get() == 0) throw new FailedException("no message came within " + BENCH_LIMIT_SECONDS + "s");
    figures("consume", got.get(), 0, first.get(), cpu);
  }

  static void benchLite(String ns, String topic, int n) throws Exception {
    DefaultLitePullConsumer c = new DefaultLitePullConsumer("peer_java_" + System.nanoTime());
    c.setNamesrvAddr(ns);
    c.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
    c.setPullBatchSize(32);
    c.subscribe(topic, "*");
    double cpu = cpu();
    c.start();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(BENCH_LIMIT_SECONDS), first = 0, got = 0;
    while (got < n && System.nanoTime() < end) {
      List<MessageExt> messages = c.poll(200);
      if (!messages.isEmpty() && first == 0) first = System.nanoTime();
      got += messages.size();
    }
    if (got == 0) throw new FailedException("no message came within " + BENCH_LIMIT_SECONDS + "s");
    figures("lite", got, 0, first, cpu);
  }

  static void figures(String mode, long ok, long bad, long began, double cpuBefore) throws Exception {
    double wall = (System.nanoTime() - began) / 1e9, used = cpu() - cpuBefore;
    System.out.printf("java %s n=%d wall=%.2f rate=%.0f cpu=%.2f cpu_us_per_msg=%.2f rss_mib=%d bad=%d%n",
        mode, ok, wall, ok / wall, used, used * 1e6 / ok, peakMiB(), bad);
  }

  static double cpu() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
  }

  static long peakMiB() throws Exception {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmHWM")) return Long.parseLong(line.replaceAll("\\D", "")) / 1024;
    }
    return 0;
  }

  // ---- lines --------------------------------------------------------------------------------------------------------

  static String text(String s) { return s == null ? "" : s; }

  static String hash(byte[] b) throws Exception {
    StringBuilder hex = new StringBuilder();
    for (byte x : MessageDigest.getInstance("SHA-256").digest(b)) hex.append(String.format("%02x", x));
    return hex.toString();
  }

  /** One JSON object on one line. */
  static class Line {
    private final StringBuilder b = new StringBuilder("{");

    Line put(String name, Object value) {
      if (b.length() > 1) b.append(',');
      quote(name);
      b.append(':');
      if (value instanceof Number) b.append(value);
      else if (value instanceof Map) object((Map<?, ?>) value);
      else quote(value.toString());
      return this;
    }

    private void object(Map<?, ?> values) {
      String separator = "";
      b.append('{');
      for (Map.Entry<?, ?> e : values.entrySet()) {
        b.append(separator);
        quote(e.getKey().toString());
        b.append(':');
        quote(e.getValue().toString());
        separator = ",";
      }
      b.append('}');
    }

    private void quote(String s) {
      b.append('"');
      for (char c : s.toCharArray()) {
        if (c == '"' || c == '\\') b.append('\\').append(c);
        else if (c < ' ') b.append(String.format("\\u%04x", (int) c));
        else b.append(c);
      }
      b.append('"');
    }

    synchronized void print() { System.out.println(b.append('}')); }
  }
}
