package truckee;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.ExperimentalMethods;
import org.apache.spark.sql.catalyst.expressions.Abs;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.ArrayRepeat;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.EvalMode;
import org.apache.spark.sql.catalyst.expressions.Explode;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.First;
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum;
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Repartition;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CoalesceExec;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/**
 * Describes the comparison of rows, and plans that of few rows. The description is an aggregation, which
 * Spark could run too, in three times the time: a sum for each row, minus one for a deleted and one for
 * an inserted copy, and a generator that repeats the rows whose sum is not 0.
 */
public class TruckeePlanner extends SparkStrategy {
  private static final String SUM = "__truckee_sum";
  private static final String TYPE = "_change_type";
  private static final Seq NONE = (Seq) Nil$.MODULE$;

  public Seq apply(LogicalPlan plan) {
    if (!(plan instanceof Generate)) return NONE;
    Generate copies = (Generate) plan;
    LogicalPlan below = copies.child();
    while (below instanceof Filter || below instanceof Project) {
      if (below instanceof Filter && !onlySum(((Filter) below).condition())) return NONE;
      if (below instanceof Project && !areAttributes(((Project) below).projectList())) return NONE;
      below = (LogicalPlan) below.children().head();
    }
    if (!(below instanceof Aggregate) || !onlySum((Expression) copies.generator())) return NONE;
    Aggregate summed = (Aggregate) below;
    Expression sign = sign(summed);
    if (sign == null || !isOneTask(summed.child())) return NONE;
    LogicalPlan rows = (LogicalPlan) summed.child().children().head();
    Attribute type = (Attribute) copies.generatorOutput().head();
    Seq output = (Seq) summed.groupingExpressions().appended(type);
    SparkPlan left = new TruckeeUncancelled(
        output, new CoalesceExec(1, new ProjectExec(columns(summed, sign, type), planLater(rows))));
    boolean isSame = output.equals(copies.output());
    return TruckeeFiles.seq(new Object[] {isSame ? left : new ProjectExec(copies.output(), left)});
  }

  private static boolean isOneTask(LogicalPlan plan) {
    return plan instanceof Repartition && ((Repartition) plan).numPartitions() == 1
        && !((Repartition) plan).shuffle();
  }

  private static boolean onlySum(Expression expression) {
    Seq read = expression.references().toSeq();
    return read.size() == 1 && SUM.equals(((NamedExpression) read.head()).name());
  }

  private static boolean areAttributes(Seq items) {
    for (int i = 0; i < items.size(); i++) {
      if (!(items.apply(i) instanceof Attribute)) return false;
    }
    return true;
  }

  /** What is summed for each row, null if this is a different aggregation. */
  private static Expression sign(Aggregate summed) {
    if (!areAttributes(summed.groupingExpressions())) return null;
    Expression sign = null;
    for (int i = 0; i < summed.aggregateExpressions().size(); i++) {
      Object item = summed.aggregateExpressions().apply(i);
      if (item instanceof Attribute) continue;
      if (!(item instanceof Alias) || !SUM.equals(((Alias) item).name())) return null;
      Expression total = ((Alias) item).child();
      if (!(total instanceof AggregateExpression)) return null;
      Expression function = (Expression) ((AggregateExpression) total).aggregateFunction();
      if (!(function instanceof Sum)) return null;
      sign = ((Sum) function).child();
    }
    return sign == null || !DataTypes.IntegerType.equals(sign.dataType()) ? null : sign;
  }

  /** The columns that are compared, then the type of a row. */
  private static Seq columns(Aggregate summed, Expression sign, Attribute type) {
    List columns = new ArrayList();
    for (int i = 0; i < summed.groupingExpressions().size(); i++) {
      Attribute column = (Attribute) summed.groupingExpressions().apply(i);
      Expression same = NormalizeFloatingNumbers$.MODULE$.normalize(column);
      columns.add(same == column ? column : named(same, column));
    }
    columns.add(named(type(sign), type));
    return TruckeeFiles.seq(columns.toArray());
  }

  /** The type of a row; a name of the feed if possible, since Spark takes its time to compare texts. */
  private static Expression type(Expression sign) {
    Expression name = (Expression) sign.references().toSeq().head();
    if (sign.semanticEquals(new If(isAfter(name), number(1), number(-1)))) return name;
    return new If(new GreaterThan(sign, number(0)), text("insert"), text("delete"));
  }

  private static Expression isAfter(Expression type) {
    return new In(type, TruckeeFiles.seq(new Object[] {text("insert"), text("update_postimage")}));
  }

  private static Expression number(int value) {
    return new Literal(Integer.valueOf(value), DataTypes.IntegerType);
  }

  private static Expression text(String value) {
    return new Literal(UTF8String.fromString(value), DataTypes.StringType);
  }

  private static Alias named(Expression value, Attribute as) {
    return new Alias(value, as.name(), as.exprId(), NONE, Option.apply(null), NONE);
  }

  private static Alias named(Expression value, String name) {
    ExprId id = NamedExpression$.MODULE$.newExprId();
    return new Alias(value, name, id, NONE, Option.apply(null), NONE);
  }

  public static class Maker {
    /**
     * The rows that are left after equal ones have cancelled, in a session that plans with this class. The
     * other arguments are names of columns, lists in JSON: those that are compared, those that are taken
     * from any of equal rows, and those of the result, with the type. The plan is made of expressions that
     * Spark need not resolve any more, which takes longer than all the rest.
     */
    public Dataset uncancelled(Dataset rows, String compared, String taken, String shown) throws IOException {
      SparkSession session = rows.sparkSession();
      install(session);
      LogicalPlan plan = rows.queryExecution().analyzed();
      Map known = byName(plan.output());
      Expression sign = new If(isAfter((Expression) known.get(TYPE)), number(1), number(-1));
      Alias sum = named(new Sum(sign).toAggregateExpression(), SUM);
      List keys = columns(compared, known);
      List values = new ArrayList(keys);
      values.add(sum);
      Iterator others = columns(taken, known).iterator();
      while (others.hasNext()) {
        Attribute other = (Attribute) others.next();
        values.add(named(new First(other, false).toAggregateExpression(), other.name()));
      }
      plan = new Aggregate(seq(keys), seq(values), plan, Option.empty());
      Attribute left = sum.toAttribute();
      Expression none = new Literal(Long.valueOf(0), DataTypes.LongType);
      plan = new Filter(new Not(new EqualTo(left, none)), plan);
      Expression count = new Cast(new Abs(left), DataTypes.IntegerType, Option.empty(), EvalMode.ANSI());
      Expression type = new If(new GreaterThan(left, none), text("insert"), text("delete"));
      Seq types = TruckeeFiles.seq(new Object[] {named(type, TYPE).toAttribute()});
      plan = new Generate(
          new Explode(new ArrayRepeat(type, count)), NONE, false, Option.empty(), types, plan);
      return Dataset.ofRows(session, new Project(seq(columns(shown, byName(plan.output()))), plan));
    }

    private static Map byName(Seq columns) {
      Map found = new HashMap();
      for (int i = 0; i < columns.size(); i++) {
        found.put(((Attribute) columns.apply(i)).name(), columns.apply(i));
      }
      return found;
    }

    private static List columns(String names, Map known) throws IOException {
      String[] list = (String[]) new ObjectMapper().readValue(names, String[].class);
      List found = new ArrayList();
      for (int i = 0; i < list.length; i++) found.add(known.get(list[i]));
      return found;
    }

    private static Seq seq(List items) { return TruckeeFiles.seq(items.toArray()); }

    private static synchronized void install(SparkSession session) {
      ExperimentalMethods methods = session.experimental();
      Seq known = methods.extraStrategies();
      for (int i = 0; i < known.size(); i++) {
        if (known.apply(i) instanceof TruckeePlanner) return;
      }
      methods.extraStrategies_$eq((Seq) known.appended(new TruckeePlanner()));
    }
  }
}
