package truckee;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.RelationTimeTravel;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.analysis.UnresolvedInlineTable;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.analysis.UnresolvedStar;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.TemporaryViewRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias$;
import org.apache.spark.sql.catalyst.plans.logical.WithCTE;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Turns statements that change rows of a Delta table into commands of ours, before Spark resolves them. The
 * commands resolve the names and stars in them.
 */
public class TruckeeWrites extends Rule {
  private static final String AFFECTED = "num_affected_rows bigint";
  private static final String MERGED = AFFECTED
      + ", num_updated_rows bigint, num_deleted_rows bigint, num_inserted_rows bigint";

  private final SparkSession session;

  public TruckeeWrites(SparkSession session) { this.session = session; }

  public TreeNode apply(TreeNode plan) {
    LogicalPlan given = (LogicalPlan) plan;
    return given.analyzed() ? given : replaced(given, null);
  }

  private static boolean isDefault(Object expression) {
    return expression instanceof UnresolvedAttribute
        && ((UnresolvedAttribute) expression).name().equalsIgnoreCase("default");
  }

  /** The rows of VALUES with the word DEFAULT replaced by the defaults of columns. */
  private LogicalPlan withDefaults(LogicalPlan query, LogicalPlan insert, Map about) {
    if (!(query instanceof UnresolvedInlineTable) || !query.toString().toLowerCase().contains("default")) return query;
    UnresolvedInlineTable table = (UnresolvedInlineTable) query;
    Map asked = new HashMap(about);
    boolean isInsert = insert.getClass().getSimpleName().equals("InsertIntoStatement");
    asked.put("columns", isInsert ? list((Seq) call(insert, "userSpecifiedCols")) : new ArrayList());
    List defaulted = new ArrayList();
    for (Iterator each = list(table.rows()).iterator(); each.hasNext(); ) {
      List row = list((Seq) each.next());
      for (int i = 0; i < row.size(); i++) if (isDefault(row.get(i))) defaulted.add(String.valueOf(i));
    }
    if (defaulted.isEmpty()) return query;
    asked.put("defaulted", defaulted);
    List defaults = (List) TruckeeAnswers.ask("defaults", asked, new Object[] {session});
    List rows = new ArrayList();
    for (Iterator each = list(table.rows()).iterator(); each.hasNext(); ) {
      List row = list((Seq) each.next());
      for (int i = 0; i < row.size(); i++) {
        if (isDefault(row.get(i))) row.set(i, parsed((String) defaults.get(i)));
      }
      rows.add(seq(row));
    }
    return new UnresolvedInlineTable(table.names(), seq(rows));
  }

  private Object parsed(String text) {
    try {
      return session.sessionState().sqlParser().parseExpression(text);
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
  }

  /** The plan with tables by path assigned to the session catalog, and CHANGES FROM replaced by feeds. */
  private LogicalPlan relations(LogicalPlan plan) {
    if (plan instanceof UnresolvedRelation) return relation((UnresolvedRelation) plan);
    if (plan instanceof UnresolvedTable) return table((UnresolvedTable) plan);
    if (plan instanceof RelationTimeTravel) {
      RelationTimeTravel travel = (RelationTimeTravel) plan;
      LogicalPlan inner = relations(travel.relation());
      return inner == travel.relation() ? plan : new RelationTimeTravel(inner, travel.timestamp(), travel.version());
    }
    if (plan.getClass().getSimpleName().equals("RelationChanges")) return changes(plan);
    List children = new ArrayList();
    boolean same = true;
    for (Iterator each = list(plan.children()).iterator(); each.hasNext(); ) {
      LogicalPlan child = (LogicalPlan) each.next();
      LogicalPlan other = relations(child);
      same = same && other == child;
      children.add(other);
    }
    return same ? plan : (LogicalPlan) plan.withNewChildren(seq(children));
  }

  /** Spark would treat a name of two parts as a file to read itself, and never ask the catalog. */
  private LogicalPlan relation(UnresolvedRelation relation) {
    List parts = list(relation.multipartIdentifier());
    if (isBare(parts)) {
      Map about = new HashMap();
      about.put("name", parts.get(1));
      TruckeeAnswers.ask("bare path", about, new Object[] {session});
    }
    Identifier name = isPath(parts) ? name(session, parts) : null;
    if (name == null) return relation;
    Map about = TruckeeCatalog.about(name);
    TruckeeAnswers.ask("check path", about, new Object[] {session});
    parts.add(0, TruckeeCatalog.SESSION_CATALOG);
    return new UnresolvedRelation(seq(parts), relation.options(), relation.isStreaming());
  }

  /** Whether a name may be meant as a path, but has no slash; there is no schema with the format's name. */
  private boolean isBare(List parts) {
    return parts.size() == 2 && TruckeeCatalog.isDelta((String) parts.get(0)) && !isPath(parts)
        && identifier(session, parts) != null
        && !session.sessionState().catalog().databaseExists((String) parts.get(0));
  }

  /** A path that a statement such as ALTER TABLE names, where USE has chosen another catalog. */
  private LogicalPlan table(UnresolvedTable table) {
    List parts = list(table.multipartIdentifier());
    boolean isHere = session.sessionState().catalogManager().currentCatalog().name()
        .equals(TruckeeCatalog.SESSION_CATALOG);
    if (isHere || !isPath(parts)) return table;
    parts.add(0, TruckeeCatalog.SESSION_CATALOG);
    return new UnresolvedTable(seq(parts), table.commandName(), table.suggestAlternative());
  }

  private LogicalPlan changes(LogicalPlan plan) {
    Object inner = call(plan, "relation");
    if (!(inner instanceof UnresolvedRelation)) return plan;
    UnresolvedRelation relation = (UnresolvedRelation) inner;
    List parts = list(relation.multipartIdentifier());
    Identifier name = name(session, parts);
    if (name == null) return plan;
    Map about = TruckeeCatalog.about(name);
    about.put("options", new HashMap(relation.options().asCaseSensitiveMap()));
    about.put("is_stream", Boolean.valueOf(relation.isStreaming()));
    LogicalPlan rows = (LogicalPlan) TruckeeAnswers.ask("changes from", about, new Object[] {session, plan});
    return SubqueryAlias$.MODULE$.apply((String) parts.get(parts.size() - 1), rows);
  }

  private LogicalPlan like(LogicalPlan plan) {
    Identifier target = identifier(session, list((Seq) call(plan.children().head(), "nameParts")));
    Identifier source = name(session, list((Seq) call(plan.children().apply(1), "multipartIdentifier")));
    Option provider = (Option) call(plan, "provider");
    boolean isDelta = provider.isDefined() ? "delta".equalsIgnoreCase((String) provider.get()) : source != null;
    if (target == null || !isDelta) return plan;
    Map about = TruckeeCatalog.about(target);
    about.put("source", source == null ? null : TruckeeCatalog.about(source));
    return TruckeeCommand.of("create like", about, new Object[] {plan}, "");
  }

  private LogicalPlan replaced(LogicalPlan plan, Seq definitions) {
    if (plan instanceof WithCTE) {
      WithCTE with = (WithCTE) plan;
      LogicalPlan inner = replaced(with.plan(), with.cteDefs());
      return inner == with.plan() ? relations(plan) : inner;
    }
    String kind = plan.getClass().getSimpleName();
    if (kind.equals("InsertIntoStatement") || kind.equals("AppendData")
        || kind.equals("OverwriteByExpression") || kind.equals("OverwritePartitionsDynamic")) {
      return inserted(kind, plan, definitions);
    }
    if (kind.equals("Union") && isInsert((LogicalPlan) plan.children().head())) return inserts(plan, definitions);
    if (kind.equals("DeleteFromTable") || kind.equals("UpdateTable")) {
      Map about = changed((LogicalPlan) plan.children().head());
      return about == null ? plan : TruckeeCommand.of(kind, about, new Object[] {plan}, AFFECTED);
    }
    if (kind.equals("MergeIntoTable")) {
      Map about = changed((LogicalPlan) plan.children().head());
      if (about == null) return plan;
      LogicalPlan source = (LogicalPlan) plan.children().apply(1);
      Dataset rows = Dataset.ofRows(session, with(source, definitions));
      return TruckeeCommand.of(kind, about, new Object[] {plan, rows}, MERGED);
    }
    if (kind.equals("CreateTableLike")) return like(plan);
    if (kind.equals("InsertIntoDir")) return directory(plan);
    return definitions == null ? relations(plan) : plan;
  }

  private LogicalPlan directory(LogicalPlan plan) {
    Option provider = (Option) call(plan, "provider");
    if (provider.isDefined() && "delta".equalsIgnoreCase((String) provider.get())) {
      Map about = new HashMap();
      about.put("operation", "INSERT OVERWRITE DIRECTORY ... USING delta");
      TruckeeAnswers.ask("refuse", about, new Object[] {session});
    }
    return relations(plan);
  }

  private static boolean isInsert(LogicalPlan plan) {
    String kind = plan.getClass().getSimpleName();
    return kind.equals("InsertIntoStatement") || plan instanceof TruckeeCommand;
  }

  /** FROM ... INSERT ... INSERT ...: each is checked before the first of them writes. */
  private LogicalPlan inserts(LogicalPlan plan, Seq definitions) {
    List children = new ArrayList();
    for (Iterator each = list(plan.children()).iterator(); each.hasNext(); ) {
      LogicalPlan child = (LogicalPlan) each.next();
      LogicalPlan other = child instanceof TruckeeCommand ? child : replaced(child, definitions);
      if (other != child) ((TruckeeCommand) other).ask("check insert", session);
      children.add(other == child ? relations(child) : other);
    }
    return (LogicalPlan) plan.withNewChildren(seq(children));
  }

  private LogicalPlan inserted(String kind, LogicalPlan plan, Seq definitions) {
    LogicalPlan table = (LogicalPlan) call(plan, "table");
    Map about = target(table);
    if (about == null) return plan;
    if (about.containsKey("creation")) kind = "create with rows";
    LogicalPlan query = withDefaults((LogicalPlan) call(plan, "query"), plan, about);
    Dataset rows = Dataset.ofRows(session, with(query, definitions));
    return TruckeeCommand.of(kind, about, new Object[] {plan, rows}, "");
  }

  private static LogicalPlan with(LogicalPlan query, Seq definitions) {
    return definitions == null ? query : new WithCTE(query, definitions);
  }

  /** What is known of the Delta table whose rows change, by its name or that of a view which is all of it. */
  private Map changed(LogicalPlan plan) {
    if (plan instanceof SubqueryAlias) {
      Map about = changed(((SubqueryAlias) plan).child());
      if (about != null) about.put("alias", ((SubqueryAlias) plan).alias());
      return about;
    }
    LogicalPlan table = plan instanceof UnresolvedRelation ? selected((UnresolvedRelation) plan) : null;
    if (table == null) return target(plan);
    Map about = changed(table);
    if (about == null) return null;
    about.put("alias", ((UnresolvedRelation) plan).multipartIdentifier().last());
    about.put("is_view", Boolean.TRUE);
    return about;
  }

  /** The relation of which a temporary view selects all columns and all rows; null for all else. */
  private LogicalPlan selected(UnresolvedRelation relation) {
    Option found = session.sessionState().catalog().getRawLocalOrGlobalTempView(relation.multipartIdentifier());
    if (!found.isDefined()) return null;
    CatalogTable view = ((TemporaryViewRelation) found.get()).tableMeta();
    if (((TemporaryViewRelation) found.get()).plan().isDefined() || !view.viewText().isDefined()) return null;
    LogicalPlan plan = query((String) view.viewText().get());
    if (!(plan instanceof Project) || !(((Project) plan).child() instanceof UnresolvedRelation)) return null;
    Seq columns = ((Project) plan).projectList();
    boolean isAll = columns.size() == 1 && columns.head() instanceof UnresolvedStar
        && !((UnresolvedStar) columns.head()).target().isDefined();
    if (!isAll) return null;
    UnresolvedRelation inner = (UnresolvedRelation) ((Project) plan).child();
    List parts = list(inner.multipartIdentifier());
    if (parts.size() == 1) parts.addAll(0, list(view.viewCatalogAndNamespace()));
    return new UnresolvedRelation(seq(parts), inner.options(), inner.isStreaming());
  }

  private LogicalPlan query(String text) {
    try {
      return (LogicalPlan) session.sessionState().sqlParser().parsePlan(text);
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
  }

  /** What is known of the Delta table that a plan names; null if it names none. */
  private Map target(LogicalPlan plan) {
    if (plan instanceof SubqueryAlias) {
      Map about = target(((SubqueryAlias) plan).child());
      if (about != null) about.put("alias", ((SubqueryAlias) plan).alias());
      return about;
    }
    if (plan instanceof DataSourceV2Relation) {
      Table table = ((DataSourceV2Relation) plan).table();
      if (table instanceof TruckeeTable.Staged) return ((TruckeeTable.Staged) table).taken();
      Option name = ((DataSourceV2Relation) plan).identifier();
      Map about = new HashMap();
      if (table instanceof TruckeeTable) {
        about.put("path", ((TruckeeTable) table).path());
      } else if (table instanceof TruckeeSource.Nothing && name.isDefined()) {
        // saveAsTable looks for the table before Spark makes its session the active one. In a thread that
        // has none, Spark does not see the setting of our catalog, and asks its own.
        about.putAll(TruckeeCatalog.about((Identifier) name.get()));
      } else {
        return null;
      }
      about.put("options", new HashMap(((DataSourceV2Relation) plan).options().asCaseSensitiveMap()));
      return about;
    }
    if (!(plan instanceof UnresolvedRelation)) return null;
    UnresolvedRelation relation = (UnresolvedRelation) plan;
    Identifier name = name(session, list(relation.multipartIdentifier()));
    if (name == null || relation.isStreaming()) return null;
    Map about = TruckeeCatalog.about(name);
    Map options = new HashMap(relation.options().asCaseSensitiveMap());
    options.remove(UnresolvedRelation.REQUIRED_WRITE_PRIVILEGES());
    about.put("options", options);
    return about;
  }

  /** The name of a Delta table in the session catalog; null if it is that of something else. */
  static Identifier name(SparkSession session, List parts) {
    Identifier name = identifier(session, parts);
    if (name == null) return null;
    try {
      CatalogPlugin catalog = session.sessionState().catalogManager().v2SessionCatalog();
      return ((TruckeeCatalog) catalog).isDelta(name) ? name : null;
    } catch (Exception missing) {
      return null; // for Spark to say
    }
  }

  /** A name in the session catalog; null if it is that of something else. */
  static Identifier identifier(SparkSession session, List parts) {
    CatalogManager manager = session.sessionState().catalogManager();
    int first = 0;
    if (parts.size() > 1 && manager.isCatalogRegistered((String) parts.get(0))) {
      if (!TruckeeCatalog.SESSION_CATALOG.equalsIgnoreCase((String) parts.get(0))) return null;
      first = 1;
    } else if (!isPath(parts) && !manager.currentCatalog().name().equals(TruckeeCatalog.SESSION_CATALOG)) {
      return null;
    }
    if (session.sessionState().catalog().isTempView(CollectionConverters.asScala(parts).toSeq())) return null;
    CatalogPlugin catalog = manager.v2SessionCatalog();
    if (!(catalog instanceof TruckeeCatalog)) return null;
    String[] namespace = manager.currentNamespace();
    if (parts.size() - first > 1) {
      namespace = new String[parts.size() - first - 1];
      for (int i = 0; i < namespace.length; i++) namespace[i] = (String) parts.get(first + i);
    }
    return Identifier.of(namespace, (String) parts.get(parts.size() - 1));
  }

  /** A path is one of the session catalog, whichever catalog USE has chosen. */
  private static boolean isPath(List parts) {
    if (parts.size() != 2) return false;
    return TruckeeCatalog.isPath(Identifier.of(new String[] {(String) parts.get(0)}, (String) parts.get(1)));
  }

  static Object call(Object object, String method) {
    try {
      Method found = object.getClass().getMethod(method, new Class[0]);
      found.setAccessible(true);
      return found.invoke(object, new Object[0]);
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
  }

  private static List list(Seq items) {
    return new ArrayList(CollectionConverters.asJava((scala.collection.Seq) items));
  }

  private static Seq seq(List items) { return CollectionConverters.asScala(items).toSeq(); }
}
