// One node of OpenSearch on loopback, made of its jars as they are on Maven Central: no distribution can be downloaded.
// Prints "ready" with its port, and ends with its standard input.

import java.util.List;
import java.util.Map;
import org.opensearch.common.settings.Settings;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

final class OpenSearchNode extends Node {
  private OpenSearchNode(Settings settings) {
    super(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "test"),
        List.of(Netty4Plugin.class), false);
  }

  public static void main(String[] args) throws Exception {
    Settings settings = Settings.builder()
        .put("path.home", args[0])
        .put("network.host", "127.0.0.1")
        .put("http.port", 0)
        .put("transport.port", 0)
        .put("discovery.type", "single-node")
        .put("cluster.name", "test")
        .put("cluster.routing.allocation.disk.threshold_enabled", false)
        .build();
    try (Node node = new OpenSearchNode(settings).start()) {
      var address = node.injector().getInstance(HttpServerTransport.class).boundAddress().publishAddress();
      System.out.println("ready " + address.getPort());
      while (System.in.read() != -1) {}
    }
    System.exit(0);
  }
}
