package truckee;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.BiFunction;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.apache.spark.sql.execution.datasources.v2.python.PythonTable;
import scala.Option;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Puts the rows of a table in the place of its name. Spark's catalog knows of a table which source
 * reads it, and tells that source nothing of where the table lies. This rule does: Python gives
 * the plan that reads the table, whose columns take the place of those that the query speaks of.
 */
public class TruckeeNames extends Rule {
  private final SparkSession session;
  private final String provider;
  private final BiFunction plans;

  public TruckeeNames(SparkSession session, String provider, BiFunction plans) {
    this.session = session;
    this.provider = provider;
    this.plans = plans;
  }

  public TreeNode apply(TreeNode plan) {
    return replaced((LogicalPlan) plan);
  }

  private LogicalPlan replaced(LogicalPlan plan) {
    // What changes rows is about the table itself, and refused by Spark in words of its own.
    if (plan instanceof DeleteFromTable || plan instanceof UpdateTable
        || plan instanceof MergeIntoTable) {
      return plan;
    }
    DataSourceV2ScanRelation scan = scanBelow(plan);
    if (scan != null) {
      // What stands above the scan was pushed into it as far as the source lets itself be pushed.
      // The plan in its place can take all of it.
      LogicalPlan swapped = swapped(plan, scan, rowsOf(scan));
      LogicalPlan best = (LogicalPlan) session.sessionState().optimizer().execute(swapped);
      return named(best, list(best.output()), list(plan.output()));
    }
    List children = new ArrayList();
    boolean same = true;
    for (Iterator each = list(plan.children()); each.hasNext(); ) {
      LogicalPlan child = (LogicalPlan) each.next();
      LogicalPlan other = replaced(child);
      same = same && other == child;
      children.add(other);
    }
    return same ? plan : (LogicalPlan) plan.withNewChildren(seq(children));
  }

  private DataSourceV2ScanRelation scanBelow(LogicalPlan plan) {
    if (plan instanceof Project) {
      return scanBelow(((Project) plan).child());
    }
    if (plan instanceof Filter) {
      return scanBelow(((Filter) plan).child());
    }
    if (!(plan instanceof DataSourceV2ScanRelation)) {
      return null;
    }
    DataSourceV2ScanRelation scan = (DataSourceV2ScanRelation) plan;
    DataSourceV2Relation relation = scan.relation();
    boolean ours = relation.table() instanceof PythonTable
        && provider.equalsIgnoreCase(relation.table().name())
        && relation.identifier().isDefined();
    return ours ? scan : null;
  }

  private LogicalPlan swapped(LogicalPlan plan, LogicalPlan scan, LogicalPlan rows) {
    if (plan == scan) {
      return rows;
    }
    List children = new ArrayList();
    for (Iterator each = list(plan.children()); each.hasNext(); ) {
      children.add(swapped((LogicalPlan) each.next(), scan, rows));
    }
    return (LogicalPlan) plan.withNewChildren(seq(children));
  }

  private LogicalPlan rowsOf(DataSourceV2ScanRelation scan) {
    Identifier name = (Identifier) scan.relation().identifier().get();
    LogicalPlan rows = (LogicalPlan) plans.apply(quoted(name), scan.relation().schema().json());
    List columns = new ArrayList();
    for (Iterator each = list(scan.output()); each.hasNext(); ) {
      columns.add(column(rows, ((Attribute) each.next()).name()));
    }
    return named(rows, columns.iterator(), list(scan.output()));
  }

  /** Returns columns of a plan under the names and ids by which others know them. */
  private static LogicalPlan named(LogicalPlan rows, Iterator columns, Iterator wanted) {
    List named = new ArrayList();
    while (wanted.hasNext()) {
      Attribute other = (Attribute) wanted.next();
      named.add(new Alias((Attribute) columns.next(), other.name(), other.exprId(),
          other.qualifier(), Option.apply(null), (Seq) Nil$.MODULE$));
    }
    return new Project(seq(named), rows);
  }

  private static Attribute column(LogicalPlan rows, String name) {
    for (Iterator each = list(rows.output()); each.hasNext(); ) {
      Attribute found = (Attribute) each.next();
      if (found.name().equalsIgnoreCase(name)) {
        return found;
      }
    }
    throw new IllegalStateException("no column " + name);
  }

  private static String quoted(Identifier name) {
    StringBuilder text = new StringBuilder();
    String[] namespace = name.namespace();
    for (int i = 0; i < namespace.length; i++) {
      text.append('`').append(namespace[i].replace("`", "``")).append("`.");
    }
    return text.append('`').append(name.name().replace("`", "``")).append('`').toString();
  }

  private static Iterator list(Seq items) {
    return CollectionConverters.asJava((scala.collection.Seq) items).iterator();
  }

  private static Seq seq(List items) {
    return CollectionConverters.asScala(items).toSeq();
  }

  /** Makes rules; Py4J can call an object whose class it cannot name. */
  public static class Maker {
    public TruckeeNames make(SparkSession session, String provider, BiFunction plans) {
      return new TruckeeNames(session, provider, plans);
    }
  }
}
