package truckee;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
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
 */
public class TruckeeRows extends AbstractFunction1 implements Serializable {
  private final int marks;

  public TruckeeRows(int marks) {
    this.marks = marks;
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
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(bytes);
      for (Iterator each = byFile.values().iterator(); each.hasNext(); ) {
        ((FileRows) each.next()).write(out);
      }
      return new ArraySeq.ofRef(new Object[] {bytes.toByteArray()}).iterator();
    } catch (IOException error) {
      throw new RuntimeException(error);
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

    private void write(DataOutputStream out) throws IOException {
      out.writeInt(file);
      out.writeLong(counts[0]);
      for (int i = 0; i < bitmaps.length; i++) {
        if (i > 0 && counts[i] == counts[0]) {
          out.writeInt(-1);
          continue;
        }
        bitmaps[i].runOptimize();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bitmaps[i].serializePortable(new DataOutputStream(bytes));
        out.writeInt(bytes.size());
        bytes.writeTo(out);
      }
    }
  }

  private static class Collect extends AbstractFunction0 {
    private final QueryExecution query;
    private final int marks;

    private Collect(QueryExecution query, int marks) {
      this.query = query;
      this.marks = marks;
    }

    public Object apply() {
      ClassTag bytes = ClassTag$.MODULE$.apply(byte[].class);
      return query.toRdd().mapPartitions(new TruckeeRows(marks), false, bytes).collect();
    }
  }

  public static class Maker {
    /** Run a query whose columns are file, row index and marks, and return all records. */
    public byte[] bitmaps(Dataset rows, int marks) {
      QueryExecution query = rows.queryExecution();
      byte[][] found = (byte[][]) SQLExecution.withNewExecutionId(
          query, Option.apply("bitmaps of rows"), new Collect(query, marks));
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      for (int i = 0; i < found.length; i++) {
        all.write(found[i], 0, found[i].length);
      }
      return all.toByteArray();
    }
  }
}
