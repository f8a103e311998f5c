package truckee;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
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
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Turns statements that change rows of a Delta table into commands of ours, before Spark resolves them: what
 * names and stars in them mean is for the commands to say.
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

  private LogicalPlan replaced(LogicalPlan plan, Seq definitions) {
    if (plan instanceof WithCTE) {
      WithCTE with = (WithCTE) plan;
      LogicalPlan inner = replaced(with.plan(), with.cteDefs());
      return inner == with.plan() ? plan : inner;
    }
    String kind = plan.getClass().getSimpleName();
    if (kind.equals("InsertIntoStatement") || kind.equals("AppendData")
        || kind.equals("OverwriteByExpression") || kind.equals("OverwritePartitionsDynamic")) {
      return inserted(kind, plan, definitions);
    }
    if (kind.equals("DeleteFromTable") || kind.equals("UpdateTable")) {
      Map about = target((LogicalPlan) plan.children().head());
      return about == null ? plan : TruckeeCommand.of(kind, about, new Object[] {plan}, AFFECTED);
    }
    if (kind.equals("MergeIntoTable")) {
      Map about = target((LogicalPlan) plan.children().head());
      if (about == null) return plan;
      LogicalPlan source = (LogicalPlan) plan.children().apply(1);
      Dataset rows = Dataset.ofRows(session, with(source, definitions));
      return TruckeeCommand.of(kind, about, new Object[] {plan, rows}, MERGED);
    }
    return plan;
  }

  private LogicalPlan inserted(String kind, LogicalPlan plan, Seq definitions) {
    LogicalPlan table = (LogicalPlan) call(plan, "table");
    Map about = target(table);
    if (about == null) return plan;
    if (about.containsKey("creation")) kind = "create with rows";
    Dataset rows = Dataset.ofRows(session, with((LogicalPlan) call(plan, "query"), definitions));
    return TruckeeCommand.of(kind, about, new Object[] {plan, rows}, "");
  }

  private static LogicalPlan with(LogicalPlan query, Seq definitions) {
    return definitions == null ? query : new WithCTE(query, definitions);
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
      if (!(table instanceof TruckeeTable)) return null;
      Map about = new HashMap();
      about.put("path", ((TruckeeTable) table).path());
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
    CatalogManager manager = session.sessionState().catalogManager();
    int first = 0;
    if (parts.size() > 1 && manager.isCatalogRegistered((String) parts.get(0))) {
      if (!parts.get(0).equals("spark_catalog")) return null;
      first = 1;
    } else if (!manager.currentCatalog().name().equals("spark_catalog")) {
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
    Identifier name = Identifier.of(namespace, (String) parts.get(parts.size() - 1));
    try {
      return ((TruckeeCatalog) catalog).isDelta(name) ? name : null;
    } catch (Exception missing) {
      return null; // for Spark to say
    }
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
}
