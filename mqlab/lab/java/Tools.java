import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import org.apache.kafka.common.utils.Exit;

/** Kafka's own command line tools in one JVM: each line of input is a class, a file for its output, its arguments. */
public final class Tools {
    private static final class Left extends RuntimeException {
    }

    public static void main(String[] none) throws Exception {
        Exit.setExitProcedure((status, message) -> {
            throw new Left();
        });
        Exit.setHaltProcedure((status, message) -> {
            throw new Left();
        });
        PrintStream answers = System.out;
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            String[] words = line.split("\t");
            PrintStream output = new PrintStream(words[1], "UTF-8");
            System.setOut(output);
            System.setErr(output);
            try {
                run(words[0], Arrays.copyOfRange(words, 2, words.length));
            } finally {
                output.close();
                answers.println("done");
                answers.flush();
            }
        }
    }

    private static void run(String name, String[] arguments) throws Exception {
        try {
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) arguments);
        } catch (InvocationTargetException thrown) {
            if (!(thrown.getCause() instanceof Left)) {
                System.out.println("Error: " + thrown.getCause());
            }
        }
    }
}
