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
import org.apache.spark.unsafe.bitset.BitSetMethods;
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
 * of a row is its type: `insert` and `update_postimage` are inserted, all others deleted. Rows are equal
 * if their other columns are. The type of those that are left is `insert` or `delete`.
 *
 *     all rows, kept in order, and a filter of their hashes
 *       -> no row of the other type has such a hash: the row is left
 *       -> some row may be equal: sorted by hash, so that equal rows are neighbours; then compared
 *
 * For example, a file of 1,000 rows is rewritten to change one of them. Of its 2,000 rows, the two images
 * of the changed one usually have hashes that no row of the other side has, so the filter alone says that
 * they are left; the other 1,998 are sorted by hash, and cancel with their neighbours:
 *
 *     hash 17   delete r, insert r            1 - 1 = 0: nothing is left
 *     hash 23   delete s, delete s, insert s  2 - 1 = 1: one s is left, deleted
 *     hash 42   delete t, insert u            equal hashes, but other bytes: both are left
 *
 * The filter must see all rows before the first is judged, so rows are kept first: packed into records of
 * 64 KiB, in the order in which they came.
 *
 * Usually few rows are compared. Spark's sorter keeps the rows, in memory that Spark manages; it spills
 * what does not fit. The more rows, the more of them pass the filter and are sorted, in the end all.
 *
 * Spark writes the type after everything else in a row. So what comes before it is the same for equal
 * rows, byte for byte, apart from the length of the type: Spark's own aggregation compares rows in this
 * way. Rows are kept with 8 bytes for the type.
 */
public class TruckeeUncancelled extends SparkPlan {
  private static final int TYPE_BYTES = 8;
  private static final int BUNDLE_BYTES = 64 << 10;
  private static final long PAGE_BYTES = 4L << 20;
  private final Seq output;
  private final SparkPlan child;

  public TruckeeUncancelled(Seq output, SparkPlan child) {
    this.output = output;
    this.child = child;
  }

  public Seq children() { return TruckeeFiles.seq(new Object[] {child}); }

  public Seq output() { return output; }

  public Partitioning outputPartitioning() { return child.outputPartitioning(); }

  public RDD doExecute() {
    return child.execute().mapPartitions(
        new Task(schema()), true, ClassTag$.MODULE$.apply(InternalRow.class));
  }

  public TreeNode withNewChildrenInternal(IndexedSeq others) {
    return new TruckeeUncancelled(output, (SparkPlan) others.head());
  }

  public int productArity() { return 2; }

  public Object productElement(int index) { return index == 0 ? (Object) output : child; }

  public boolean canEqual(Object other) { return other instanceof TruckeeUncancelled; }

  public boolean equals(Object other) {
    if (!(other instanceof TruckeeUncancelled)) return false;
    return ((TruckeeUncancelled) other).child.equals(child) && ((TruckeeUncancelled) other).output.equals(output);
  }

  public int hashCode() { return 31 * child.hashCode() + 7; }

  /** What a task does with its rows. */
  public static class Task extends AbstractFunction1 implements java.io.Serializable {
    private final StructType schema;

    Task(StructType schema) { this.schema = schema; }

    public Object apply(Object of) {
      scala.collection.Iterator rows = (scala.collection.Iterator) of;
      try {
        Bundles kept = new Bundles(schema);
        while (rows.hasNext()) kept.add((UnsafeRow) rows.next());
        return new Left(kept.all(), kept.hashes, schema);
      } catch (Exception error) {
        Platform.throwException(error);
        return null;
      }
    }
  }

  /**
   * All rows, many of them in one record of Spark's sorter, so that their hashes go to the filter in one loop.
   * Each row has a head of 8 bytes: its hash in the upper half, its size in the lower, which ends in 1 if it
   * is inserted.
   */
  private static class Bundles {
    private static final long INSERT = word("insert");
    private static final long DELETE = word("delete");
    private static final long UPDATE_P = word("update_p");
    private static final long OSTIMAGE = word("ostimage");
    private final Hashes hashes = new Hashes();
    private final UnsafeExternalSorter sorter;
    private final int last;
    private final int slotAt;
    private byte[] bytes = new byte[BUNDLE_BYTES];
    private int size = 0;
    private int count = 0;

    private Bundles(StructType schema) throws Exception {
      sorter = sorter(schema);
      last = schema.length() - 1;
      slotAt = UnsafeRow.calculateBitSetWidthInBytes(schema.length()) + 8 * last;
    }

    private static long word(String text) {
      return Platform.getLong(java.util.Arrays.copyOf(text.getBytes(), 8), Platform.BYTE_ARRAY_OFFSET);
    }

    private void add(UnsafeRow row) throws IOException {
      Object from = row.getBaseObject();
      long start = row.getBaseOffset();
      boolean isNull = row.isNullAt(last);
      long slot = Platform.getLong(from, start + slotAt);
      int before = isNull ? row.getSizeInBytes() : (int) (slot >>> 32);
      boolean isInserted = !isNull && isInserted(from, start + before, (int) slot);
      if (size + before + 16 > bytes.length) flush(before + 16);
      long to = Platform.BYTE_ARRAY_OFFSET + size + 8;
      for (int i = 0; i < before; i += 8) Platform.putLong(bytes, to + i, Platform.getLong(from, start + i));
      if (isNull) BitSetMethods.unset(bytes, to, last);
      Platform.putLong(bytes, to + slotAt, (long) before << 32 | 6);
      Platform.putLong(bytes, to + before, isInserted ? INSERT : DELETE);
      long hash = XXH64.hashUnsafeWords(bytes, to, before, 42L);
      Platform.putLong(bytes, to - 8, hash << 32 | before + TYPE_BYTES | (isInserted ? 1 : 0));
      size += before + 16;
    }

    private static boolean isInserted(Object base, long at, int length) {
      if (length == 6) return Platform.getLong(base, at) == INSERT;
      return length == 16 && Platform.getLong(base, at) == UPDATE_P && Platform.getLong(base, at + 8) == OSTIMAGE;
    }

    private void flush(int needed) throws IOException {
      if (size > 0) sorter.insertRecord(bytes, Platform.BYTE_ARRAY_OFFSET, size, count++, false);
      // In a loop of their own, since the processor then waits for many places of the filter at once.
      for (int i = 0; i < size; ) {
        long head = Platform.getLong(bytes, Platform.BYTE_ARRAY_OFFSET + i);
        hashes.add(head);
        i += 8 + ((int) head & -8);
      }
      if (needed > bytes.length) bytes = new byte[needed];
      size = 0;
    }

    private UnsafeExternalSorter all() throws IOException {
      flush(0);
      return sorter;
    }
  }

  /** A sorter of Spark, by numbers such as hashes. That of rows is the same in all versions; it has this one. */
  private static UnsafeExternalSorter sorter(StructType schema) throws Exception {
    // Spark's own pages may have 64 MiB, which is too much for a few rows.
    long page = Math.min(PAGE_BYTES, TaskContext.get().taskMemoryManager().pageSizeBytes());
    UnsafeExternalRowSorter owner =
        UnsafeExternalRowSorter.create(schema, new Same(), PrefixComparators.LONG, null, page, true);
    Field field = UnsafeExternalRowSorter.class.getDeclaredField("sorter");
    field.setAccessible(true);
    return (UnsafeExternalSorter) field.get(owner);
  }

  /** All rows are the same to the sorter, which only looks at their numbers. */
  public static class Same implements Ordering {
    public int compare(Object one, Object other) { return 0; }
  }

  /** For each of 8 million kinds of hashes, whether deleted, and then whether inserted rows have it. */
  private static class Hashes {
    private static final int WORDS = 1 << 17;
    private final long[] bits = new long[2 * WORDS];

    private void add(long head) { bits[place(head)] |= 1L << (head >>> 32); }

    /** Whether a row of the other type may have the hash. */
    private boolean isShared(long head) { return (bits[place(head ^ 1)] >>> (head >>> 32) & 1) != 0; }

    private static int place(long head) { return (int) (head & 1) * WORDS | (int) (head >>> 38) & WORDS - 1; }
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
    private Object base;
    private long at = 0;
    private long end = 0;
    private boolean hasRecord;
    private boolean isReady;

    Left(UnsafeExternalSorter kept, Hashes hashes, StructType schema) throws IOException {
      this.kept = kept;
      this.hashes = hashes;
      this.schema = schema;
      this.row = new UnsafeRow(schema.length());
      this.rows = kept.getSortedIterator();
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
      while (at < end || hasBundle()) {
        long head = Platform.getLong(base, at);
        long start = at + 8;
        int size = (int) head & -8;
        at = start + size;
        if (!hashes.isShared(head)) {
          row.pointTo(base, start, size);
          return true;
        }
        if (doubtful == null) doubtful = sorter(schema);
        doubtful.insertRecord(base, start, size, head >>> 32, false);
      }
      kept.cleanupResources();
      kept = null;
      if (doubtful != null) {
        rows = doubtful.getSortedIterator();
        step();
      }
      return false;
    }

    private boolean hasBundle() throws IOException {
      if (!rows.hasNext()) return false;
      rows.loadNext();
      base = rows.getBaseObject();
      at = rows.getBaseOffset();
      end = at + rows.getRecordLength();
      return true;
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
