package truckee;

import java.io.Serializable;
import java.math.BigDecimal;
import java.util.Base64;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.types.variant.Variant;
import org.apache.spark.unsafe.types.VariantVal;

/**
 * A variant as a text that is the same for equal values of the same types, and for no others.
 *
 * Spark neither compares nor groups by variants. Their bytes will not do: fields of an object are stored in
 * any order, and a small number in one byte or in eight. Nor will their JSON, where a date is a string.
 *
 * Each value begins with a letter for its type. Where its end is not clear, it ends with `;` or begins with
 * its length: `{"a": [1, "x"]}` is `{1:a[i1;s1:x]}`. As in comparisons of Spark, NaN equals NaN and -0.0
 * equals 0.0.
 */
public class TruckeeVariants implements UDF1, Serializable {
  public Object call(Object value) {
    if (value == null) return null;
    VariantVal found = (VariantVal) value;
    StringBuilder text = new StringBuilder();
    append(new Variant(found.getValue(), found.getMetadata()), text);
    return text.toString();
  }

  private static void append(Variant value, StringBuilder text) {
    String type = value.getType().name();
    if (type.equals("OBJECT")) appendObject(value, text);
    else if (type.equals("ARRAY")) appendArray(value, text);
    else if (type.equals("NULL")) text.append('n');
    else if (type.equals("BOOLEAN")) text.append(value.getBoolean() ? 't' : 'f');
    else if (type.equals("LONG")) text.append('i').append(value.getLong()).append(';');
    else if (type.equals("STRING")) appendText(value.getString(), text.append('s'));
    else if (type.equals("DOUBLE")) {
      text.append('d').append(Double.doubleToLongBits(value.getDouble() + 0.0d)).append(';');
    } else if (type.equals("FLOAT")) {
      text.append('g').append(Float.floatToIntBits(value.getFloat() + 0.0f)).append(';');
    } else if (type.equals("DECIMAL")) {
      BigDecimal decimal = value.getDecimal();
      text.append('m').append(decimal.signum() == 0 ? "0" : decimal.toPlainString()).append(';');
    } else if (type.equals("BINARY")) {
      text.append('b').append(Base64.getEncoder().encodeToString(value.getBinary())).append(';');
    } else if (type.equals("UUID")) text.append('u').append(value.getUuid()).append(';');
    // Dates and the two kinds of timestamps are counts.
    else text.append(type).append(value.getLong()).append(';');
  }

  private static void appendObject(Variant value, StringBuilder text) {
    TreeMap fields = new TreeMap();
    for (int i = 0; i < value.objectSize(); i++) {
      Variant.ObjectField field = value.getFieldAtIndex(i);
      fields.put(field.key, field.value);
    }
    text.append('{');
    for (Iterator each = fields.entrySet().iterator(); each.hasNext(); ) {
      Map.Entry field = (Map.Entry) each.next();
      appendText((String) field.getKey(), text);
      append((Variant) field.getValue(), text);
    }
    text.append('}');
  }

  private static void appendArray(Variant value, StringBuilder text) {
    text.append('[');
    for (int i = 0; i < value.arraySize(); i++) append(value.getElementAtIndex(i), text);
    text.append(']');
  }

  private static void appendText(String value, StringBuilder text) {
    text.append(value.length()).append(':').append(value);
  }

  public static class Maker {
    /** Variants as texts that can be compared; null stays null. */
    public Column comparable(Column variants) {
      return functions.udf(new TruckeeVariants(), DataTypes.StringType).apply(new Column[] {variants});
    }
  }
}
