package truckee;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * Questions of Spark about Delta tables, which Python answers. A question is a JSON text with its kind,
 * and some objects of the JVM. Classes that Spark instantiates by name reach Python through this one.
 */
public class TruckeeAnswers {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static volatile BiFunction python;

  private TruckeeAnswers() { }

  public static Object ask(String kind, Map about, Object[] objects) {
    BiFunction answers = python;
    if (answers == null) throw TruckeeErrors.noPython();
    about.put("kind", kind);
    return answers.apply(json(about), objects);
  }

  public static String json(Object value) {
    try {
      return JSON.writeValueAsString(value);
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
  }

  /** What Python calls: an object, since Py4J finds no static method of a class compiled here. */
  public static class Maker {
    public void open(BiFunction answers) { python = answers; }
  }
}
