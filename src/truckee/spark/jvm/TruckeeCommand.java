package truckee;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.types.DataTypeUtils;
import org.apache.spark.sql.execution.command.LeafRunnableCommand;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** A statement that Python runs only when Spark runs it: EXPLAIN just shows it. */
public class TruckeeCommand extends LogicalPlan implements LeafRunnableCommand {
  private final String kind;
  private final Map about;
  private final List objects;
  private final StructType columns;
  private final Seq output;
  private Seq patterns;

  public TruckeeCommand(String kind, Map about, List objects, StructType columns) {
    this.kind = kind;
    this.about = about;
    this.objects = objects;
    this.columns = columns;
    this.output = DataTypeUtils.toAttributes(columns);
    this.patterns = (Seq) Nil$.MODULE$;
  }

  /** A command about objects of the JVM, which returns rows with these columns. */
  static TruckeeCommand of(String kind, Map about, Object[] objects, String columns) {
    StructType schema = columns.isEmpty() ? new StructType() : StructType.fromDDL(columns);
    return new TruckeeCommand(kind, about, Arrays.asList(objects), schema);
  }

  /** Asks Python about the statement: to run it, if the question is its own kind. */
  Object ask(String question, SparkSession session) {
    Object[] all = new Object[objects.size() + 1];
    all[0] = session;
    for (int i = 0; i < objects.size(); i++) all[i + 1] = objects.get(i);
    return TruckeeAnswers.ask(question, new HashMap(about), all);
  }

  public Seq run(SparkSession session) {
    Object answer = ask(kind, session);
    if (!(answer instanceof Dataset)) return (Seq) Nil$.MODULE$;
    return CollectionConverters.asScala(((Dataset) answer).collectAsList()).toSeq();
  }

  public Seq output() { return output; }

  public Seq children() { return (Seq) Nil$.MODULE$; }

  public LogicalPlan withNewChildrenInternal(IndexedSeq children) { return this; }

  public Seq nodePatterns() { return patterns; }

  public void org$apache$spark$sql$catalyst$plans$logical$Command$_setter_$nodePatterns_$eq(Seq patterns) {
    this.patterns = patterns;
  }

  public scala.collection.immutable.Map metrics() {
    return (scala.collection.immutable.Map) scala.collection.immutable.Map$.MODULE$.empty();
  }

  public String nodeName() { return "TruckeeCommand " + kind; }

  public int productArity() { return 4; }

  public Object productElement(int index) {
    switch (index) {
      case 0: return kind;
      case 1: return about;
      case 2: return objects;
      default: return columns;
    }
  }

  public boolean canEqual(Object other) { return other instanceof TruckeeCommand; }

  public boolean equals(Object other) { return this == other; }

  public int hashCode() { return System.identityHashCode(this); }
}
