package truckee;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.connect.planner.SparkConnectPlanner;
import org.apache.spark.sql.connect.plugin.RelationPlugin;
import org.apache.spark.sql.connect.plugin.SparkConnectPluginRegistry$;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A plugin of Spark's Connect service: it passes relations that Spark does not know to Python, which answers
 * with a DataFrame, or with nothing if they are not ours either.
 */
public class TruckeeConnect implements RelationPlugin {
  private final BiFunction answers;

  TruckeeConnect(BiFunction answers) { this.answers = answers; }

  public Optional transform(byte[] relation, SparkConnectPlanner planner) {
    Object frame = answers.apply(relation, planner);
    if (frame == null) return Optional.empty();
    return Optional.of(((Dataset) frame).queryExecution().analyzed());
  }

  /** What Python calls: an object, since Py4J finds no static method of a class compiled here. */
  public static class Maker {
    /** Lets the service ask Python, after the plugins that its settings name. */
    public void open(BiFunction answers) throws Exception {
      SparkConnectPluginRegistry$ registry = SparkConnectPluginRegistry$.MODULE$;
      List plugins = new ArrayList();
      Iterator known = CollectionConverters.asJava((scala.collection.Seq) registry.relationRegistry()).iterator();
      while (known.hasNext()) {
        Object plugin = known.next();
        if (!plugin.getClass().getName().equals(TruckeeConnect.class.getName())) plugins.add(plugin);
      }
      plugins.add(new TruckeeConnect(answers));
      Field cache = SparkConnectPluginRegistry$.class.getDeclaredField("relationRegistryCache");
      cache.setAccessible(true);
      cache.set(registry, CollectionConverters.asScala(plugins).toSeq());
    }
  }
}
