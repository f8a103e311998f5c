package truckee;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.ExpressionWithUnresolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry$;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.functions;
import scala.collection.immutable.Seq;

/** Inspects SQL from a table's metadata before any of it is run. */
public class TruckeeFunctions {

  public static class Maker {
    /**
     * The functions that an expression calls, a list in JSON: Spark's own in lower case, all others
     * with a `?` in front. The text is only parsed, so nothing that it names is looked up.
     */
    public String called(SparkSession session, String sql) throws Exception {
      ArrayList names = new ArrayList();
      collect((Expression) session.sessionState().sqlParser().parseExpression(sql), names);
      return new ObjectMapper().writeValueAsString(names);
    }

    private static void collect(Expression node, ArrayList names) {
      if (node instanceof UnresolvedFunction) names.add(name(((UnresolvedFunction) node).nameParts()));
      if (node instanceof ExpressionWithUnresolvedIdentifier) names.add("?IDENTIFIER");
      if (node instanceof PlanExpression) names.add("?SELECT");
      Seq children = node.children();
      for (int i = 0; i < children.size(); i++) collect((Expression) children.apply(i), names);
    }

    private static String name(Seq parts) {
      String last = ((String) parts.last()).toLowerCase(java.util.Locale.ROOT);
      String before = parts.size() == 1 ? "" : ((String) parts.apply(parts.size() - 2));
      boolean isPlain = parts.size() == 1 || "builtin".equalsIgnoreCase(before);
      boolean isOwn = FunctionRegistry$.MODULE$.builtin().functionExists(new FunctionIdentifier(last));
      return isPlain && isOwn ? last : "?" + parts.mkString(".");
    }

    /** Whether an expression has the same value for every row of a query. */
    public boolean isConstant(SparkSession session, String sql) {
      Dataset one = (Dataset) session.range(1L).toDF();
      Dataset rows = (Dataset) one.select(new Column[] {functions.expr(sql).as("value")});
      LogicalPlan plan = rows.queryExecution().optimizedPlan();
      if (!(plan instanceof Project) || ((Project) plan).projectList().size() != 1) return false;
      Expression value = (Expression) ((Project) plan).projectList().head();
      return value instanceof Alias && ((Alias) value).child() instanceof Literal;
    }
  }
}
