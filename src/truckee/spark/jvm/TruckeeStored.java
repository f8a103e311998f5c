package truckee;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.util.Arrays;
import java.util.HashMap;
import java.util.UUID;
import java.util.function.LongPredicate;
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
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.util.SerializableConfiguration;
import org.roaringbitmap.RoaringBitmap;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/**
 * Sets of rows as tasks write and read them: deletion vectors below the root of a table.
 *
 * A set is a text: the number of a file, then a line for each vector whose rows are in the set, as
 * `TruckeeWanted` reads it. Texts of several sets are separated by empty lines.
 */
public class TruckeeStored {
  /** Sets by their numbers; a task reads the set of a file when it first asks for a row of it. */
  static class Among implements LongPredicate, Serializable {
    private final HashMap texts = new HashMap();
    private final Store store;
    private transient HashMap read;
    private transient RoaringBitmap last;
    private transient int lastFile;

    private Among(Store store, String all) {
      this.store = store;
      String[] each = all.split("\n\n");
      for (int i = 0; i < each.length; i++) {
        int end = each[i].indexOf('\n');
        if (end > 0) texts.put(Integer.valueOf(each[i].substring(0, end)), each[i]);
      }
    }

    /** Whether a row is in the set of its file: the file is the upper half of the number. */
    public boolean test(long key) {
      int file = (int) (key >> 32);
      if (last == null || file != lastFile) {
        last = rows(Integer.valueOf(file));
        lastFile = file;
      }
      return last.contains((int) key);
    }

    private RoaringBitmap rows(Integer file) {
      if (read == null) read = new HashMap();
      RoaringBitmap found = (RoaringBitmap) read.get(file);
      if (found == null) {
        String text = (String) texts.get(file);
        found = text == null ? new RoaringBitmap() : united(text, store);
        read.put(file, found);
      }
      return found;
    }
  }

  /** The rows of a set. */
  private static RoaringBitmap united(String text, Store store) {
    String[] lines = text.split("\n");
    RoaringBitmap rows = new RoaringBitmap();
    try {
      for (int i = 1; i < lines.length; i++) {
        rows.or(TruckeeWanted.vector(lines[i].split("\t", -1), store.conf()));
      }
    } catch (IOException error) {
      throw new RuntimeException(error);
    }
    return rows;
  }

  /** Where tasks may write deletion vectors: the root of a table, and how to reach it. */
  static class Store implements Serializable {
    private final String root;
    private final Broadcast settings;

    Store(SparkSession session, String root) {
      this.root = root;
      this.settings = session.sparkContext().broadcast(
          new SerializableConfiguration(session.sessionState().newHadoopConf()),
          ClassTag$.MODULE$.apply(SerializableConfiguration.class));
    }

    private Configuration conf() { return ((SerializableConfiguration) settings.value()).value(); }
  }

  /** Files of deletion vectors, as the protocol has them: a version byte, then size, data and checksum of each. */
  static class VectorFiles {
    private static final int LARGE = 2 << 20;

    private final Store store;
    private UUID id;
    private FSDataOutputStream out;

    VectorFiles(Store store) { this.store = store; }

    void add(byte[] portable, long cardinality, DataOutputStream record) throws IOException {
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

    void close() throws IOException {
      if (out == null) return;
      if (out.hasCapability(StreamCapabilities.HSYNC)) out.hsync();
      out.close();
      out = null;
    }
  }

  /** Writes a vector for each set. */
  static class Unite extends AbstractFunction1 implements Serializable {
    private final Store store;

    private Unite(Store store) { this.store = store; }

    public Object apply(Object iterator) {
      scala.collection.Iterator texts = (scala.collection.Iterator) iterator;
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(bytes);
      VectorFiles vectors = new VectorFiles(store);
      try {
        while (texts.hasNext()) {
          String text = (String) texts.next();
          RoaringBitmap rows = united(text, store);
          rows.runOptimize();
          ByteArrayOutputStream portable = new ByteArrayOutputStream();
          DataOutputStream into = new DataOutputStream(portable);
          into.writeLong(Long.reverseBytes(1));
          into.writeInt(0);
          rows.serialize(into);
          out.writeInt(Integer.parseInt(text.substring(0, text.indexOf('\n'))));
          out.writeLong(rows.getLongCardinality());
          vectors.add(portable.toByteArray(), rows.getLongCardinality(), out);
        }
        vectors.close();
      } catch (IOException error) {
        throw new RuntimeException(error);
      }
      return TruckeeRows.single(bytes.toByteArray());
    }
  }

  public static class Maker {
    /** Return whether a row is in one of the sets. */
    public LongPredicate among(SparkSession session, String root, String texts) {
      return new Among(new Store(session, root), texts);
    }

    /** Write a vector for each of the sets, and return the records. */
    public byte[] united(SparkSession session, String root, String texts) {
      String[] all = texts.split("\n\n");
      SparkContext context = session.sparkContext();
      int tasks = Math.min(all.length, 4 * context.defaultParallelism());
      RDD rows = new JavaSparkContext(context).parallelize(Arrays.asList(all), tasks).rdd();
      return TruckeeRows.collected(rows, new Unite(new Store(session, root)));
    }
  }
}
