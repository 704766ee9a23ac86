import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.Arrays;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/** mqadmin in one JVM: each line of input is a file for its output and its arguments. */
public final class RocketTools {
    public static void main(String[] none) throws Exception {
        PrintStream answers = System.out;
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            String[] words = line.split("\t");
            PrintStream output = new PrintStream(words[1], "UTF-8");
            System.setOut(output);
            System.setErr(output);
            try {
                MQAdminStartup.main0(Arrays.copyOfRange(words, 2, words.length), null);
            } finally {
                output.close();
                answers.println("done");
                answers.flush();
            }
        }
    }
}
