package truckee;

import java.util.Collections;
import java.util.Map;
import org.apache.spark.SparkException;
import org.apache.spark.SparkThrowable;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.trees.CurrentOrigin;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.unsafe.Platform;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Errors of Python as exceptions of the JVM. In general they are only a mark, by which Python finds the
 * error again. A client of a Spark Connect server has no such Python: where there is one, an exception has
 * the class, the condition and the text that clients are told, and the mark is what `toString` returns.
 */
public class TruckeeErrors {
  private static final String MARK = "truckee-error-";

  private TruckeeErrors() { }

  /** Throws the error, if the answer of Python is one. */
  static void check(Object answer) {
    if (!(answer instanceof String) || !((String) answer).startsWith(MARK)) return;
    String[] parts = ((String) answer).split("\0", -1);
    if (parts.length == 1) throw new IllegalStateException(parts[0]);
    Throwable error = exception(parts[1], new Told(parts));
    // A client shows the stack below the text. For an error that has a condition, it does not help.
    if (!parts[2].isEmpty()) error.setStackTrace(new StackTraceElement[0]);
    Platform.throwException(error);
  }

  /** The refusal of a JVM that has our classes on its class path and no Python, as that of spark-sql. */
  static RuntimeException noPython() {
    String text = "[TRUCKEE_NO_PYTHON] Delta tables need a session that truckee's Python has enabled, and no Python "
        + "has started this JVM\nhint: start a Thrift server in a Python session, and connect to it with beeline";
    return new Unsupported(new Told(new String[] {text, "", "TRUCKEE_NO_PYTHON", "0A000", text}));
  }

  private static Throwable exception(String kind, Told told) {
    if (kind.equals("AnalysisException")) return new Analysis(told);
    if (kind.equals("ParseException")) return new Parse(told);
    if (kind.equals("IllegalArgumentException")) return new Illegal(told);
    if (kind.equals("UnsupportedOperationException")) return new Unsupported(told);
    if (kind.equals("ArithmeticException")) return new Arithmetic(told);
    return new Other(told);
  }

  /** What a client is told of an error. */
  private static class Told {
    final String mark;
    final String condition;
    final String state;
    final String text;

    Told(String[] parts) {
      mark = parts[0];
      condition = parts[2].isEmpty() ? null : parts[2];
      state = parts[3].isEmpty() ? null : parts[3];
      text = parts[4];
    }

    /** Parameters of a condition of Spark's own, since the condition of ours is unknown to Spark. */
    scala.collection.immutable.Map parameters() {
      Map given = Collections.singletonMap("message", text);
      return scala.collection.immutable.Map$.MODULE$.from(CollectionConverters.asScala(given));
    }
  }

  public static class Analysis extends AnalysisException {
    private final Told told;

    Analysis(Told told) {
      super("INTERNAL_ERROR", told.parameters(), Option.empty());
      this.told = told;
    }

    public AnalysisException withPosition(Origin origin) { return this; }

    public String getMessage() { return told.text; }

    public String toString() { return told.mark; }

    public String getCondition() { return told.condition; }

    public String getErrorClass() { return told.condition; }

    public String getSqlState() { return told.state; }

    public Map getMessageParameters() { return Collections.emptyMap(); }
  }

  public static class Parse extends ParseException {
    private final Told told;

    Parse(Told told) {
      super(Option.empty(), CurrentOrigin.get(), "INTERNAL_ERROR", told.parameters());
      this.told = told;
    }

    public AnalysisException withPosition(Origin origin) { return this; }

    public ParseException withCommand(String command) { return this; }

    public String getMessage() { return told.text; }

    public String toString() { return told.mark; }

    public String getCondition() { return told.condition; }

    public String getErrorClass() { return told.condition; }

    public String getSqlState() { return told.state; }

    public Map getMessageParameters() { return Collections.emptyMap(); }
  }

  public static class Illegal extends IllegalArgumentException implements SparkThrowable {
    private final Told told;

    Illegal(Told told) {
      super(told.text);
      this.told = told;
    }

    public String getMessage() { return told.text; }

    public String toString() { return told.mark; }

    public String getCondition() { return told.condition; }

    public String getErrorClass() { return told.condition; }

    public String getSqlState() { return told.state; }

    public Map getMessageParameters() { return Collections.emptyMap(); }
  }

  public static class Unsupported extends UnsupportedOperationException implements SparkThrowable {
    private final Told told;

    Unsupported(Told told) {
      super(told.text);
      this.told = told;
    }

    public String getMessage() { return told.text; }

    public String toString() { return told.mark; }

    public String getCondition() { return told.condition; }

    public String getErrorClass() { return told.condition; }

    public String getSqlState() { return told.state; }

    public Map getMessageParameters() { return Collections.emptyMap(); }
  }

  public static class Arithmetic extends ArithmeticException implements SparkThrowable {
    private final Told told;

    Arithmetic(Told told) {
      super(told.text);
      this.told = told;
    }

    public String getMessage() { return told.text; }

    public String toString() { return told.mark; }

    public String getCondition() { return told.condition; }

    public String getErrorClass() { return told.condition; }

    public String getSqlState() { return told.state; }

    public Map getMessageParameters() { return Collections.emptyMap(); }
  }

  public static class Other extends SparkException {
    private final Told told;

    Other(Told told) {
      super(told.text);
      this.told = told;
    }

    public String getMessage() { return told.text; }

    public String toString() { return told.mark; }

    public String getCondition() { return told.condition; }

    public String getErrorClass() { return told.condition; }

    public String getSqlState() { return told.state; }

    public Map getMessageParameters() { return Collections.emptyMap(); }
  }
}
