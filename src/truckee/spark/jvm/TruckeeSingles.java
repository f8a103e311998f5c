package truckee;

import java.io.Closeable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/** The wanted rows of a file, one by one, where Spark reads no batches. Spark gives each row's index. */
public class TruckeeSingles extends AbstractIterator implements Closeable {
  private final TruckeeFormat.Reader reader;
  private final PartitionedFile file;
  private final TruckeeWanted rows;
  private final UnsafeProjection projection;
  private final Object[] computed = new Object[6];
  private final JoinedRow joined = new JoinedRow();
  private final InternalRow more = new GenericInternalRow(computed);
  private int pass = -1;
  private Iterator source;
  private InternalRow result;

  TruckeeSingles(TruckeeFormat.Reader reader, PartitionedFile file, TruckeeWanted rows) {
    this.reader = reader;
    this.file = file;
    this.rows = rows;
    this.projection = projection();
  }

  private UnsafeProjection projection() {
    int[] origins = reader.origins;
    StructField[] others = reader.partitions.fields();
    // The order: columns of the reader, the row index, partition columns, then the computed columns.
    int computedAt = reader.count + 1 + others.length;
    Expression[] columns = new Expression[origins.length + others.length];
    for (int i = 0; i < origins.length; i++) {
      StructField field = reader.required.apply(i);
      boolean isRead = origins[i] == TruckeeFormat.TYPE && rows.types[0] == null;
      int at = isRead ? reader.typeAt : origins[i] >= 0 ? origins[i] : computedAt - 1 - origins[i];
      columns[i] = new BoundReference(at, field.dataType(), true);
    }
    for (int i = 0; i < others.length; i++) {
      columns[origins.length + i] = new BoundReference(reader.count + 1 + i, others[i].dataType(), true);
    }
    return UnsafeProjection$.MODULE$.create(TruckeeFiles.seq(columns));
  }

  public boolean hasNext() {
    while (result == null) {
      if (source == null) {
        if (pass + 1 >= rows.passes()) return false;
        pass++;
        source = (Iterator) reader.whole.apply(file);
      }
      if (source.hasNext()) consider((InternalRow) source.next());
      else close();
    }
    return true;
  }

  private void consider(InternalRow row) {
    long at = row.getLong(reader.count);
    int event = rows.eventOf(pass, at);
    if (event < 0) return;
    computed[0] = Long.valueOf(at);
    computed[1] = rows.types[event] == null ? null : UTF8String.fromString(rows.types[event]);
    computed[2] = Long.valueOf(rows.versions[event]);
    computed[3] = rows.times[event];
    computed[4] = identity(TruckeeFormat.ID, row, at);
    computed[5] = identity(TruckeeFormat.LAST_CHANGE, row, 0L);
    result = projection.apply(joined.apply(row, more));
  }

  private Long identity(int origin, InternalRow row, long more) {
    int held = reader.heldAt(origin);
    if (held < 0) return null;
    if (!row.isNullAt(held)) return Long.valueOf(row.getLong(held));
    Long ofFile = TruckeeFormat.Reader.ofFile(origin, file);
    return ofFile == null ? null : Long.valueOf(ofFile.longValue() + more);
  }

  public Object next() {
    if (!hasNext()) throw new java.util.NoSuchElementException();
    InternalRow found = result;
    result = null;
    return found;
  }

  public void close() {
    if (source instanceof Closeable) {
      try {
        ((Closeable) source).close();
      } catch (java.io.IOException error) {
        throw new RuntimeException(error);
      }
    }
    source = null;
  }
}
