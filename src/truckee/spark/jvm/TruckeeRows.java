package truckee;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.UUID;
import java.util.zip.CRC32;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ChecksumFileSystem;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.util.SerializableConfiguration;
import org.roaringbitmap.RoaringBitmap;
import org.roaringbitmap.longlong.Roaring64NavigableMap;
import scala.Option;
import scala.collection.immutable.ArraySeq;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction1;

/**
 * Rows of files as bitmaps, made by the tasks that find the rows. A task sends one record for each file:
 *
 *     file (int), number of rows seen (long), then for all rows and for each mark a bitmap:
 *     size in bytes (int), the portable format of Roaring; size -1 is a mark that all rows have
 *
 * A task with more bytes than its share writes its bitmaps to deletion vectors of the table instead. Size
 * -2 is such a vector: the UUID of its file (16 bytes), offset (int), size (int), number of rows (long).
 */
public class TruckeeRows extends AbstractFunction1 implements Serializable {
  private final int marks;
  private final Store store;
  private final long share;

  /** Without a store, tasks send all bitmaps. */
  public TruckeeRows(int marks, Store store, long share) {
    this.marks = marks;
    this.store = store;
    this.share = share;
  }

  /** Return the records of the rows of one task; a row is file, row index and the marks. */
  public Object apply(Object iterator) {
    scala.collection.Iterator rows = (scala.collection.Iterator) iterator;
    Map byFile = new HashMap();
    FileRows last = null;
    while (rows.hasNext()) {
      InternalRow row = (InternalRow) rows.next();
      int file = row.getInt(0);
      if (last == null || last.file != file) {
        last = (FileRows) byFile.get(Integer.valueOf(file));
        if (last == null) {
          last = new FileRows(file, marks);
          byFile.put(Integer.valueOf(file), last);
        }
      }
      last.add(row);
    }
    try {
      long size = 0;
      for (Iterator each = byFile.values().iterator(); each.hasNext(); ) {
        size += ((FileRows) each.next()).packed();
      }
      VectorFiles vectors = store != null && size > share ? new VectorFiles(store) : null;
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(bytes);
      for (Iterator each = byFile.values().iterator(); each.hasNext(); ) {
        ((FileRows) each.next()).write(out, vectors);
      }
      if (vectors != null) vectors.close();
      return single(bytes);
    } catch (IOException error) {
      throw new RuntimeException(error);
    }
  }

  private static Object single(ByteArrayOutputStream bytes) {
    return new ArraySeq.ofRef(new Object[] {bytes.toByteArray()}).iterator();
  }

  private static class FileRows {
    private final int file;
    private final Roaring64NavigableMap[] bitmaps;
    private final long[] counts;

    private FileRows(int file, int marks) {
      this.file = file;
      this.bitmaps = new Roaring64NavigableMap[marks + 1];
      this.counts = new long[marks + 1];
      for (int i = 0; i <= marks; i++) {
        bitmaps[i] = new Roaring64NavigableMap();
      }
    }

    private void add(InternalRow row) {
      long index = row.getLong(1);
      bitmaps[0].addLong(index);
      counts[0]++;
      for (int i = 1; i < bitmaps.length; i++) {
        if (!row.isNullAt(i + 1) && row.getBoolean(i + 1)) {
          bitmaps[i].addLong(index);
          counts[i]++;
        }
      }
    }

    /** Makes the bitmaps small, and returns how many bytes they take. */
    private long packed() {
      long size = 0;
      for (int i = 0; i < bitmaps.length; i++) {
        bitmaps[i].runOptimize();
        size += bitmaps[i].serializedSizeInBytes();
      }
      return size;
    }

    private void write(DataOutputStream out, VectorFiles vectors) throws IOException {
      out.writeInt(file);
      out.writeLong(counts[0]);
      for (int i = 0; i < bitmaps.length; i++) {
        if (i > 0 && counts[i] == counts[0]) {
          out.writeInt(-1);
          continue;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bitmaps[i].serializePortable(new DataOutputStream(bytes));
        if (vectors != null) {
          vectors.add(bytes.toByteArray(), bitmaps[i].getLongCardinality(), out);
          continue;
        }
        out.writeInt(bytes.size());
        bytes.writeTo(out);
      }
    }
  }

  /** Where tasks may write deletion vectors: the root of a table, and how to reach it. */
  private static class Store implements Serializable {
    private final String root;
    private final Broadcast settings;

    private Store(SparkSession session, String root) {
      this.root = root;
      this.settings = session.sparkContext().broadcast(
          new SerializableConfiguration(session.sessionState().newHadoopConf()),
          ClassTag$.MODULE$.apply(SerializableConfiguration.class));
    }

    private Configuration conf() { return ((SerializableConfiguration) settings.value()).value(); }
  }

  /** Files of deletion vectors, as the protocol has them: a version byte, then size, data and checksum of each. */
  private static class VectorFiles {
    private static final int LARGE = 2 << 20;

    private final Store store;
    private UUID id;
    private FSDataOutputStream out;

    private VectorFiles(Store store) { this.store = store; }

    private void add(byte[] portable, long cardinality, DataOutputStream record) throws IOException {
      if (out != null && out.getPos() + portable.length > LARGE) close();
      if (out == null) open();
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      new DataOutputStream(bytes).writeInt(Integer.reverseBytes(TruckeeWanted.PORTABLE));
      bytes.write(portable, 0, portable.length);
      CRC32 sum = new CRC32();
      sum.update(bytes.toByteArray(), 0, bytes.size());
      record.writeInt(-2);
      record.writeLong(id.getMostSignificantBits());
      record.writeLong(id.getLeastSignificantBits());
      record.writeInt((int) out.getPos());
      record.writeInt(bytes.size());
      record.writeLong(cardinality);
      out.writeInt(bytes.size());
      bytes.writeTo(out);
      out.writeInt((int) sum.getValue());
    }

    private void open() throws IOException {
      id = UUID.randomUUID();
      Path path = new Path(store.root, "deletion_vector_" + id + ".bin");
      FileSystem files = path.getFileSystem(store.conf());
      // On a local disk, Hadoop would put a second file with checksums beside it.
      if (files instanceof ChecksumFileSystem) files = ((ChecksumFileSystem) files).getRawFileSystem();
      out = files.create(path, false);
      out.writeByte(1);
    }

    private void close() throws IOException {
      if (out == null) return;
      if (out.hasCapability(StreamCapabilities.HSYNC)) out.hsync();
      out.close();
      out = null;
    }
  }

  /** Unites vectors. A text has the number of a file, then a line for each vector, as `TruckeeWanted` reads it. */
  private static class Unite extends AbstractFunction1 implements Serializable {
    private final Store store;

    private Unite(Store store) { this.store = store; }

    public Object apply(Object iterator) {
      scala.collection.Iterator texts = (scala.collection.Iterator) iterator;
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(bytes);
      VectorFiles vectors = new VectorFiles(store);
      try {
        while (texts.hasNext()) {
          String[] lines = ((String) texts.next()).split("\n");
          RoaringBitmap rows = new RoaringBitmap();
          for (int i = 1; i < lines.length; i++) {
            rows.or(TruckeeWanted.vector(lines[i].split("\t", -1), store.conf()));
          }
          rows.runOptimize();
          ByteArrayOutputStream portable = new ByteArrayOutputStream();
          DataOutputStream into = new DataOutputStream(portable);
          into.writeLong(Long.reverseBytes(1));
          into.writeInt(0);
          rows.serialize(into);
          out.writeInt(Integer.parseInt(lines[0]));
          out.writeLong(rows.getLongCardinality());
          vectors.add(portable.toByteArray(), rows.getLongCardinality(), out);
        }
        vectors.close();
      } catch (IOException error) {
        throw new RuntimeException(error);
      }
      return single(bytes);
    }
  }

  private static class Collect extends AbstractFunction0 {
    private final QueryExecution query;
    private final int marks;
    private final Store store;
    private final long budget;

    private Collect(QueryExecution query, int marks, Store store, long budget) {
      this.query = query;
      this.marks = marks;
      this.store = store;
      this.budget = budget;
    }

    public Object apply() {
      RDD rows = query.toRdd();
      return collected(rows, new TruckeeRows(marks, store, budget / Math.max(1, rows.getNumPartitions())));
    }
  }

  private static byte[] collected(RDD rows, AbstractFunction1 task) {
    ClassTag tag = ClassTag$.MODULE$.apply(byte[].class);
    byte[][] found = (byte[][]) rows.mapPartitions(task, false, tag).collect();
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = 0; i < found.length; i++) {
      all.write(found[i], 0, found[i].length);
    }
    return all.toByteArray();
  }

  public static class Maker {
    /** Run a query whose columns are file, row index and marks, and return all records. */
    public byte[] bitmaps(Dataset rows, int marks) {
      return run(rows, marks, null, 0);
    }

    /** The same without marks; if there are more bytes than `budget`, tasks write vectors below `root`. */
    public byte[] stored(Dataset rows, String root, long budget) {
      return run(rows, 0, new Store(rows.sparkSession(), root), budget);
    }

    /** Write a vector for each of the texts, which are separated by empty lines, and return the records. */
    public byte[] united(SparkSession session, String root, String texts) {
      String[] all = texts.split("\n\n");
      SparkContext context = session.sparkContext();
      int tasks = Math.min(all.length, 4 * context.defaultParallelism());
      RDD rows = new JavaSparkContext(context).parallelize(Arrays.asList(all), tasks).rdd();
      return collected(rows, new Unite(new Store(session, root)));
    }

    private static byte[] run(Dataset rows, int marks, Store store, long budget) {
      QueryExecution query = rows.queryExecution();
      return (byte[]) SQLExecution.withNewExecutionId(
          query, Option.apply("bitmaps of rows"), new Collect(query, marks, store, budget));
    }
  }
}
