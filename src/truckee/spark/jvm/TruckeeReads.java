package truckee;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Option;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Replaces a Delta table by the plan that reads it, while a query is resolved. The columns keep their
 * ids, by which the query may already refer to them.
 */
public class TruckeeReads extends Rule {
  private final SparkSession session;

  public TruckeeReads(SparkSession session) { this.session = session; }

  public TreeNode apply(TreeNode plan) { return replaced((LogicalPlan) plan); }

  private LogicalPlan replaced(LogicalPlan plan) {
    if (plan.analyzed()) return plan;
    if (plan instanceof DataSourceV2Relation) return rows((DataSourceV2Relation) plan);
    if (plan instanceof LogicalRelation) return rows((LogicalRelation) plan);
    // Commands that change rows need the table itself.
    boolean keepsFirst = plan instanceof MergeIntoTable;
    if (plan instanceof DeleteFromTable || plan instanceof UpdateTable || keepsFirst) checkTarget(plan);
    if (plan instanceof DeleteFromTable || plan instanceof UpdateTable) return plan;
    LogicalPlan shown = shown(plan);
    if (shown != plan) return shown;
    List children = new ArrayList();
    boolean same = true;
    for (Iterator each = list(plan.children()); each.hasNext(); ) {
      LogicalPlan child = (LogicalPlan) each.next();
      LogicalPlan other = keepsFirst ? child : replaced(child);
      keepsFirst = false;
      same = same && other == child;
      children.add(other);
    }
    return same ? plan : (LogicalPlan) plan.withNewChildren(seq(children));
  }

  private LogicalPlan rows(DataSourceV2Relation relation) {
    if (!(relation.table() instanceof TruckeeTable)) return relation;
    TruckeeTable table = (TruckeeTable) relation.table();
    Map options = new HashMap(relation.options().asCaseSensitiveMap());
    LogicalPlan rows = (LogicalPlan) table.rows().apply(TruckeeAnswers.json(options), session);
    return named(entered(rows, table.entry()), relation);
  }

  /** The plan with its relations marked as a table of the catalog, so that Spark can refresh it. */
  private static LogicalPlan entered(LogicalPlan plan, CatalogTable entry) {
    if (entry == null) return plan;
    if (plan instanceof LogicalRelation) {
      LogicalRelation of = (LogicalRelation) plan;
      return new LogicalRelation(of.relation(), of.output(), Option.apply(entry), of.isStreaming(), of.stream());
    }
    List children = new ArrayList();
    for (Iterator each = list(plan.children()); each.hasNext(); ) {
      children.add(entered((LogicalPlan) each.next(), entry));
    }
    return (LogicalPlan) plan.withNewChildren(seq(children));
  }

  /** Refuses to change rows of a Delta table through a view. */
  private void checkTarget(LogicalPlan plan) {
    LogicalPlan target = (LogicalPlan) plan.children().head();
    for (Iterator each = list(target.collectLeaves()); each.hasNext(); ) {
      Object leaf = each.next();
      if (!(leaf instanceof LogicalRelation)) continue;
      Object relation = ((LogicalRelation) leaf).relation();
      if (!(relation instanceof HadoopFsRelation)) continue;
      if (((HadoopFsRelation) relation).location().getClass().getName().startsWith("truckee.")) {
        Map about = new HashMap();
        about.put("operation", "changing rows of a view");
        TruckeeAnswers.ask("refuse", about, new Object[] {session});
      }
    }
  }

  private LogicalPlan rows(LogicalRelation relation) {
    if (!(relation.relation() instanceof TruckeeRelation)) return relation;
    BiFunction rows = ((TruckeeRelation) relation.relation()).rows();
    return named((LogicalPlan) rows.apply("{}", session), relation);
  }

  /** Statements that show a table as Delta does, or that are refused. */
  private LogicalPlan shown(LogicalPlan plan) {
    String kind = plan.getClass().getSimpleName();
    if (!kind.equals("ShowCreateTable") && !kind.equals("ShowPartitions") && !kind.equals("TruncatePartition")) {
      return plan;
    }
    LogicalPlan child = (LogicalPlan) plan.children().head();
    if (!(child instanceof ResolvedTable) || !(((ResolvedTable) child).table() instanceof TruckeeTable)) {
      return plan;
    }
    TruckeeTable table = (TruckeeTable) ((ResolvedTable) child).table();
    Map about = TruckeeCatalog.about(((ResolvedTable) child).identifier());
    about.put("path", table.path());
    about.put("statement", kind);
    String columns = (String) TruckeeAnswers.ask("show", new HashMap(about), new Object[] {session, plan});
    return TruckeeCommand.of("shown", about, new Object[] {plan}, columns);
  }

  private static LogicalPlan named(LogicalPlan rows, LogicalPlan relation) {
    List named = new ArrayList();
    Map known = new HashMap();
    for (Iterator each = list(relation.output()); each.hasNext(); ) {
      Attribute column = (Attribute) each.next();
      known.put(column.name(), column);
    }
    for (Iterator each = list(rows.output()); each.hasNext(); ) {
      Attribute column = (Attribute) each.next();
      Attribute other = (Attribute) known.get(column.name());
      named.add(other == null ? column : new Alias(column, other.name(), other.exprId(), other.qualifier(),
          Option.apply(null), (Seq) Nil$.MODULE$));
    }
    return new Project(seq(named), rows);
  }

  private static Iterator list(Seq items) {
    return CollectionConverters.asJava((scala.collection.Seq) items).iterator();
  }

  private static Seq seq(List items) { return CollectionConverters.asScala(items).toSeq(); }
}
