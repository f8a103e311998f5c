package truckee;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.DelegatingCatalogExtension;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.IdentityColumnSpec;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.StagingTableCatalog;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalogCapability;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.V1Table;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/**
 * Spark's session catalog with Delta tables in it: those with the provider `delta`, and those that are
 * named by their path, as in delta.`/path`. All other tables are handled by Spark's own catalog.
 */
public class TruckeeCatalog extends DelegatingCatalogExtension implements StagingTableCatalog {
  static final String SESSION_CATALOG = "spark_catalog";
  private static final String PROVIDER = "provider";

  public Set capabilities() {
    Set found = new HashSet(super.capabilities());
    found.add(TableCatalogCapability.SUPPORT_COLUMN_DEFAULT_VALUE);
    found.add(TableCatalogCapability.SUPPORTS_CREATE_TABLE_WITH_GENERATED_COLUMNS);
    found.add(TableCatalogCapability.SUPPORTS_CREATE_TABLE_WITH_IDENTITY_COLUMNS);
    return found;
  }

  public Table loadTable(Identifier name) throws org.apache.spark.sql.catalyst.analysis.NoSuchTableException {
    return loaded(name, new HashMap());
  }

  public Table loadTable(Identifier name, Set privileges)
      throws org.apache.spark.sql.catalyst.analysis.NoSuchTableException {
    return loadTable(name);
  }

  public Table loadTable(Identifier name, String version)
      throws org.apache.spark.sql.catalyst.analysis.NoSuchTableException {
    if (!isDelta(name)) return super.loadTable(name, version);
    Map about = new HashMap();
    about.put("version", version);
    return loaded(name, about);
  }

  public Table loadTable(Identifier name, long microseconds)
      throws org.apache.spark.sql.catalyst.analysis.NoSuchTableException {
    if (!isDelta(name)) return super.loadTable(name, microseconds);
    Map about = new HashMap();
    about.put("timestamp_us", Long.valueOf(microseconds));
    return loaded(name, about);
  }

  public boolean tableExists(Identifier name) {
    if (!isPath(name)) return super.tableExists(name);
    return ((Boolean) ask("exists", name, new HashMap(), new Object[0])).booleanValue();
  }

  public Table createTable(Identifier name, StructType schema, Transform[] partitions, Map properties)
      throws org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException,
          org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException {
    Column[] columns = new Column[schema.length()];
    for (int i = 0; i < columns.length; i++) {
      StructField field = schema.apply(i);
      columns[i] = Column.create(
          field.name(), field.dataType(), field.nullable(), null, field.metadata().json());
    }
    return createTable(name, columns, partitions, properties);
  }

  public Table createTable(Identifier name, Column[] columns, Transform[] partitions, Map properties)
      throws org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException,
          org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException {
    if (!isDelta(name, properties)) return super.createTable(name, columns, partitions, properties);
    return created(name, columns, partitions, properties);
  }

  private Table created(Identifier name, Column[] columns, Transform[] partitions, Map properties) {
    Map about = definition("create", columns, partitions, properties);
    ask("create", name, about, new Object[0]);
    try {
      return loaded(name, new HashMap());
    } catch (org.apache.spark.sql.catalyst.analysis.NoSuchTableException error) {
      throw new IllegalStateException(error);
    }
  }

  public StagedTable stageCreate(Identifier name, Column[] columns, Transform[] partitions, Map properties) {
    return staged("create", name, columns, partitions, properties);
  }

  public StagedTable stageReplace(Identifier name, Column[] columns, Transform[] partitions, Map properties) {
    return staged("replace", name, columns, partitions, properties);
  }

  public StagedTable stageCreateOrReplace(Identifier name, Column[] columns, Transform[] partitions, Map properties) {
    return staged("createOrReplace", name, columns, partitions, properties);
  }

  private StagedTable staged(
      String creation, Identifier name, Column[] columns, Transform[] partitions, Map properties) {
    if (!isDelta(name, properties)) {
      throw new UnsupportedOperationException(
          "a table that is not a Delta table cannot be created or replaced with its rows at once here");
    }
    Map about = definition(creation, columns, partitions, properties);
    about.putAll(about(name));
    about.put("is_saved_by_v1", Boolean.valueOf(isSavedByV1()));
    // Refuse what can be refused before rows are computed.
    TruckeeAnswers.ask("check creation", new HashMap(about), new Object[] {SparkSession.active()});
    return new TruckeeTable.Staged(name.toString(), schema(columns), about);
  }

  /** Whether this is saveAsTable of a DataFrameWriter, which Spark hands over as REPLACE TABLE AS SELECT. */
  private static boolean isSavedByV1() {
    StackTraceElement[] calls = Thread.currentThread().getStackTrace();
    for (int i = 0; i < calls.length; i++) {
      if (calls[i].getMethodName().equals("saveAsTable") && calls[i].getClassName().endsWith(".DataFrameWriter")) {
        return true;
      }
    }
    return false;
  }

  public Table alterTable(Identifier name, TableChange[] changes)
      throws org.apache.spark.sql.catalyst.analysis.NoSuchTableException {
    if (!isDelta(name)) return super.alterTable(name, changes);
    List listed = new ArrayList();
    for (int i = 0; i < changes.length; i++) listed.add(change(changes[i]));
    Map about = new HashMap();
    about.put("changes", listed);
    ask("alter", name, about, new Object[0]);
    return loaded(name, new HashMap());
  }

  public boolean dropTable(Identifier name) {
    if (isPath(name)) ask("drop", name, new HashMap(), new Object[0]);
    return super.dropTable(name);
  }

  public boolean purgeTable(Identifier name) {
    if (isPath(name)) ask("drop", name, new HashMap(), new Object[0]);
    return super.purgeTable(name);
  }

  public void renameTable(Identifier name, Identifier other)
      throws org.apache.spark.sql.catalyst.analysis.NoSuchTableException,
          org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException {
    if (isPath(name) || isPath(other)) ask("rename", name, new HashMap(), new Object[0]);
    super.renameTable(name, other);
  }

  /** Whether a name is that of a Delta table; throws NoSuchTableException if there is no table. */
  boolean isDelta(Identifier name) throws org.apache.spark.sql.catalyst.analysis.NoSuchTableException {
    return isPath(name) || entry(super.loadTable(name)) != null;
  }

  private static boolean isDelta(Identifier name, Map properties) {
    if (isPath(name)) return true;
    String provider = (String) properties.get(PROVIDER);
    // Without USING, the format is that of spark.sql.sources.default.
    return isDelta(provider == null ? SQLConf.get().defaultDataSourceName() : provider);
  }

  static boolean isDelta(String provider) {
    return provider.equalsIgnoreCase("delta") || provider.equalsIgnoreCase("truckee");
  }

  /** Whether a name stands for a path: two parts, `delta` and a text with a slash in it. */
  static boolean isPath(Identifier name) {
    String[] namespace = name.namespace();
    return namespace.length == 1 && isDelta(namespace[0]) && name.name().contains("/");
  }

  private static CatalogTable entry(Table found) {
    if (!(found instanceof V1Table)) return null;
    CatalogTable entry = ((V1Table) found).catalogTable();
    Option provider = entry.provider();
    return provider.isDefined() && isDelta((String) provider.get()) ? entry : null;
  }

  private Table loaded(Identifier name, Map about)
      throws org.apache.spark.sql.catalyst.analysis.NoSuchTableException {
    CatalogTable entry = null;
    if (!isPath(name)) {
      Table found = super.loadTable(name);
      entry = entry(found);
      if (entry == null) return found;
    } else if (!tableExists(name)) {
      throw new org.apache.spark.sql.catalyst.analysis.NoSuchTableException(name);
    }
    return (Table) ask("load", name, about, new Object[] {entry});
  }

  private Object ask(String kind, Identifier name, Map about, Object[] objects) {
    about.putAll(about(name));
    Object[] all = new Object[objects.length + 1];
    all[0] = SparkSession.active();
    for (int i = 0; i < objects.length; i++) all[i + 1] = objects[i];
    return TruckeeAnswers.ask(kind, about, all);
  }

  static Map about(Identifier name) {
    Map about = new HashMap();
    if (isPath(name)) {
      about.put("path", name.name());
    } else {
      List parts = new ArrayList();
      if (isHidden(name)) parts.add(SESSION_CATALOG);
      for (int i = 0; i < name.namespace().length; i++) parts.add(name.namespace()[i]);
      parts.add(name.name());
      about.put("parts", parts);
    }
    return about;
  }

  /** Whether a name of this catalog, without the catalog's own, would be that of a table in another. */
  private static boolean isHidden(Identifier name) {
    CatalogManager catalogs = ((org.apache.spark.sql.classic.SparkSession) SparkSession.active())
        .sessionState().catalogManager();
    if (!catalogs.currentCatalog().name().equals(SESSION_CATALOG)) return true;
    return name.namespace().length > 0 && catalogs.isCatalogRegistered(name.namespace()[0]);
  }

  private static Map definition(String creation, Column[] columns, Transform[] partitions, Map properties) {
    Map about = new HashMap();
    about.put("creation", creation);
    about.put("columns", columns(columns));
    List layout = new ArrayList();
    for (int i = 0; i < partitions.length; i++) {
      Map each = new HashMap();
      each.put("name", partitions[i].name());
      each.put("text", partitions[i].describe());
      List names = new ArrayList();
      NamedReference[] references = partitions[i].references();
      for (int j = 0; j < references.length; j++) names.add(references[j].fieldNames());
      each.put("columns", names);
      layout.add(each);
    }
    about.put("layout", layout);
    about.put("properties", properties);
    return about;
  }

  private static StructType schema(Column[] columns) {
    StructType schema = new StructType();
    for (int i = 0; i < columns.length; i++) {
      schema = schema.add(columns[i].name(), columns[i].dataType(), columns[i].nullable());
    }
    return schema;
  }

  private static List columns(Column[] columns) {
    List found = new ArrayList();
    for (int i = 0; i < columns.length; i++) {
      Map column = new HashMap();
      column.put("field", columns[i].name());
      column.put("type", columns[i].dataType().json());
      column.put("nullable", Boolean.valueOf(columns[i].nullable()));
      column.put("comment", columns[i].comment());
      column.put("metadata", columns[i].metadataInJSON());
      if (columns[i].defaultValue() != null) column.put("default", TruckeeWrites.call(columns[i].defaultValue(), "getSql"));
      column.put("generation", columns[i].generationExpression());
      IdentityColumnSpec identity = columns[i].identityColumnSpec();
      if (identity != null) {
        column.put("start", Long.valueOf(identity.getStart()));
        column.put("step", Long.valueOf(identity.getStep()));
        column.put("takes_values", Boolean.valueOf(identity.isAllowExplicitInsert()));
      }
      found.add(column);
    }
    return found;
  }

  private static Map change(TableChange change) {
    Map about = new HashMap();
    about.put("change", change.getClass().getSimpleName());
    if (change instanceof TableChange.ColumnChange) {
      about.put("column", ((TableChange.ColumnChange) change).fieldNames());
    }
    if (change instanceof TableChange.SetProperty) {
      about.put("key", ((TableChange.SetProperty) change).property());
      about.put("value", ((TableChange.SetProperty) change).value());
    } else if (change instanceof TableChange.RemoveProperty) {
      about.put("key", ((TableChange.RemoveProperty) change).property());
    } else if (change instanceof TableChange.AddColumn) {
      TableChange.AddColumn added = (TableChange.AddColumn) change;
      about.put("type", added.dataType().json());
      about.put("nullable", Boolean.valueOf(added.isNullable()));
      about.put("comment", added.comment());
      about.put("position", position(added.position()));
      if (added.defaultValue() != null) about.put("default", TruckeeWrites.call(added.defaultValue(), "getSql"));
    } else if (change instanceof TableChange.RenameColumn) {
      about.put("name", ((TableChange.RenameColumn) change).newName());
    } else if (change instanceof TableChange.UpdateColumnType) {
      about.put("type", ((TableChange.UpdateColumnType) change).newDataType().json());
    } else if (change instanceof TableChange.UpdateColumnNullability) {
      about.put("nullable", Boolean.valueOf(((TableChange.UpdateColumnNullability) change).nullable()));
    } else if (change instanceof TableChange.UpdateColumnComment) {
      about.put("comment", ((TableChange.UpdateColumnComment) change).newComment());
    } else if (change instanceof TableChange.UpdateColumnPosition) {
      about.put("position", position(((TableChange.UpdateColumnPosition) change).position()));
    } else if (change instanceof TableChange.UpdateColumnDefaultValue) {
      about.put("default", ((TableChange.UpdateColumnDefaultValue) change).newDefaultValue());
    } else if (change instanceof TableChange.DeleteColumn) {
      about.put("if_exists", ((TableChange.DeleteColumn) change).ifExists());
    }
    return about;
  }

  private static String position(TableChange.ColumnPosition position) {
    if (position == null) return null;
    if (position instanceof TableChange.After) return "after " + ((TableChange.After) position).column();
    return "first";
  }
}
