package truckee;

import java.util.function.BiFunction;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.types.StructType;

/** What a source returns for a table: a rule replaces it by the plan that reads the table. */
public class TruckeeRelation extends BaseRelation {
  private final SQLContext context;
  private final StructType schema;
  private final BiFunction rows;

  public TruckeeRelation(SQLContext context, StructType schema, BiFunction rows) {
    this.context = context;
    this.schema = schema;
    this.rows = rows;
  }

  public SQLContext sqlContext() { return context; }

  public StructType schema() { return schema; }

  public BiFunction rows() { return rows; }

  /** Makes relations for Python. */
  public static class Maker {
    public TruckeeRelation relation(SQLContext context, StructType schema, BiFunction rows) {
      return new TruckeeRelation(context, schema, rows);
    }
  }
}
