package truckee;

import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.UnsafeExternalRowSorter;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.array.ByteArrayMethods;
import org.apache.spark.util.collection.unsafe.sort.PrefixComparators;
import org.apache.spark.util.collection.unsafe.sort.UnsafeExternalSorter;
import org.apache.spark.util.collection.unsafe.sort.UnsafeSorterIterator;
import scala.collection.AbstractIterator;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.math.Ordering;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/**
 * The rows of a task that are left after equal deleted and inserted ones have cancelled. The last column
 * of a row is its type, `insert` or `delete`; rows are equal if their other columns are.
 *
 *     all rows, kept in order, and a filter of their hashes
 *       -> no row of the other type has such a hash: the row is left
 *       -> some row may be equal: sorted by hash, so that equal rows are neighbours; then compared
 *
 * Usually few rows are compared. Spark's sorter keeps the rows, in memory that Spark manages; it spills
 * what does not fit. The more rows, the more of them pass the filter and are sorted, in the end all.
 *
 * Spark writes the type after everything else in a row, as 8 bytes. So what comes before it is the same
 * for equal rows, byte for byte: Spark's own aggregation compares rows in this way.
 */
public class TruckeeUncancelled extends SparkPlan {
  private static final int TYPE_BYTES = 8;
  private static final long PAGE_BYTES = 4L << 20;
  private final SparkPlan child;

  public TruckeeUncancelled(SparkPlan child) { this.child = child; }

  public Seq children() { return TruckeeFiles.seq(new Object[] {child}); }

  public Seq output() { return child.output(); }

  public Partitioning outputPartitioning() { return child.outputPartitioning(); }

  public RDD doExecute() {
    return child.execute().mapPartitions(
        new Task(schema()), true, ClassTag$.MODULE$.apply(InternalRow.class));
  }

  public TreeNode withNewChildrenInternal(IndexedSeq others) {
    return new TruckeeUncancelled((SparkPlan) others.head());
  }

  public int productArity() { return 1; }

  public Object productElement(int index) { return child; }

  public boolean canEqual(Object other) { return other instanceof TruckeeUncancelled; }

  public boolean equals(Object other) {
    return other instanceof TruckeeUncancelled && ((TruckeeUncancelled) other).child.equals(child);
  }

  public int hashCode() { return 31 * child.hashCode() + 7; }

  /** What a task does with its rows. */
  public static class Task extends AbstractFunction1 implements java.io.Serializable {
    private final StructType schema;

    Task(StructType schema) { this.schema = schema; }

    public Object apply(Object of) {
      scala.collection.Iterator rows = (scala.collection.Iterator) of;
      try {
        UnsafeExternalSorter kept = sorter(schema, false);
        Hashes hashes = new Hashes();
        while (rows.hasNext()) {
          UnsafeRow row = (UnsafeRow) rows.next();
          Object base = row.getBaseObject();
          long offset = row.getBaseOffset();
          int size = row.getSizeInBytes();
          long hash = XXH64.hashUnsafeWords(base, offset, size - TYPE_BYTES, 42L);
          hashes.add(hash, Platform.getByte(base, offset + size - TYPE_BYTES) == Copies.INSERT[0]);
          kept.insertRecord(base, offset, size, hash, false);
        }
        return new Left(kept, hashes, schema);
      } catch (Exception error) {
        Platform.throwException(error);
        return null;
      }
    }
  }

  /** A sorter of Spark, by hash or in order. That of rows is the same in all versions; it has this one. */
  private static UnsafeExternalSorter sorter(StructType schema, boolean byHash) throws Exception {
    // Spark's own pages may have 64 MiB, which is too much for a few rows.
    long page = Math.min(PAGE_BYTES, TaskContext.get().taskMemoryManager().pageSizeBytes());
    UnsafeExternalRowSorter owner = byHash
        ? UnsafeExternalRowSorter.create(schema, new Same(), PrefixComparators.LONG, null, page, true)
        : UnsafeExternalRowSorter.createWithRecordComparator(schema, null, null, null, page, false);
    Field field = UnsafeExternalRowSorter.class.getDeclaredField("sorter");
    field.setAccessible(true);
    return (UnsafeExternalSorter) field.get(owner);
  }

  /** All rows are the same to the sorter, which only looks at their hashes. */
  public static class Same implements Ordering {
    public int compare(Object one, Object other) { return 0; }
  }

  /** Two bits for each of 8 million kinds of hashes: whether deleted, and whether inserted rows have it. */
  private static class Hashes {
    private static final int KINDS = 1 << 23;
    private final long[] bits = new long[KINDS / 32];

    private void add(long hash, boolean isInserted) {
      bits[place(hash)] |= (isInserted ? 2L : 1L) << 2 * (hash & 31);
    }

    /** Whether rows of both types may have the hash. */
    private boolean isShared(long hash) { return (bits[place(hash)] >>> 2 * (hash & 31) & 3) == 3; }

    private int place(long hash) { return (int) (hash >>> 32) & bits.length - 1; }
  }

  /** The rows that are left: first those whose hash the other type does not have. */
  public static class Left extends AbstractIterator {
    private final StructType schema;
    private final Hashes hashes;
    private final UnsafeRow row;
    private final List copies = new ArrayList();
    private UnsafeExternalSorter kept;
    private UnsafeExternalSorter doubtful;
    private UnsafeSorterIterator rows;
    private boolean hasRecord;
    private boolean isReady;

    Left(UnsafeExternalSorter kept, Hashes hashes, StructType schema) throws IOException {
      this.kept = kept;
      this.hashes = hashes;
      this.schema = schema;
      this.row = new UnsafeRow(schema.length());
      this.rows = kept.getIterator(0);
    }

    public boolean hasNext() {
      try {
        if (!isReady) isReady = kept != null && inOrder() || inGroups();
      } catch (Exception error) {
        Platform.throwException(error);
      }
      return isReady;
    }

    public Object next() {
      if (!hasNext()) throw new java.util.NoSuchElementException();
      isReady = false;
      return row;
    }

    private boolean inOrder() throws Exception {
      while (rows.hasNext()) {
        rows.loadNext();
        if (!hashes.isShared(rows.getKeyPrefix())) {
          row.pointTo(rows.getBaseObject(), rows.getBaseOffset(), rows.getRecordLength());
          return true;
        }
        if (doubtful == null) doubtful = sorter(schema, true);
        doubtful.insertRecord(
            rows.getBaseObject(), rows.getBaseOffset(), rows.getRecordLength(), rows.getKeyPrefix(), false);
      }
      kept.cleanupResources();
      kept = null;
      if (doubtful != null) {
        rows = doubtful.getSortedIterator();
        step();
      }
      return false;
    }

    private void step() throws IOException {
      hasRecord = rows.hasNext();
      if (hasRecord) rows.loadNext();
    }

    private boolean inGroups() throws IOException {
      while (copies.isEmpty()) {
        if (!hasRecord) return false;
        List same = new ArrayList();
        for (long hash = rows.getKeyPrefix(); hasRecord && rows.getKeyPrefix() == hash; step()) {
          count(same);
        }
        for (int i = 0; i < same.size(); i++) {
          if (((Copies) same.get(i)).left != 0) copies.add(same.get(i));
        }
      }
      Copies first = (Copies) copies.get(copies.size() - 1);
      row.pointTo(first.bytes, first.bytes.length);
      if (first.take()) copies.remove(copies.size() - 1);
      return true;
    }

    private void count(List same) {
      for (int i = 0; i < same.size(); i++) {
        if (((Copies) same.get(i)).add(rows)) return;
      }
      same.add(new Copies(rows));
    }
  }

  /** A row, and how many of its copies are left: a number below 0 is that of deleted ones. */
  private static class Copies {
    private static final byte[] INSERT = "insert".getBytes();
    private static final byte[] DELETE = "delete".getBytes();
    private final byte[] bytes;
    private final int size;
    private long left;

    private Copies(UnsafeSorterIterator at) {
      bytes = new byte[at.getRecordLength()];
      size = bytes.length - TYPE_BYTES;
      Platform.copyMemory(
          at.getBaseObject(), at.getBaseOffset(), bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length);
      left = sign(at);
    }

    private long sign(UnsafeSorterIterator at) {
      return Platform.getByte(at.getBaseObject(), at.getBaseOffset() + size) == INSERT[0] ? 1 : -1;
    }

    /** Count another row if it is equal. */
    private boolean add(UnsafeSorterIterator at) {
      if (at.getRecordLength() != bytes.length || !ByteArrayMethods.arrayEquals(
          bytes, Platform.BYTE_ARRAY_OFFSET, at.getBaseObject(), at.getBaseOffset(), size)) {
        return false;
      }
      left += sign(at);
      return true;
    }

    /** Make the row that of one copy; returns whether it was the last one. */
    private boolean take() {
      System.arraycopy(left > 0 ? INSERT : DELETE, 0, bytes, size, INSERT.length);
      left -= left > 0 ? 1 : -1;
      return left == 0;
    }
  }
}
