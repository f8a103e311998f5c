package truckee;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.FileSourceConstantMetadataStructField$;
import org.apache.spark.sql.catalyst.expressions.FileSourceGeneratedMetadataStructField$;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/**
 * Parquet files of which only some rows are wanted. Spark's own reader reads them. If a file carries a
 * text about its rows (see `TruckeeWanted`), `TruckeeBatches` or `TruckeeSingles` then selects the rows.
 *
 * Some columns are computed here and not read: the position of a row in its file, and the columns of the
 * change feed. `_change_type` may also be read, since change files have it. The ids of row tracking are
 * read where a file has them, and computed for the other rows; `_metadata` shows them.
 */
public class TruckeeFormat extends ParquetFileFormat {
  static final String ROWS = "truckee_rows";
  static final String POSITION = "__truckee_row";
  static final String ROW_INDEX = "_tmp_metadata_row_index";
  static final String BASE_ROW_ID = "base_row_id";
  static final String DEFAULT_ROW_VERSION = "default_row_commit_version";
  private static final String ROW_ID = "__truckee_metadata_row_id";
  private static final String ROW_VERSION = "__truckee_metadata_row_commit_version";
  private static final String ANY_VECTOR = "org.apache.spark.sql.vectorized.ColumnVector";
  private static final String HEAP_VECTOR = "org.apache.spark.sql.execution.vectorized.OnHeapColumnVector";

  // Where a column of the result comes from, if not from Spark's reader.
  static final int AT = -1;
  static final int TYPE = -2;
  static final int VERSION = -3;
  static final int TIME = -4;
  static final int ID = -5;
  static final int LAST_CHANGE = -6;

  private final boolean isFeed;
  private final String[] ids;

  /** `ids`: the columns of data files with the ids of rows and their versions; null without row tracking. */
  public TruckeeFormat(boolean isFeed, String[] ids) {
    this.isFeed = isFeed;
    this.ids = ids;
  }

  public String shortName() { return "truckee"; }

  public String toString() { return "truckee"; }

  public int hashCode() { return getClass().hashCode(); }

  public boolean equals(Object other) {
    if (!(other instanceof TruckeeFormat)) return false;
    TruckeeFormat that = (TruckeeFormat) other;
    return that.isFeed == isFeed && Arrays.equals(that.ids, ids);
  }

  public Seq metadataSchemaFields() {
    Seq fields = super.metadataSchemaFields();
    if (ids == null) return fields;
    StructField[] all = new StructField[fields.size() + 4];
    fields.copyToArray(all);
    int at = fields.size();
    all[at++] = generated("row_id", ROW_ID);
    all[at++] = constant(BASE_ROW_ID);
    all[at++] = constant(DEFAULT_ROW_VERSION);
    all[at++] = generated("row_commit_version", ROW_VERSION);
    return TruckeeFiles.seq(all);
  }

  private static StructField generated(String name, String internal) {
    return FileSourceGeneratedMetadataStructField$.MODULE$.apply(name, internal, DataTypes.LongType, true);
  }

  private static StructField constant(String name) {
    return FileSourceConstantMetadataStructField$.MODULE$.apply(name, DataTypes.LongType, true);
  }

  public boolean isSplitable(SparkSession session, Map options, Path path) {
    boolean isWhole = options.get("wholeFiles").contains("true");
    return !isWhole && super.isSplitable(session, options, path);
  }

  private int origin(String name) {
    if (POSITION.equals(name) || ROW_INDEX.equals(name)) return AT;
    if (ROW_ID.equals(name)) return ID;
    if (ROW_VERSION.equals(name)) return LAST_CHANGE;
    if (!isFeed) return 0;
    if ("_change_type".equals(name)) return TYPE;
    if ("_commit_version".equals(name)) return VERSION;
    return "_commit_timestamp".equals(name) ? TIME : 0;
  }

  public Option vectorTypes(StructType required, StructType partitions, SQLConf conf) {
    Option known = super.vectorTypes(required, partitions, conf);
    if (known.isEmpty()) return known;
    Seq names = (Seq) known.get();
    String[] types = new String[names.size()];
    for (int i = 0; i < types.length; i++) {
      int origin = i < required.length() ? origin(required.apply(i).name()) : 0;
      boolean isFilled = origin == AT || isId(origin);
      types[i] = origin == 0 ? (String) names.apply(i) : isFilled ? HEAP_VECTOR : ANY_VECTOR;
    }
    return Option.apply(TruckeeFiles.seq(types));
  }

  static boolean isId(int origin) { return origin == ID || origin == LAST_CHANGE; }

  public Function1 buildReaderWithPartitionValues(
      SparkSession session, StructType data, StructType partitions, StructType required, Seq filters,
      Map options, Configuration conf) {
    boolean batches = "true".equals(((Option) options.get("returning_batch")).get());
    List read = new ArrayList();
    int[] origins = new int[required.length()];
    int typeAt = -1;
    int[] idsAt = new int[] {-1, -1};
    boolean computes = false;
    for (int i = 0; i < origins.length; i++) {
      StructField field = required.apply(i);
      origins[i] = origin(field.name());
      computes = computes || origins[i] != 0;
      if (origins[i] == TYPE) typeAt = read.size();
      if (origins[i] == 0) origins[i] = read.size();
      if (origins[i] >= 0 || origins[i] == TYPE) read.add(field);
      if (isId(origins[i])) {
        int which = ID - origins[i];
        idsAt[which] = read.size();
        read.add(DataTypes.createStructField(ids[which], DataTypes.LongType, true));
      }
    }
    // Spark writes the checksums of pages, but ignores them unless it is asked to verify them.
    conf.setIfUnset("parquet.page.verify-checksum.enabled", "true");
    Configuration own = new Configuration(conf);
    Function1 plain = null;
    if (!computes) {
      plain = super.buildReaderWithPartitionValues(
          session, data, partitions, required, filters, options, new Configuration(conf));
    }
    int count = read.size();
    if (!batches) read.add(DataTypes.createStructField(ROW_INDEX, DataTypes.LongType, true));
    Function1 whole = plain != null && batches ? plain : super.buildReaderWithPartitionValues(
        session, data, partitions, schema(read), pushed(filters), options, new Configuration(conf));
    Broadcast settings = ((org.apache.spark.sql.classic.SparkSession) session).sparkContext().broadcast(
        new SerializableConfiguration(own), ClassTag$.MODULE$.apply(SerializableConfiguration.class));
    return new Reader(
        plain, whole, settings, batches, origins, count, typeAt, idsAt, required, partitions);
  }

  private static StructType schema(List fields) {
    return new StructType((StructField[]) fields.toArray(new StructField[fields.size()]));
  }

  /** Filters that Spark's reader may use to skip rows: those on columns that it reads. */
  private Seq pushed(Seq filters) {
    List kept = new ArrayList();
    for (int i = 0; i < filters.size(); i++) {
      String[] names = ((Filter) filters.apply(i)).references();
      boolean ours = false;
      for (int j = 0; j < names.length; j++) {
        int origin = origin(names[j]);
        ours = ours || origin != 0 && origin != TYPE;
      }
      if (!ours) kept.add(filters.apply(i));
    }
    return TruckeeFiles.seq(kept.toArray());
  }

  /** What a task does with a file. */
  public static class Reader extends AbstractFunction1 implements java.io.Serializable {
    final Function1 plain;
    final Function1 whole;
    final Broadcast settings;
    final boolean batches;
    final int[] origins;
    final int count;
    final int typeAt;
    final int[] idsAt;
    final StructType required;
    final StructType partitions;

    Reader(Function1 plain, Function1 whole, Broadcast settings, boolean batches, int[] origins, int count,
        int typeAt, int[] idsAt, StructType required, StructType partitions) {
      this.plain = plain;
      this.whole = whole;
      this.settings = settings;
      this.batches = batches;
      this.origins = origins;
      this.count = count;
      this.typeAt = typeAt;
      this.idsAt = idsAt;
      this.required = required;
      this.partitions = partitions;
    }

    /** Where the reader has the column that holds ids or versions of rows that came from other files. */
    int heldAt(int origin) { return idsAt[ID - origin]; }

    /** The id of the first row of a file, or the version of rows that hold none; null if there is none. */
    static Long ofFile(int origin, PartitionedFile file) {
      String name = origin == ID ? BASE_ROW_ID : DEFAULT_ROW_VERSION;
      Option found = (Option) file.otherConstantMetadataColumnValues().get(name);
      return found.isEmpty() ? null : (Long) found.get();
    }

    public Object apply(Object of) {
      PartitionedFile file = (PartitionedFile) of;
      Option text = (Option) file.otherConstantMetadataColumnValues().get(ROWS);
      if (text.isEmpty() && plain != null) return plain.apply(file);
      TruckeeWanted rows = TruckeeWanted.of(
          text.isEmpty() ? null : (String) text.get(), file,
          ((SerializableConfiguration) settings.value()).value());
      if (rows.isAll() && plain != null) return plain.apply(file);
      return batches ? (Object) new TruckeeBatches(this, file, rows) : new TruckeeSingles(this, file, rows);
    }
  }
}
