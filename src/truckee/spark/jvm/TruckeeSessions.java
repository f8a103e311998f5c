package truckee;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.Analyzer;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.internal.SessionState;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Tuple3;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractFunction2;

/**
 * Adds Delta's SQL to a session: the parser, the rules and the table functions. Sessions that are derived
 * from it later get them through Spark's extensions; in a running session they are installed directly.
 */
public class TruckeeSessions {
  private static final String DESCRIBED = "truckee_described";
  private static final String[] FUNCTIONS = {"table_changes", "table_changes_by_path", DESCRIBED};

  /** A setting of our copies of a session, and of Spark's own copies of them: the id of the session. */
  private static final String COPY_OF = "truckee.session.copyOf";
  private static final Map COPIED = Collections.synchronizedMap(new WeakHashMap());

  private TruckeeSessions() { }

  /** A copy of a session, which `users` recognises. */
  static SparkSession copyOf(SparkSession session) {
    SparkSession copy = session.cloneSession();
    if (!copy.conf().contains(COPY_OF)) {
      COPIED.put(session, session.sessionUUID());
      copy.conf().set(COPY_OF, session.sessionUUID());
    }
    return copy;
  }

  /** The session of the user: for a copy of ours, the session that it is a copy of. */
  static SparkSession users(SparkSession session) {
    if (!session.conf().contains(COPY_OF)) return session;
    String id = session.conf().get(COPY_OF);
    synchronized (COPIED) {
      for (Iterator each = COPIED.entrySet().iterator(); each.hasNext(); ) {
        Map.Entry entry = (Map.Entry) each.next();
        if (entry.getValue().equals(id)) return (SparkSession) entry.getKey();
      }
    }
    throw new IllegalStateException("the session of a copy is gone");
  }

  /** Makes the parts of a session. */
  public static class Part extends AbstractFunction1 {
    private final String kind;

    Part(String kind) { this.kind = kind; }

    public Object apply(Object session) {
      SparkSession of = (SparkSession) session;
      return kind.equals("rows") ? (Rule) new TruckeeReads(of) : (Rule) new TruckeeWrites(of);
    }
  }

  public static class Parsers extends AbstractFunction2 {
    public Object apply(Object session, Object parser) {
      return TruckeeParser.around((SparkSession) session, (ParserInterface) parser);
    }
  }

  /** A table function: its arguments are constants, and Python gives the plan. */
  public static class Changes extends AbstractFunction1 {
    private final String name;

    Changes(String name) { this.name = name; }

    public Object apply(Object given) {
      List arguments = new ArrayList();
      for (Iterator each = CollectionConverters.asJava((scala.collection.Seq) given).iterator(); each.hasNext(); ) {
        Expression argument = (Expression) each.next();
        Map about = new HashMap();
        about.put("sql", argument.sql());
        about.put("type", argument.dataType().typeName());
        about.put("constant", Boolean.valueOf(argument.foldable()));
        if (argument.foldable()) {
          Object value = argument.eval(null);
          about.put("value", value == null ? null : value.toString());
        }
        arguments.add(about);
      }
      Map about = new HashMap();
      about.put("function", name);
      about.put("arguments", arguments);
      String kind = name.equals(DESCRIBED) ? "described" : "changes";
      return TruckeeAnswers.ask(kind, about, new Object[] {org.apache.spark.sql.SparkSession.active()});
    }
  }

  /** What Python calls: an object, since Py4J finds no static method of a class compiled here. */
  public static class Maker {
    private final Map extended = new WeakHashMap();

    public SparkSession users(SparkSession session) { return TruckeeSessions.users(session); }

    public boolean isClosed(SparkSession session) {
      return !TruckeeParser.is(session.sessionState().sqlParser());
    }

    public synchronized void open(SparkSession session) throws Exception {
      SessionState state = session.sessionState();
      if (!isClosed(session)) return;
      if (extended.put(session.extensions(), Boolean.TRUE) == null) extend(session);
      Analyzer analyzer = state.analyzer();
      add(analyzer, "extendedResolutionRules", new TruckeeReads(session));
      add(analyzer, "hintResolutionRules", new TruckeeWrites(session));
      for (int i = 0; i < FUNCTIONS.length; i++) {
        state.tableFunctionRegistry().createOrReplaceTempFunction(FUNCTIONS[i], new Changes(FUNCTIONS[i]), "built-in");
      }
      set(state, "sqlParser", TruckeeParser.around(session, state.sqlParser()));
    }

    /** Enters a table into the session catalog: only its name and location, the log has the rest. */
    public void enter(SparkSession session, String[] parts, String location, boolean isManaged, String comment)
        throws Exception {
      Map storage = new HashMap();
      storage.put(Integer.valueOf(1), Option.apply(URI.create(location)));
      Map table = new HashMap();
      table.put(Integer.valueOf(1), session.sessionState().catalog().qualifyIdentifier(identifier(parts)));
      table.put(Integer.valueOf(2), isManaged ? CatalogTableType.MANAGED() : CatalogTableType.EXTERNAL());
      table.put(Integer.valueOf(3), made("CatalogStorageFormat", storage, CatalogStorageFormat.empty()));
      table.put(Integer.valueOf(4), new StructType());
      table.put(Integer.valueOf(5), Option.apply("delta"));
      CatalogTable entry = (CatalogTable) made("CatalogTable", table, null);
      if (comment != null) entry = commented(entry, comment);
      session.sessionState().catalog().createTable(entry, false, false);
    }

    /** Changes where a table of the session catalog lies. */
    public void move(SparkSession session, String[] parts, String location) throws Exception {
      SessionCatalog catalog = session.sessionState().catalog();
      CatalogTable before = catalog.getTableMetadata(catalog.qualifyIdentifier(identifier(parts)));
      Map storage = new HashMap();
      storage.put(Integer.valueOf(1), Option.apply(URI.create(location)));
      Map table = new HashMap();
      table.put(Integer.valueOf(3), made("CatalogStorageFormat", storage, before.storage()));
      catalog.alterTable((CatalogTable) made("CatalogTable", table, before));
    }

    /** Lets a table of the session catalog keep its files when its name is dropped. */
    public void release(SparkSession session, String[] parts) throws Exception {
      SessionCatalog catalog = session.sessionState().catalog();
      CatalogTable before = catalog.getTableMetadata(catalog.qualifyIdentifier(identifier(parts)));
      Map table = new HashMap();
      table.put(Integer.valueOf(2), CatalogTableType.EXTERNAL());
      catalog.alterTable((CatalogTable) made("CatalogTable", table, before));
    }

    private static TableIdentifier identifier(String[] parts) {
      if (parts.length == 1) return new TableIdentifier(parts[0]);
      return new TableIdentifier(parts[1], Option.apply(parts[0]));
    }

    /** Calls `copy` or the constructor of a case class, with default values for other parameters. */
    private static Object made(String name, Map given, Object before) throws Exception {
      String whole = "org.apache.spark.sql.catalyst.catalog." + name;
      ClassLoader loader = TruckeeSessions.class.getClassLoader();
      Object companion = loader.loadClass(whole + "$").getField("MODULE$").get(null);
      Constructor maker = loader.loadClass(whole).getConstructors()[0];
      Object[] values = new Object[maker.getParameterTypes().length];
      for (int i = 0; i < values.length; i++) {
        Integer number = Integer.valueOf(i + 1);
        if (given.containsKey(number)) {
          values[i] = given.get(number);
        } else if (before == null) {
          values[i] = TruckeeWrites.call(companion, "apply$default$" + number);
        } else {
          values[i] = TruckeeWrites.call(before, "copy$default$" + number);
        }
      }
      return maker.newInstance(values);
    }

    private static CatalogTable commented(CatalogTable entry, String comment) throws Exception {
      int place = 0;
      scala.collection.Iterator names = entry.productElementNames();
      for (int i = 1; names.hasNext(); i++) if (names.next().equals("comment")) place = i;
      Map given = new HashMap();
      given.put(Integer.valueOf(place), Option.apply(comment));
      return (CatalogTable) made("CatalogTable", given, entry);
    }

    private void extend(SparkSession session) {
      session.extensions().injectResolutionRule(new Part("rows"));
      session.extensions().injectHintResolutionRule(new Part("writes"));
      session.extensions().injectParser(new Parsers());
      for (int i = 0; i < FUNCTIONS.length; i++) {
        session.extensions().injectTableFunction(new Tuple3(new FunctionIdentifier(FUNCTIONS[i]),
            new ExpressionInfo("truckee", FUNCTIONS[i]), new Changes(FUNCTIONS[i])));
      }
    }

    private static void add(Object analyzer, String name, Rule rule) throws Exception {
      Seq known = (Seq) field(analyzer, name).get(analyzer);
      List rules = new ArrayList();
      rules.add(rule);
      rules.addAll(CollectionConverters.asJava((scala.collection.Seq) known));
      field(analyzer, name).set(analyzer, CollectionConverters.asScala(rules).toSeq());
    }

    private static void set(Object object, String name, Object value) throws Exception {
      field(object, name).set(object, value);
    }

    private static Field field(Object object, String name) throws Exception {
      for (Class each = object.getClass(); each != null; each = each.getSuperclass()) {
        Field[] fields = each.getDeclaredFields();
        for (int i = 0; i < fields.length; i++) {
          if (fields[i].getName().equals(name)) {
            fields[i].setAccessible(true);
            return fields[i];
          }
        }
      }
      throw new NoSuchFieldException(name);
    }
  }
}
