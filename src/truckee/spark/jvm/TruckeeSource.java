package truckee;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.sources.CreatableRelationProvider;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.sources.RelationProvider;
import org.apache.spark.sql.sources.StreamSinkProvider;
import org.apache.spark.sql.sources.StreamSourceProvider;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** The format `delta`: tables by path are read and written, as batches and as streams. */
public class TruckeeSource implements DataSourceRegister, TableProvider, RelationProvider,
    CreatableRelationProvider, StreamSourceProvider, StreamSinkProvider {
  public String shortName() { return "delta"; }

  public String toString() { return "Delta"; }

  public BaseRelation createRelation(SQLContext context, scala.collection.immutable.Map options) {
    return (BaseRelation) TruckeeAnswers.ask("read", about(options), new Object[] {context.sparkSession(), context});
  }

  public BaseRelation createRelation(
      SQLContext context, SaveMode mode, scala.collection.immutable.Map options, Dataset rows) {
    Map about = about(options);
    about.put("mode", mode.name());
    return (BaseRelation) TruckeeAnswers.ask("write", about, new Object[] {context.sparkSession(), rows, context});
  }

  public Tuple2 sourceSchema(
      SQLContext context, Option schema, String provider, scala.collection.immutable.Map options) {
    Map about = about(options);
    about.put("given", schema.isDefined() ? ((StructType) schema.get()).json() : null);
    return new Tuple2("delta", TruckeeAnswers.ask("stream schema", about, new Object[] {context.sparkSession()}));
  }

  public Source createSource(SQLContext context, String checkpoint, Option schema, String provider,
      scala.collection.immutable.Map options) {
    Map about = about(options);
    about.put("checkpoint", checkpoint);
    Object[] found = ((java.util.List) TruckeeAnswers.ask("stream", about, new Object[] {context.sparkSession()}))
        .toArray();
    return new TruckeeStream((String) found[0], (StructType) found[1], (BiFunction) found[2]);
  }

  public Sink createSink(SQLContext context, scala.collection.immutable.Map options, Seq partitions,
      OutputMode mode) {
    Map about = about(options);
    about.put("output_mode", mode.toString());
    about.put("partitions", CollectionConverters.asJava((scala.collection.Seq) partitions).toArray());
    TruckeeAnswers.ask("check sink", new HashMap(about), new Object[] {context.sparkSession()});
    return new Batches(about, ((Map) about.get("options")).get("path"));
  }

  private static Map about(scala.collection.immutable.Map options) {
    Map about = new HashMap();
    about.put("options", new HashMap(CollectionConverters.asJava((scala.collection.Map) options)));
    return about;
  }

  /** These make Spark treat the source as one of version 2; it falls back to the methods above. */
  public StructType inferSchema(CaseInsensitiveStringMap options) { return new StructType(); }

  public Table getTable(StructType schema, Transform[] partitions, Map properties) {
    return new Nothing((String) properties.get("path"));
  }

  public boolean supportsExternalMetadata() { return true; }

  public static class Nothing implements Table {
    private final String path;

    Nothing(String path) { this.path = path; }

    /** Spark compares these with partitionBy before it appends to a table of its own catalog. */
    public Transform[] partitioning() {
      if (path == null) return new Transform[0];
      Map about = new HashMap();
      about.put("path", path);
      Object[] asked = new Object[] {org.apache.spark.sql.SparkSession.active(), null};
      return ((Table) TruckeeAnswers.ask("load", about, asked)).partitioning();
    }

    public String name() { return "delta"; }

    public StructType schema() { return new StructType(); }

    public Set capabilities() { return Collections.emptySet(); }
  }

  /** Where the batches of a stream go. */
  public static class Batches implements Sink {
    private final Map about;
    private final Object path;

    Batches(Map about, Object path) {
      this.about = about;
      this.path = path;
    }

    public void addBatch(long number, Dataset batch) {
      org.apache.spark.sql.classic.Dataset rows = (org.apache.spark.sql.classic.Dataset) batch;
      org.apache.spark.sql.classic.SparkSession session = rows.sparkSession();
      // A DataFrame of its own: the plan of a stream may be run once only.
      Object own = session.internalCreateDataFrame(rows.queryExecution().toRdd(), rows.schema(), false);
      Map told = new HashMap(about);
      told.put("number", Long.valueOf(number));
      told.put("tables_read", tablesRead(rows.queryExecution().analyzed()));
      TruckeeAnswers.ask("batch", told, new Object[] {session, own});
    }

    /** The tables that a batch reads, as a stream or beside it. */
    private static List tablesRead(LogicalPlan plan) {
      List found = new ArrayList();
      Seq leaves = plan.collectLeaves();
      for (int i = 0; i < leaves.size(); i++) {
        if (!(leaves.apply(i) instanceof LogicalRelation)) continue;
        BaseRelation relation = ((LogicalRelation) leaves.apply(i)).relation();
        if (!(relation instanceof HadoopFsRelation)) continue;
        FileIndex files = ((HadoopFsRelation) relation).location();
        if (files instanceof TruckeeFiles) found.add(((TruckeeFiles) files).root());
      }
      return found;
    }

    public String toString() { return "DeltaSink[" + path + "]"; }
  }
}
