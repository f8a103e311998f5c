package truckee;

import org.apache.spark.sql.catalyst.types.PhysicalDataType;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;

/** Compacts a column vector of Spark's reader: only the values at some places are kept. */
public class TruckeeVectors {
  /** Moves the values at `places`, which are ascending, to the front. */
  static void compact(WritableColumnVector column, int[] places, int size) {
    if (column.isAllNull()) return;
    int same = 0;
    while (same < size && places[same] == same) same++;
    if (same == size) return;
    if (column.hasNull()) {
      for (int i = same; i < size; i++) {
        if (column.isNullAt(places[i])) column.putNull(i);
        else column.putNotNull(i);
      }
    }
    if (column.hasDictionary()) moveInts(column.getDictionaryIds(), places, same, size);
    else move(column, places, same, size);
  }

  private static void move(WritableColumnVector column, int[] places, int same, int size) {
    String type = PhysicalDataType.apply(column.dataType()).getClass().getSimpleName();
    if (type.startsWith("PhysicalLong")) moveLongs(column, places, same, size);
    else if (type.startsWith("PhysicalInteger")) moveInts(column, places, same, size);
    else if (type.startsWith("PhysicalDouble")) {
      for (int i = same; i < size; i++) column.putDouble(i, column.getDouble(places[i]));
    } else if (type.startsWith("PhysicalFloat")) {
      for (int i = same; i < size; i++) column.putFloat(i, column.getFloat(places[i]));
    } else if (type.startsWith("PhysicalBoolean")) {
      for (int i = same; i < size; i++) column.putBoolean(i, column.getBoolean(places[i]));
    } else if (type.startsWith("PhysicalByte")) {
      for (int i = same; i < size; i++) column.putByte(i, column.getByte(places[i]));
    } else if (type.startsWith("PhysicalShort")) {
      for (int i = same; i < size; i++) column.putShort(i, column.getShort(places[i]));
    } else if (type.startsWith("PhysicalDecimal")) {
      moveDecimals(column, places, same, size);
    } else if (type.startsWith("PhysicalStruct") || type.startsWith("PhysicalVariant")) {
      for (int i = 0; i < column.getNumChildren(); i++) {
        compact((WritableColumnVector) column.getChild(i), places, size);
      }
    } else if (type.startsWith("PhysicalString") || type.startsWith("PhysicalBinary")
        || type.startsWith("PhysicalArray") || type.startsWith("PhysicalMap")
        || type.startsWith("PhysicalGeo")) {
      movePlaces(column, places, same, size);
    } else if (!type.startsWith("PhysicalNull")) {
      throw new IllegalStateException("vectors of " + column.dataType() + " cannot be made dense");
    }
  }

  private static void moveDecimals(WritableColumnVector column, int[] places, int same, int size) {
    int precision = ((org.apache.spark.sql.types.DecimalType) column.dataType()).precision();
    if (precision <= 9) moveInts(column, places, same, size);
    else if (precision <= 18) moveLongs(column, places, same, size);
    else movePlaces(column, places, same, size);
  }

  private static void movePlaces(WritableColumnVector column, int[] places, int same, int size) {
    for (int i = same; i < size; i++) {
      int at = places[i];
      column.putArray(i, column.getArrayOffset(at), column.getArrayLength(at));
    }
  }

  private static void moveLongs(WritableColumnVector column, int[] places, int same, int size) {
    for (int i = same; i < size; i++) column.putLong(i, column.getLong(places[i]));
  }

  private static void moveInts(WritableColumnVector column, int[] places, int same, int size) {
    for (int i = same; i < size; i++) column.putInt(i, column.getInt(places[i]));
  }
}
