package truckee;

import java.util.function.BiFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.streaming.Unassigned$;
import org.apache.spark.sql.connector.read.streaming.ReadAllAvailable;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.execution.datasources.DataSource;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.streaming.Offset;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.execution.streaming.runtime.SerializedOffset;
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Map;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

/**
 * The JVM's half of a stream: Spark's Source, which passes every question on to Python. It decides
 * nothing. Offsets are the texts of a checkpoint on both sides. A question has one text; a line break
 * separates two offsets, and an empty line stands for a missing offset.
 */
public class TruckeeStream implements Source, SupportsTriggerAvailableNow {
  private final String name;
  private final StructType schema;
  private final BiFunction answers;

  public TruckeeStream(String name, StructType schema, BiFunction answers) {
    this.name = name;
    this.schema = schema;
    this.answers = answers;
  }

  public StructType schema() { return schema; }

  public String toString() { return name; }

  public org.apache.spark.sql.connector.read.streaming.Offset latestOffset(
      org.apache.spark.sql.connector.read.streaming.Offset start, ReadLimit limit) {
    String kind = limit instanceof ReadAllAvailable ? "all" : "limited";
    Object found = answers.apply("latestOffset", kind + "\n" + (start == null ? "" : start.json()));
    return found == null ? null : new SerializedOffset((String) found);
  }

  public org.apache.spark.sql.connector.read.streaming.Offset reportLatestOffset() { return null; }

  /** Python applies the limits, for any limit but "all". */
  public ReadLimit getDefaultReadLimit() { return ReadLimit.maxFiles(1); }

  public void prepareForTriggerAvailableNow() { answers.apply("prepareForTriggerAvailableNow", ""); }

  public Dataset getBatch(Option start, Offset end) {
    String from = start.isEmpty() ? "" : ((Offset) start.get()).json();
    return (Dataset) answers.apply("getBatch", from + "\n" + end.json());
  }

  public void commit(Offset end) { answers.apply("commit", end.json()); }

  public void commit(org.apache.spark.sql.connector.read.streaming.Offset end) {
    answers.apply("commit", end.json());
  }

  public void stop() { answers.apply("stop", ""); }

  public Option getOffset() { throw new UnsupportedOperationException("latestOffset is asked instead"); }

  public org.apache.spark.sql.connector.read.streaming.Offset initialOffset() {
    throw new UnsupportedOperationException("latestOffset is asked instead");
  }

  public org.apache.spark.sql.connector.read.streaming.Offset deserializeOffset(String json) {
    return new SerializedOffset(json);
  }

  /** What stands in a plan for the stream. Each query that is started gets a Source of its own. */
  public static class Provider extends DataSource {
    private final StructType schema;
    private final BiFunction sources;

    public Provider(SparkSession session, String name, StructType schema, BiFunction sources) {
      super(
          session,
          name,
          (Seq) Nil$.MODULE$,
          Option.apply(null),
          (Seq) Nil$.MODULE$,
          Option.apply(null),
          (Map) Map$.MODULE$.empty(),
          Option.apply(null),
          Option.apply(null));
      this.schema = schema;
      this.sources = sources;
    }

    public Source createSource(String metadataPath) {
      BiFunction answers = (BiFunction) sources.apply("createSource", metadataPath);
      return new TruckeeStream(className(), schema, answers);
    }

    /** Spark asks these for file formats, to see whether there are hidden columns of files. */
    public Class providingClass() { return Object.class; }

    public Object providingInstance() { return className(); }
  }

  /** What Python calls: an object, since Py4J finds no static method of a class compiled here. */
  public static class Maker {
    public LogicalPlan relation(
        SparkSession session, String name, StructType schema, Seq output, BiFunction sources) {
      Provider provider = new Provider(session, name, schema, sources);
      return new StreamingRelation(provider, name, output, Unassigned$.MODULE$);
    }

    /** A plan whose relations are marked as streams, as Spark requires of the plan of a batch. */
    public LogicalPlan streaming(LogicalPlan plan) {
      return (LogicalPlan) plan.transform(new AsStream());
    }
  }

  public static class AsStream extends AbstractPartialFunction {
    public boolean isDefinedAt(Object node) { return node instanceof LogicalRelation; }

    public Object applyOrElse(Object node, Function1 otherwise) {
      if (!isDefinedAt(node)) return otherwise.apply(node);
      LogicalRelation of = (LogicalRelation) node;
      return new LogicalRelation(of.relation(), of.output(), of.catalogTable(), true, of.stream());
    }
  }
}
