import com.hivemq.embedded.EmbeddedExtension;
import com.hivemq.embedded.EmbeddedHiveMQ;
import com.hivemq.extension.sdk.api.ExtensionMain;
import com.hivemq.extension.sdk.api.auth.SimpleAuthenticator;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartOutput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopOutput;
import com.hivemq.extension.sdk.api.services.Services;
import java.nio.file.Paths;

/** HiveMQ CE with an extension that lets every client in: arguments are the folders of settings, data, extensions. */
public final class HiveLab {
    private static final class Open implements ExtensionMain {
        @Override
        public void extensionStart(ExtensionStartInput in, ExtensionStartOutput out) {
            SimpleAuthenticator open = (asked, answer) -> answer.authenticateSuccessfully();
            Services.securityRegistry().setAuthenticatorProvider(asked -> open);
        }

        @Override
        public void extensionStop(ExtensionStopInput in, ExtensionStopOutput out) {
        }
    }

    public static void main(String[] folders) throws Exception {
        EmbeddedExtension extension = EmbeddedExtension.builder()
                .withId("lab").withName("lab").withVersion("1").withPriority(0).withStartPriority(1000)
                .withAuthor("lab").withExtensionMain(new Open()).build();
        EmbeddedHiveMQ server = EmbeddedHiveMQ.builder()
                .withConfigurationFolder(Paths.get(folders[0])).withDataFolder(Paths.get(folders[1]))
                .withExtensionsFolder(Paths.get(folders[2])).withEmbeddedExtension(extension)
                .withoutLoggingBootstrap().build();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> server.stop().join()));
        server.start().join();
        Thread.currentThread().join();
    }
}
