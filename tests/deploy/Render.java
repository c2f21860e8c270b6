import com.marcnuri.helm.Helm;
import java.nio.file.Files;
import java.nio.file.Path;

/** Renders a chart with Helm, once for each file of values in a folder, into files beside them, and prints what Helm's linter says. */
public class Render {
    public static void main(String[] arguments) throws Exception {
        Helm chart = new Helm(Path.of(arguments[0]));
        var lint = chart.lint().strict().call();
        lint.getMessages().forEach(System.out::println);
        System.out.println(lint.isFailed() ? "failed" : "passed");
        try (var files = Files.newDirectoryStream(Path.of(arguments[1]), "*.values")) {
            for (Path values : files) {
                Path rendered = Path.of(values.toString().replace(".values", ".yaml"));
                try {
                    Files.writeString(
                        rendered,
                        chart.template()
                            .withName("lineage-bridge")
                            .withNamespace("lineage")
                            .withKubeVersion(arguments[2])
                            .withValuesFile(values)
                            .call());
                } catch (IllegalStateException refusal) {
                    Files.writeString(Path.of(values.toString().replace(".values", ".error")), refusal.getMessage());
                }
            }
        }
    }
}
