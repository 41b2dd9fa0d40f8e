import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import org.apache.commons.cli.DefaultParser;
import org.apache.commons.cli.Options;
import org.apache.rocketmq.tools.command.MQAdminStartup;
import org.apache.rocketmq.tools.command.SubCommand;
import org.apache.rocketmq.tools.command.offset.GetConsumerStatusCommand;

/** Runs RocketMQ's own admin commands in one JVM: a line of standard input is one command, its words parted by tabs. */
public class MQAdmin {
    public static void main(String[] none) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split("\t");
            if (words[0].equals("getConsumerStatus")) { // it exists, but mqadmin does not offer it any more
                run(new GetConsumerStatusCommand(), Arrays.copyOfRange(words, 1, words.length));
            } else {
                MQAdminStartup.main0(words, null);
            }
            System.out.println("\n== end");
            System.out.flush();
        }
        System.exit(0);
    }

    private static void run(SubCommand command, String[] words) {
        try {
            Options options = command.buildCommandlineOptions(new Options());
            command.execute(new DefaultParser().parse(options, words), options, null);
        } catch (Exception e) {
            e.printStackTrace();
        }
    }
}
