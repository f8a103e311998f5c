package truckee;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import org.roaringbitmap.longlong.Roaring64NavigableMap;
import scala.Option;
import scala.Tuple2;
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
 *
 * Where the rows of a file are found by many tasks, as after a join, the records go through a shuffle, and
 * one task unites those of a file. A number below 0 stands for no file: its rows are not of the table.
 */
public class TruckeeRows extends AbstractFunction1 implements Serializable {
  private final int marks;
  private final Sender sender;

  /** Without a sender, the records are pairs with the file's number. */
  public TruckeeRows(int marks, Sender sender) {
    this.marks = marks;
    this.sender = sender;
  }

  /** Return the records of the rows of one task; a row is file, row index and the marks. */
  public Object apply(Object iterator) {
    scala.collection.Iterator rows = (scala.collection.Iterator) iterator;
    Map byFile = new HashMap();
    FileRows last = null;
    while (rows.hasNext()) {
      InternalRow row = (InternalRow) rows.next();
      int file = row.getInt(0);
      if (last == null || last.file != file) last = FileRows.of(byFile, file, marks);
      last.add(row);
    }
    try {
      return sender == null ? pairs(byFile) : single(sender.records(byFile));
    } catch (IOException error) {
      throw new RuntimeException(error);
    }
  }

  private static Object pairs(Map byFile) throws IOException {
    Object[] pairs = new Object[byFile.size()];
    int size = 0;
    for (Iterator each = byFile.values().iterator(); each.hasNext(); ) {
      FileRows rows = (FileRows) each.next();
      rows.packed();
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      rows.write(new DataOutputStream(bytes), null);
      pairs[size++] = new Tuple2(Integer.valueOf(rows.file), bytes.toByteArray());
    }
    return new ArraySeq.ofRef(pairs).iterator();
  }

  static Object single(byte[] bytes) {
    return new ArraySeq.ofRef(new Object[] {bytes}).iterator();
  }

  /** Unites the records of each file. */
  private static class Together extends AbstractFunction1 implements Serializable {
    private final int marks;
    private final Sender sender;

    private Together(int marks, Sender sender) {
      this.marks = marks;
      this.sender = sender;
    }

    public Object apply(Object iterator) {
      scala.collection.Iterator pairs = (scala.collection.Iterator) iterator;
      Map byFile = new HashMap();
      try {
        while (pairs.hasNext()) {
          Tuple2 pair = (Tuple2) pairs.next();
          FileRows rows = FileRows.of(byFile, ((Integer) pair._1()).intValue(), marks);
          rows.add(new DataInputStream(new ByteArrayInputStream((byte[]) pair._2())));
        }
        return single(sender.records(byFile));
      } catch (IOException error) {
        throw new RuntimeException(error);
      }
    }
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

    private static FileRows of(Map byFile, int file, int marks) {
      FileRows found = (FileRows) byFile.get(Integer.valueOf(file));
      if (found == null) {
        found = new FileRows(file, marks);
        byFile.put(Integer.valueOf(file), found);
      }
      return found;
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

    /** Adds a record that no vector is in. */
    private void add(DataInputStream record) throws IOException {
      record.readInt();
      long count = record.readLong();
      Roaring64NavigableMap all = null;
      for (int i = 0; i < bitmaps.length; i++) {
        Roaring64NavigableMap rows = all;
        if (record.readInt() >= 0) {
          rows = new Roaring64NavigableMap();
          rows.deserializePortable(record);
        }
        bitmaps[i].or(rows);
        // A mark that some of the rows do not have counts less than they do, here and in the sum.
        counts[i] += i == 0 || rows == all ? count : rows.getLongCardinality();
        if (i == 0) all = rows;
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

    private void write(DataOutputStream out, TruckeeStored.VectorFiles vectors) throws IOException {
      out.writeInt(file);
      out.writeLong(counts[0]);
      for (int i = 0; i < bitmaps.length; i++) {
        if (i > 0 && counts[i] == counts[0]) {
          out.writeInt(-1);
          continue;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bitmaps[i].serializePortable(new DataOutputStream(bytes));
        if (vectors != null && counts[i] > 0) {
          vectors.add(bytes.toByteArray(), bitmaps[i].getLongCardinality(), out);
          continue;
        }
        out.writeInt(bytes.size());
        bytes.writeTo(out);
      }
    }
  }

  /** Makes the records that a task sends: with bitmaps up to its share of bytes, else with vectors. */
  private static class Sender implements Serializable {
    private final TruckeeStored.Store store;
    private final long share;

    private Sender(TruckeeStored.Store store, long share) {
      this.store = store;
      this.share = share;
    }

    private byte[] records(Map byFile) throws IOException {
      long size = 0;
      for (Iterator each = byFile.values().iterator(); each.hasNext(); ) {
        size += ((FileRows) each.next()).packed();
      }
      // A commit may name the vectors of files. Those of other rows do not outlive the command.
      TruckeeStored.VectorFiles ofFiles = size > share ? new TruckeeStored.VectorFiles(store) : null;
      TruckeeStored.VectorFiles ofOthers = size > share ? new TruckeeStored.VectorFiles(store) : null;
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(bytes);
      for (Iterator each = byFile.values().iterator(); each.hasNext(); ) {
        FileRows rows = (FileRows) each.next();
        rows.write(out, rows.file < 0 ? ofOthers : ofFiles);
      }
      if (ofFiles != null) ofFiles.close();
      if (ofOthers != null) ofOthers.close();
      return bytes.toByteArray();
    }
  }

  private static class Collect extends AbstractFunction0 {
    private final QueryExecution query;
    private final int marks;
    private final boolean isSpread;
    private final TruckeeStored.Store store;
    private final long budget;

    private Collect(QueryExecution query, int marks, boolean isSpread, TruckeeStored.Store store, long budget) {
      this.query = query;
      this.marks = marks;
      this.isSpread = isSpread;
      this.store = store;
      this.budget = budget;
    }

    public Object apply() {
      RDD rows = query.toRdd();
      int tasks = Math.max(1, rows.getNumPartitions());
      if (!isSpread || tasks == 1) return collected(rows, new TruckeeRows(marks, new Sender(store, budget / tasks)));
      RDD pairs = rows.mapPartitions(new TruckeeRows(marks, null), false, ClassTag$.MODULE$.apply(Tuple2.class));
      int few = Math.min(tasks, rows.sparkContext().defaultParallelism());
      ClassTag any = ClassTag$.MODULE$.apply(Object.class);
      RDD byFile = new JavaPairRDD(pairs, any, any).partitionBy(new HashPartitioner(few)).rdd();
      return collected(byFile, new Together(marks, new Sender(store, budget / few)));
    }
  }

  static byte[] collected(RDD rows, AbstractFunction1 task) {
    ClassTag tag = ClassTag$.MODULE$.apply(byte[].class);
    byte[][] found = (byte[][]) rows.mapPartitions(task, false, tag).collect();
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = 0; i < found.length; i++) {
      all.write(found[i], 0, found[i].length);
    }
    return all.toByteArray();
  }

  public static class Maker {
    /**
     * Run a query whose columns are file, row index and marks, and return all records. If they take more
     * bytes than `budget`, tasks write vectors below `root`. With `isSpread`, rows of a file may be found
     * by many tasks, and there is one record for each file all the same.
     */
    public byte[] found(Dataset rows, int marks, boolean isSpread, String root, long budget) {
      QueryExecution query = rows.queryExecution();
      TruckeeStored.Store store = new TruckeeStored.Store(rows.sparkSession(), root);
      return (byte[]) SQLExecution.withNewExecutionId(
          query, Option.apply("bitmaps of rows"), new Collect(query, marks, isSpread, store, budget));
    }
  }
}
