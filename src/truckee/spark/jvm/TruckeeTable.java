package truckee;

import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TruncatableTable;
import org.apache.spark.sql.connector.catalog.V2TableWithV1Fallback;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;

/**
 * A Delta table as Spark's catalog shows it: its columns, partitions and properties are those of the log
 * at one version. Rows are neither read nor written through it: rules replace the plans that name it by
 * plans and commands of ours.
 */
public class TruckeeTable implements V2TableWithV1Fallback, TruncatableTable {
  private final String name;
  private final String path;
  private final StructType schema;
  private final String[] partitions;
  private final Map properties;
  private final CatalogTable entry;
  private final BiFunction rows;

  public TruckeeTable(String name, String path, StructType schema, String[] partitions, Map properties,
      CatalogTable entry, BiFunction rows) {
    this.name = name;
    this.path = path;
    this.schema = schema;
    this.partitions = partitions;
    this.properties = properties;
    this.entry = entry;
    this.rows = rows;
  }

  public String name() { return name; }

  public String path() { return path; }

  public StructType schema() { return schema; }

  public Map properties() { return properties; }

  /** The entry of the catalog, null for a table that is named by its path. */
  public CatalogTable entry() { return entry; }

  /** The plan that reads the table, with the options of one read. */
  public BiFunction rows() { return rows; }

  public Transform[] partitioning() {
    Transform[] found = new Transform[partitions.length];
    for (int i = 0; i < found.length; i++) found[i] = Expressions.identity("`" + partitions[i].replace("`", "``") + "`");
    return found;
  }

  public Set capabilities() { return known(); }

  static Set known() {
    Set found = new HashSet();
    found.add(TableCapability.BATCH_READ);
    found.add(TableCapability.BATCH_WRITE);
    found.add(TableCapability.TRUNCATE);
    found.add(TableCapability.OVERWRITE_BY_FILTER);
    found.add(TableCapability.OVERWRITE_DYNAMIC);
    found.add(TableCapability.ACCEPT_ANY_SCHEMA);
    return found;
  }

  /** Spark finds the source of streams by this. */
  public CatalogTable v1Table() {
    if (entry == null) throw new UnsupportedOperationException(name + " is not in the catalog");
    return entry;
  }

  public boolean truncateTable() {
    Map about = new HashMap();
    about.put("path", path);
    TruckeeAnswers.ask("truncate", about, new Object[] {SparkSession.active()});
    return true;
  }

  /** A table that is to be created or replaced, with the rows that are written to it, in one commit. */
  public static class Staged implements StagedTable {
    private final String name;
    private final StructType schema;
    private final Map definition;
    private boolean isDone;

    public Staged(String name, StructType schema, Map definition) {
      this.name = name;
      this.schema = schema;
      this.definition = definition;
    }

    public String name() { return name; }

    public StructType schema() { return schema; }

    public Set capabilities() { return known(); }

    public Map properties() { return Collections.emptyMap(); }

    /** What is to be created; the rows that are written to it complete it. */
    public Map taken() {
      isDone = true;
      return new HashMap(definition);
    }

    public void commitStagedChanges() {
      if (!isDone) TruckeeAnswers.ask("create", taken(), new Object[] {SparkSession.active()});
    }

    public void abortStagedChanges() { }
  }

  /** Makes tables for Python. */
  public static class Maker {
    public TruckeeTable table(String name, String path, StructType schema, String[] partitions, Map properties,
        CatalogTable entry, BiFunction rows) {
      return new TruckeeTable(name, path, schema, partitions, properties, entry, rows);
    }
  }
}
