package truckee;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.HexFormat;
import java.util.function.BiFunction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.RuntimeConfig;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function1;
import scala.collection.immutable.ArraySeq;
import scala.collection.immutable.Map;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

/**
 * The JVM's half of the file index, and of making plans. It decides nothing: it asks Python once a
 * query which files there are. Only two things are done here: what would otherwise cost one call for
 * each file or column, and what Spark asks very often (names, equality, sizes).
 */
public class TruckeeFiles implements FileIndex {
  private static final long BLOCK = 128L << 20;
  /** The largest size in a log that is believed: BELIEVED_SIZE in `scan_file.py`. */
  private static final long BELIEVED = 4L << 30;

  private final String name;
  private final String root;
  private final Seq rootPaths;
  private final StructType partitionSchema;
  private final long sizeInBytes;
  private final BiFunction files;
  private final String rows;
  private final SparkSession session;

  /**
   * `rows` says which rows of the table these are, so that Spark finds rows that it keeps in memory and
   * reads the same rows once in a query. If it is empty, the rows equal only themselves.
   */
  public TruckeeFiles(String name, String root, StructType partitionSchema, long sizeInBytes, String rows,
      BiFunction files, SparkSession session) {
    this.name = name;
    this.root = root;
    this.rows = rows;
    // Spark's explain() shows the class and as many of these paths as fit, starting with the first.
    this.rootPaths = seq(new Path[] {new Path("/" + name), new Path(root)});
    this.partitionSchema = partitionSchema;
    this.sizeInBytes = sizeInBytes;
    this.files = files;
    this.session = session;
  }

  /** The URL of the table. */
  public String root() { return root; }

  public Seq rootPaths() { return rootPaths; }

  public StructType partitionSchema() { return partitionSchema; }

  public long sizeInBytes() { return sizeInBytes; }

  public void refresh() {}

  public String toString() { return name; }

  public boolean equals(Object other) {
    if (this == other) return true;
    if (!(other instanceof TruckeeFiles) || rows.isEmpty()) return false;
    return rows.equals(((TruckeeFiles) other).rows) && root.equals(((TruckeeFiles) other).root);
  }

  public int hashCode() { return root.hashCode(); }

  public Seq listFiles(Seq partitionFilters, Seq dataFilters) {
    PartitionDirectory[] all = ask(partitionFilters, dataFilters);
    if (partitionFilters.isEmpty()) return seq(all);
    // Spark removes these filters from its plan, so they must be applied exactly here.
    Expression[] bound = new Expression[partitionFilters.size()];
    for (int i = 0; i < bound.length; i++) {
      bound[i] = (Expression) ((Expression) partitionFilters.apply(i)).transform(new Bind(partitionSchema));
    }
    java.util.ArrayList kept = new java.util.ArrayList();
    for (int i = 0; i < all.length; i++) {
      boolean keep = true;
      for (int j = 0; keep && j < bound.length; j++) {
        keep = Boolean.TRUE.equals(bound[j].eval(all[i].values()));
      }
      if (keep) kept.add(all[i]);
    }
    return seq(kept.toArray(new PartitionDirectory[kept.size()]));
  }

  private PartitionDirectory[] ask(Seq partitionFilters, Seq dataFilters) {
    return (PartitionDirectory[]) files.apply(question(partitionFilters, dataFilters), null);
  }

  /**
   * All that Python needs for its answer, as JSON: the filters, the zone of the session, and the names of the
   * query and of the command that this thread runs, null where there is none.
   */
  private String question(Seq partitionFilters, Seq dataFilters) {
    java.util.ArrayList filters = new java.util.ArrayList();
    for (int i = 0; i < partitionFilters.size(); i++) filters.add(Maker.spelled((Expression) partitionFilters.apply(i)));
    for (int i = 0; i < dataFilters.size(); i++) filters.add(Maker.spelled((Expression) dataFilters.apply(i)));
    java.util.HashMap question = new java.util.HashMap();
    question.put("filters", filters);
    question.put("zone", session.sessionState().conf().sessionLocalTimeZone());
    question.put("query", session.sparkContext().getLocalProperty("spark.sql.execution.id"));
    question.put("command", session.sparkContext().getLocalProperty("truckee.command"));
    try {
      return new ObjectMapper().writeValueAsString(question);
    } catch (IOException error) {
      throw new java.io.UncheckedIOException(error);
    }
  }

  public String[] inputFiles() {
    Seq none = seq(new Object[0]);
    PartitionDirectory[] all = ask(none, none);
    java.util.TreeSet paths = new java.util.TreeSet();
    for (int i = 0; i < all.length; i++) {
      paths.add(((FileStatusWithMetadata) all[i].files().head()).getPath().toUri().toString());
    }
    return (String[]) paths.toArray(new String[paths.size()]);
  }

  static Seq seq(Object[] items) { return ArraySeq.unsafeWrapArray(items); }

  /** What Python calls: an object, since Py4J finds no static method of a class compiled here. */
  public static class Maker {
    private static final Map NOTHING = (Map) Map$.MODULE$.empty();
    private static final DataType TEXT = DataType.fromJson("\"string\"");

    /**
     * The rows of files, read with `options`: the columns of `data`, then those of `constants`, both
     * schemas in JSON. The file reader has settings of its own. The DataFrame belongs to the user's
     * session, with its views and settings. `ids` are the two columns of row tracking, a list in JSON or null.
     */
    public Dataset rows(
        SparkSession session, String settings, String name, String root, String constants, String data,
        long sizeInBytes, String rows, boolean isFeed, String ids, java.util.Map options, BiFunction files)
        throws IOException {
      StructType partitionSchema = (StructType) DataType.fromJson(constants);
      String[] columns = (String[]) new ObjectMapper().readValue(ids, String[].class);
      SparkSession reader = with(session, settings);
      HadoopFsRelation relation = new HadoopFsRelation(
          new TruckeeFiles(name, root, partitionSchema, sizeInBytes, rows, files, session),
          partitionSchema, (StructType) DataType.fromJson(data), scala.Option.empty(),
          new TruckeeFormat(isFeed, columns), PythonUtils.toScalaMap(options), reader);
      Dataset frame = (Dataset) reader.baseRelationToDataFrame(relation);
      return reader == session ? frame : Dataset.ofRows(session, frame.logicalPlan());
    }

    /** The same rows in a copy of their session that differs by these settings. */
    public Dataset moved(Dataset rows, String settings) throws IOException {
      SparkSession copy = with((SparkSession) rows.sparkSession(), settings);
      return Dataset.ofRows(copy, rows.queryExecution().analyzed());
    }

    /** The session, or a copy of it if there are settings: names and values, a list of pairs in JSON. */
    private static SparkSession with(SparkSession session, String settings) throws IOException {
      String[][] pairs = (String[][]) new ObjectMapper().readValue(settings, String[][].class);
      if (pairs.length == 0) return session;
      SparkSession copy = TruckeeSessions.copyOf(session);
      for (int i = 0; i < pairs.length; i++) copy.conf().set(pairs[i][0], pairs[i][1]);
      return copy;
    }

    /**
     * Put the files of one packed text into `all`, starting at `first`, and answer with `all`: many files come
     * in pieces, since one text for all of them is too large. For the first piece, `all` is null, and an array
     * for `total` files is made. The fields of the text are separated by NUL,
     * which no path can contain. Each file has its path, size and modification time, the text about its
     * rows (see `TruckeeWanted`; empty for all rows), and the numbers of row tracking (the first id and
     * the version, separated by a space; empty for none), then one field for each constant: "-" for null,
     * "+" and the text of the value, or "=" and its bytes in hex if it contains a NUL. `types` are the types of the constants, a list in JSON;
     * timestamps are read in `zone`. If a text is not of its type, the answer is the place of the file
     * and that of the constant, as text; otherwise the value would silently become null. `conf` is only
     * needed for files whose size is not between 1 and `BELIEVED`.
     */
    public Object unpack(PartitionDirectory[] all, int total, int first, int count, String packed, String types,
        String zone, Configuration conf) throws IOException {
      if (all == null) all = new PartitionDirectory[total];
      Expression[] casts = casts((String[]) new ObjectMapper().readValue(types, String[].class), zone);
      int at = 0;
      String[] fields = new String[5 + casts.length];
      for (int i = first; i < first + count; i++) {
        for (int j = 0; j < fields.length; j++) {
          int end = packed.indexOf('\0', at);
          fields[j] = packed.substring(at, end);
          at = end + 1;
        }
        Object[] texts = new Object[casts.length];
        for (int j = 0; j < texts.length; j++) {
          String field = fields[5 + j];
          texts[j] = field.charAt(0) == '-' ? null : text(field);
        }
        InternalRow row = new GenericInternalRow(texts);
        Object[] values = new Object[casts.length];
        for (int j = 0; j < values.length; j++) {
          try {
            values[j] = casts[j].eval(row);
          } catch (RuntimeException malformed) {
            return i + " " + j;
          }
        }
        Path path = new Path(fields[0]);
        long size = sizeOf(path, Long.parseLong(fields[1]), conf);
        long modified = Long.parseLong(fields[2]);
        FileStatus status = new FileStatus(size, false, 1, BLOCK, modified, path);
        FileStatusWithMetadata file = new FileStatusWithMetadata(status, about(fields[3], fields[4]));
        all[i] = PartitionDirectory.apply(
            new GenericInternalRow(values), seq(new FileStatusWithMetadata[] {file}));
      }
      return all;
    }

    private static Map about(String rows, String ids) {
      Map about = rows.isEmpty() ? NOTHING : new Map.Map1(TruckeeFormat.ROWS, rows);
      if (ids.isEmpty()) return about;
      String[] numbers = ids.split(" ");
      about = (Map) about.updated(TruckeeFormat.BASE_ROW_ID, Long.valueOf(numbers[0]));
      if (numbers.length == 1) return about;
      return (Map) about.updated(TruckeeFormat.DEFAULT_ROW_VERSION, Long.valueOf(numbers[1]));
    }

    /** Turns a row of texts into typed values; fails if a text is not of its type. */
    private static Expression[] casts(String[] types, String zone) {
      Expression[] casts = new Expression[types.length];
      for (int i = 0; i < casts.length; i++) {
        DataType type = DataType.fromJson(types[i]);
        casts[i] = new BoundReference(i, TEXT, true);
        if (!(type instanceof StringType)) {
          casts[i] = new Cast(casts[i], type, scala.Option.apply(zone), EvalMode.ANSI());
        }
      }
      return casts;
    }

    private static UTF8String text(String field) {
      if (field.charAt(0) == '+') return UTF8String.fromString(field.substring(1));
      return UTF8String.fromBytes(HexFormat.of().parseHex(field.substring(1)));
    }

    /**
     * The size of a file, at least 1. Spark skips files of size 0 without opening them, so it would not
     * notice that one is missing or is not Parquet. If a file is larger than the log says, Spark would
     * silently omit its last rows. If it is far smaller, Spark would cut it into thousands of parts,
     * each of which opens it. So local files are always asked for their size, which is cheap; object
     * stores are asked only if the log has no size, or a huge one.
     */
    private static long sizeOf(Path path, long logged, Configuration conf) throws IOException {
      if ("file".equals(path.toUri().getScheme())) {
        long found = new java.io.File(path.toUri().getPath()).length();
        return found > 0 ? found : Math.max(1, Math.min(logged, BELIEVED));
      }
      if (logged > 0 && logged <= BELIEVED) return logged;
      try {
        return Math.max(1, path.getFileSystem(conf).getFileStatus(path).getLen());
      } catch (FileNotFoundException gone) {
        return 1;
      }
    }

    /** All settings of a session: names and values in turn, separated by NUL. */
    public String settings(RuntimeConfig conf) {
      StringBuilder packed = new StringBuilder();
      scala.collection.Iterator all = conf.getAll().iterator();
      while (all.hasNext()) {
        scala.Tuple2 setting = (scala.Tuple2) all.next();
        packed.append(setting._1()).append('\0').append(setting._2()).append('\0');
      }
      return packed.toString();
    }

    /**
     * Columns of rows, by a list in JSON. An item says what to take (`name`: a column, `sql`: an
     * expression, `given`: one of the given Columns, by number). Then come, each of them or null: the
     * new name, the type, the metadata, and the number of a given condition; where that is not true, the
     * value is null.
     */
    public Dataset select(Dataset rows, String items, Column[] given) throws IOException {
      return (Dataset) rows.select(columns(items, given));
    }

    private static Column[] columns(String items, Column[] given) throws IOException {
      String[][] list = (String[][]) new ObjectMapper().readValue(items, String[][].class);
      Column[] columns = new Column[list.length];
      for (int i = 0; i < columns.length; i++) {
        String[] item = list[i];
        Column column = taken(item[0], item[1], given);
        if (item[5] != null) column = functions.when(given[Integer.parseInt(item[5])], column);
        if (item[3] != null) column = column.cast(DataType.fromJson(item[3]));
        if (item[4] != null) column = column.as(item[2], Metadata.fromJson(item[4]));
        else if (item[2] != null) column = column.as(item[2]);
        columns[i] = column;
      }
      return columns;
    }

    private static Column taken(String kind, String what, Column[] given) {
      if ("given".equals(kind)) return given[Integer.parseInt(what)];
      return "sql".equals(kind) ? functions.expr(what) : functions.col(what);
    }

    /**
     * A column that fails to compute for a row that breaks a condition, unless the row is exempt. The
     * error has the entry of `messages`, a list in JSON, for the first broken condition, and the value of
     * `shown` for the row. What only the error needs is not computed for other rows.
     */
    public Column checked(String name, Column unless, Column[] holds, String messages, String shown)
        throws IOException {
      String[] texts = (String[]) new ObjectMapper().readValue(messages, String[].class);
      Column all = holds[0];
      for (int i = 1; i < holds.length; i++) all = all.and(holds[i]);
      Column[] broken = new Column[holds.length];
      for (int i = 0; i < broken.length; i++) {
        Column fails = functions.not(
            functions.coalesce(new Column[] {holds[i], functions.lit(Boolean.FALSE)}));
        broken[i] = functions.when(fails, functions.lit(texts[i]));
      }
      Column message = functions.concat(new Column[] {
          functions.coalesce(broken), functions.expr(shown), functions.lit(";")});
      return functions.when(unless == null ? all : unless.or(all), functions.col(name))
          .otherwise(functions.raise_error(message));
    }

    /** A filter as JSON, with sets of values as lists (Spark's own JSON leaves sets empty). */
    public String json(Expression filter) {
      return spelled(filter);
    }

    private static String spelled(Expression filter) {
      return ((Expression) filter.transform(new SpellOut())).toJSON();
    }

    /** The names of columns that an expression reads, a list in JSON. */
    public String names(Expression expression) throws IOException {
      Seq found = expression.references().toSeq();
      String[] names = new String[found.size()];
      for (int i = 0; i < names.length; i++) names[i] = ((NamedExpression) found.apply(i)).name();
      return new ObjectMapper().writeValueAsString(names);
    }
  }

  /** A column by name becomes a position in the row of constants. */
  public static class Bind extends AbstractPartialFunction {
    private final StructType schema;

    public Bind(StructType schema) { this.schema = schema; }

    public boolean isDefinedAt(Object node) { return node instanceof AttributeReference; }

    public Object applyOrElse(Object node, Function1 otherwise) {
      if (!isDefinedAt(node)) return otherwise.apply(node);
      int index = schema.fieldIndex(((AttributeReference) node).name());
      return new BoundReference(index, schema.apply(index).dataType(), true);
    }
  }

  /** `InSet` becomes `In`. */
  public static class SpellOut extends AbstractPartialFunction {
    public boolean isDefinedAt(Object node) { return node instanceof InSet; }

    public Object applyOrElse(Object node, Function1 otherwise) {
      if (!isDefinedAt(node)) return otherwise.apply(node);
      InSet set = (InSet) node;
      Object[] values = new Object[set.hset().size()];
      scala.collection.Iterator each = set.hset().iterator();
      for (int i = 0; i < values.length; i++) {
        values[i] = new Literal(each.next(), set.child().dataType());
      }
      return new In(set.child(), seq(values));
    }
  }
}
