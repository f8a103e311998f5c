package truckee;

import java.io.Closeable;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.PrimitiveIterator;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.RecordReaderIterator;
import org.apache.spark.sql.execution.vectorized.ConstantColumnVector;
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.AbstractIterator;

/**
 * The wanted rows of a file, batch by batch. The column vectors of Spark's reader are compacted in place,
 * so generated code sees the vector classes that it knows.
 */
public class TruckeeBatches extends AbstractIterator implements Closeable {
  private final TruckeeFormat.Reader reader;
  private final PartitionedFile file;
  private final TruckeeWanted rows;
  private int pass = -1;
  private RecordReaderIterator batches;
  private Groups groups;
  private ColumnarBatch source;
  private ColumnarBatch result;
  private boolean isReady;
  private int[] wanted = new int[0];
  private int[] events = new int[0];
  private OnHeapColumnVector[] computed;

  TruckeeBatches(TruckeeFormat.Reader reader, PartitionedFile file, TruckeeWanted rows) {
    this.reader = reader;
    this.file = file;
    this.rows = rows;
  }

  public boolean hasNext() {
    try {
      if (!isReady) isReady = advance();
    } catch (Exception error) {
      Platform.throwException(error);
    }
    return isReady;
  }

  public Object next() {
    if (!hasNext()) throw new java.util.NoSuchElementException();
    isReady = false;
    return result;
  }

  public void close() {
    if (batches != null) batches.close();
    batches = null;
  }

  private boolean advance() throws Exception {
    while (true) {
      if (batches == null && !open()) return false;
      if (!groups.hasRows() || !groups.hasBatch(batches)) {
        close();
        continue;
      }
      ColumnarBatch batch = (ColumnarBatch) batches.next();
      if (batch != source) adopt(batch);
      if (select(batch.numRows())) return true;
    }
  }

  private boolean open() throws Exception {
    if (pass + 1 >= rows.passes()) return false;
    pass++;
    rows.restart(pass);
    batches = (RecordReaderIterator) reader.whole.apply(file);
    groups = new Groups(batches, rows, pass);
    source = null;
    return true;
  }

  /** Puts the columns of the reader and the computed ones in the order of the result. */
  private void adopt(ColumnarBatch batch) {
    source = batch;
    int[] origins = reader.origins;
    int others = batch.numCols() - reader.count;
    ColumnVector[] columns = new ColumnVector[origins.length + others];
    computed = new OnHeapColumnVector[origins.length];
    for (int i = 0; i < origins.length; i++) {
      int origin = origins[i];
      boolean isRead = origin == TruckeeFormat.TYPE && rows.types[0] == null;
      if (origin >= 0 || isRead) {
        columns[i] = batch.column(isRead ? reader.typeAt : origin);
      } else if (origin == TruckeeFormat.AT || TruckeeFormat.isId(origin) || rows.types.length > 1) {
        computed[i] = new OnHeapColumnVector(4096, reader.required.apply(i).dataType());
        columns[i] = computed[i];
      } else {
        columns[i] = constant(origin, reader.required.apply(i).dataType());
      }
    }
    for (int i = 0; i < others; i++) columns[origins.length + i] = batch.column(reader.count + i);
    result = new ColumnarBatch(columns);
  }

  private ColumnVector constant(int origin, DataType type) {
    ConstantColumnVector column = new ConstantColumnVector(1, type);
    column.setNotNull();
    if (origin == TruckeeFormat.TYPE) column.setUtf8String(UTF8String.fromString(rows.types[0]));
    else if (origin == TruckeeFormat.VERSION) column.setLong(rows.versions[0]);
    else if (rows.times[0] == null) column.setNull();
    else column.setLong(rows.times[0].longValue());
    return column;
  }

  /** Puts the wanted rows of a batch into the result; returns whether there are any. */
  private boolean select(int count) {
    if (wanted.length < count) {
      wanted = new int[count];
      events = new int[count];
    }
    long first = groups.first(count);
    long[] indexes = groups.indexes;
    int size = indexes == null
        ? rows.select(pass, first, count, wanted, events)
        : rows.select(pass, indexes, count, wanted, events);
    if (size == 0) return false;
    if (size > 0) {
      for (int i = 0; i < reader.count; i++) {
        TruckeeVectors.compact((WritableColumnVector) source.column(i), wanted, size);
      }
    }
    int left = size < 0 ? count : size;
    for (int i = 0; i < computed.length; i++) {
      if (computed[i] != null) compute(computed[i], reader.origins[i], first, indexes, left, size < 0);
    }
    result.setNumRows(left);
    return true;
  }

  private void compute(
      OnHeapColumnVector column, int origin, long first, long[] indexes, int count, boolean isAll) {
    column.reset();
    column.reserve(count);
    if (origin == TruckeeFormat.AT || origin == TruckeeFormat.ID) {
      for (int i = 0; i < count; i++) {
        int at = isAll ? i : wanted[i];
        column.putLong(i, indexes == null ? first + at : indexes[at]);
      }
    }
    if (origin == TruckeeFormat.AT) return;
    if (TruckeeFormat.isId(origin)) {
      identify(column, origin, count);
      return;
    }
    for (int i = 0; i < count; i++) {
      int event = events[i];
      if (origin == TruckeeFormat.TYPE) column.putByteArray(i, rows.types[event].getBytes());
      else if (origin == TruckeeFormat.VERSION) column.putLong(i, rows.versions[event]);
      else if (rows.times[event] == null) column.putNull(i);
      else column.putLong(i, rows.times[event].longValue());
    }
  }

  /** Fills a column with the ids or versions of rows; for ids, it has the positions of the rows. */
  private void identify(OnHeapColumnVector column, int origin, int count) {
    ColumnVector held = source.column(reader.heldAt(origin));
    Long ofFile = TruckeeFormat.Reader.ofFile(origin, file);
    for (int i = 0; i < count; i++) {
      if (!held.isNullAt(i)) column.putLong(i, held.getLong(i));
      else if (ofFile == null) column.putNull(i);
      else column.putLong(i, ofFile.longValue() + (origin == TruckeeFormat.ID ? column.getLong(i) : 0L));
    }
  }

  /** The value of a field of Spark or Parquet that is not public. */
  static Object valueOf(Object of, String name) throws Exception { return field(of, name).get(of); }

  private static Field field(Object of, String name) throws NoSuchFieldException {
    for (Class type = of.getClass(); type != null; type = type.getSuperclass()) {
      Field[] all = type.getDeclaredFields();
      for (int i = 0; i < all.length; i++) {
        if (all[i].getName().equals(name)) {
          all[i].setAccessible(true);
          return all[i];
        }
      }
    }
    throw new NoSuchFieldException(of.getClass().getName() + "." + name);
  }

  /**
   * Which rows of the file a batch holds. Spark's reader asks for one row group after the other. This class
   * sits between reader and file, notes where each group starts, and skips groups without a wanted row.
   */
  public static class Groups implements InvocationHandler {
    long[] indexes;
    private final TruckeeWanted rows;
    private final int pass;
    private final Object groups;
    private final ParquetFileReader file;
    private final List blocks;
    private int block = 0;
    private long start;
    private long left = 0;
    private boolean isSkipped = false;
    private boolean isOver = false;
    private PrimitiveIterator.OfLong each;

    Groups(RecordReaderIterator batches, TruckeeWanted rows, int pass) throws Exception {
      this.rows = rows;
      this.pass = pass;
      Object reader = valueOf(batches, "rowReader");
      Field asked = field(reader, "reader");
      this.groups = asked.get(reader);
      this.file = (ParquetFileReader) valueOf(groups, "reader");
      this.blocks = file.getRowGroups();
      Class type = asked.getType();
      asked.set(reader, Proxy.newProxyInstance(type.getClassLoader(), new Class[] {type}, this));
    }

    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
      method.setAccessible(true);
      Object found;
      try {
        found = method.invoke(groups, arguments);
      } catch (InvocationTargetException error) {
        throw error.getCause();
      }
      if (method.getName().equals("readNextRowGroup")) note((PageReadStore) found);
      return found;
    }

    private void note(PageReadStore pages) {
      isOver = pages == null;
      if (isOver) return;
      start = ((Long) pages.getRowIndexOffset().get()).longValue();
      left = pages.getRowCount();
      each = (PrimitiveIterator.OfLong) pages.getRowIndexes().orElse(null);
      while (((BlockMetaData) blocks.get(block++)).getRowIndexOffset() != start) { }
    }

    /** Whether a batch may have wanted rows; if not, the rest of the file is not read. */
    boolean hasRows() {
      if (left > 0) return true;
      for (; block < blocks.size(); block++) {
        BlockMetaData group = (BlockMetaData) blocks.get(block);
        if (rows.wants(pass, group.getRowIndexOffset(), group.getRowCount())) return true;
        isSkipped = true;
        file.skipNextRowGroup();
      }
      return false;
    }

    /** Whether there is a batch. The reader expects the groups that were skipped, and fails without them. */
    boolean hasBatch(RecordReaderIterator batches) {
      try {
        return batches.hasNext();
      } catch (Exception error) {
        if (!isOver || !isSkipped) Platform.throwException(error);
        return false;
      }
    }

    /** The first row of a batch; `indexes` has all of its rows if they are not adjacent. */
    long first(int count) {
      left -= count;
      if (each == null) {
        indexes = null;
        start += count;
        return start - count;
      }
      if (indexes == null || indexes.length < count) indexes = new long[count];
      for (int i = 0; i < count; i++) indexes[i] = start + each.nextLong();
      return indexes[0];
    }
  }
}
