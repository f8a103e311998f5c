package truckee;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.internal.VariableSubstitution;

/** Spark's parser, with Delta's own statements tried first. Most others are told by their first word. */
public class TruckeeParser implements InvocationHandler {
  private final SparkSession session;
  private final ParserInterface spark;
  private volatile boolean isCatalogLoaded;

  private TruckeeParser(SparkSession session, ParserInterface spark) {
    this.session = session;
    this.spark = spark;
  }

  static ParserInterface around(SparkSession session, ParserInterface spark) {
    if (is(spark)) return spark;
    return (ParserInterface) Proxy.newProxyInstance(TruckeeParser.class.getClassLoader(),
        new Class[] {ParserInterface.class}, new TruckeeParser(session, spark));
  }

  static boolean is(Object parser) {
    return Proxy.isProxyClass(parser.getClass()) && Proxy.getInvocationHandler(parser) instanceof TruckeeParser;
  }

  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    if (method.getName().startsWith("parsePlan")) {
      if (!isCatalogLoaded) loadCatalog();
      String text = (String) arguments[0];
      Object found = mayBeOurs(text) ? statement(text) : null;
      if (found != null) return found;
      if (mayDescribe(text)) {
        arguments = (Object[]) arguments.clone();
        arguments[0] = TruckeeAnswers.ask("inlined", about(text), new Object[] {session});
      }
    }
    try {
      return method.invoke(spark, arguments);
    } catch (InvocationTargetException error) {
      throw error.getCause();
    }
  }

  /**
   * Loads the catalog of the session before the first statement needs it. Spark would look for its class by
   * the loader of the thread, which in a Thrift server is that of Hive and knows no added JAR.
   */
  private void loadCatalog() {
    if (!session.conf().get("spark.sql.catalog.spark_catalog", "").equals(TruckeeCatalog.class.getName())) return;
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(TruckeeParser.class.getClassLoader());
    try {
      isCatalogLoaded = session.sessionState().catalogManager().v2SessionCatalog() instanceof TruckeeCatalog;
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static Map about(String text) {
    Map about = new HashMap();
    about.put("text", text.contains("${") ? new VariableSubstitution().substitute(text) : text);
    return about;
  }

  /** Whether a statement may have one that describes a table in brackets: FROM (DESCRIBE HISTORY t). */
  private static boolean mayDescribe(String text) {
    return has(text, "(") && has(text, "DESC") && (has(text, "DETAIL") || has(text, "HISTORY"));
  }

  private Object statement(String text) {
    Map about = about(text);
    Object columns = TruckeeAnswers.ask("parse", new HashMap(about), new Object[] {session});
    return columns == null ? null : TruckeeCommand.of("statement", about, new Object[0], (String) columns);
  }

  /** Whether a text may be one of Delta's own statements, judged by its words. */
  static boolean mayBeOurs(String text) {
    int start = afterSpace(text);
    int end = start;
    while (end < text.length() && Character.isLetter(text.charAt(end))) end++;
    String first = text.substring(start, end).toUpperCase(Locale.ROOT);
    if (first.equals("VACUUM") || first.equals("OPTIMIZE") || first.equals("REORG") || first.equals("RESTORE")
        || first.equals("CONVERT") || first.equals("GENERATE")) {
      return true;
    }
    if (first.equals("DESC") || first.equals("DESCRIBE")) return has(text, "DETAIL") || has(text, "HISTORY");
    if (first.equals("CREATE") || first.equals("REPLACE")) return has(text, "CLONE");
    return first.equals("ALTER")
        && (has(text, "CONSTRAINT") || has(text, "FEATURE") || has(text, "CLUSTER") || has(text, "IDENTITY"));
  }

  private static boolean has(String text, String word) {
    for (int i = 0; i + word.length() <= text.length(); i++) {
      if (text.regionMatches(true, i, word, 0, word.length())) return true;
    }
    return false;
  }

  private static int afterSpace(String text) {
    int at = 0;
    while (at < text.length()) {
      if (Character.isWhitespace(text.charAt(at))) {
        at++;
      } else if (text.startsWith("--", at)) {
        int line = text.indexOf('\n', at);
        at = line < 0 ? text.length() : line;
      } else if (text.startsWith("/*", at) && !text.startsWith("/*+", at)) {
        int close = text.indexOf("*/", at);
        at = close < 0 ? text.length() : close + 2;
      } else {
        break;
      }
    }
    return at;
  }
}
