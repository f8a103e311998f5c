package truckee;

import java.lang.ref.Cleaner;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import org.apache.spark.api.java.function.Function4;
import org.apache.spark.sql.classic.SparkSession;
import py4j.ClientServerConnection;
import py4j.GatewayServer;
import py4j.PythonClient;
import scala.Option;

/**
 * A function of Python, known here by its number. Python keeps the function until the garbage collector
 * has taken this object.
 */
public class TruckeeCalls implements BiFunction {
  private final Maker calls;
  private final int number;

  TruckeeCalls(Maker calls, int number) {
    this.calls = calls;
    this.number = number;
  }

  /**
   * The answer of Python, or the error that it raised. Spark may call within a job that runs in a copy of a
   * session. Python must find the session of the user active.
   */
  public Object apply(Object first, Object second) {
    Option active = SparkSession.getActiveSession();
    Object answer;
    try {
      if (active.isDefined()) SparkSession.setActiveSession(TruckeeSessions.users((SparkSession) active.get()));
      answer = calls.ask(number, first, second);
    } catch (RuntimeException error) {
      throw error;
    } catch (Exception error) {
      throw new RuntimeException(error);
    } finally {
      if (active.isDefined()) SparkSession.setActiveSession((SparkSession) active.get());
    }
    TruckeeErrors.check(answer);
    return answer;
  }

  /**
   * All calls of one JVM into Python. Py4J opens a connection, with a Python thread, for each thread that
   * calls, and never closes it; Spark makes new threads for each query. So a thread without a connection
   * borrows one for the time of its call, and a few are kept for later calls. The call still runs in the
   * thread that makes it, with its session, its properties and its interruption.
   */
  public static class Maker {
    private static final long PATIENCE_SECONDS = 60;
    private static final int KEPT = 4;

    private final Cleaner cleaner = Cleaner.create();
    private final ConcurrentLinkedQueue released = new ConcurrentLinkedQueue();
    private final ConcurrentLinkedDeque idle = new ConcurrentLinkedDeque();
    private final Map pooled = new ConcurrentHashMap();
    private final Map foreign = new ConcurrentHashMap();
    private GatewayServer server;
    private Function4 python;

    /** Sets the object that answers, and opens the first connection while descriptors are free. */
    public void open(GatewayServer server, Function4 python) throws Exception {
      this.server = server;
      this.python = python;
      if (server.getCallbackClient() instanceof PythonClient) {
        idle.push(opened((PythonClient) server.getCallbackClient()));
      }
    }

    /** The object that the JVM calls in place of a Python function. */
    public BiFunction call(int number) {
      TruckeeCalls made = new TruckeeCalls(this, number);
      cleaner.register(made, new Release(released, number));
      return made;
    }

    /** Closes the connection of the calling thread when that thread has ended. */
    public void adopt() {
      if (!(server.getCallbackClient() instanceof PythonClient)) return;
      note(((PythonClient) server.getCallbackClient()).getPerThreadConnection());
    }

    Object ask(int number, Object first, Object second) throws Exception {
      // Without pinned threads, Py4J has a pool of its own.
      if (!(server.getCallbackClient() instanceof PythonClient)) return said(number, first, second);
      PythonClient client = (PythonClient) server.getCallbackClient();
      sweep(client);
      ClientServerConnection own = client.getPerThreadConnection();
      if (own != null && own.getSocket() != null) {
        note(own);
        return said(number, first, second);
      }
      ClientServerConnection lent = (ClientServerConnection) idle.poll();
      client.setPerThreadConnection(lent == null ? opened(client) : lent);
      try {
        return said(number, first, second);
      } finally {
        giveBack(client);
      }
    }

    private Object said(int number, Object first, Object second) throws Exception {
      StringBuilder gone = new StringBuilder();
      for (Object each = released.poll(); each != null; each = released.poll()) {
        gone.append(each).append(' ');
      }
      return python.call(Integer.valueOf(number), gone.toString(), first, second);
    }

    private void giveBack(PythonClient client) {
      // Py4J has replaced a broken connection, or it has no socket any more.
      ClientServerConnection used = client.getPerThreadConnection();
      client.setPerThreadConnection(null);
      if (used == null) return;
      if (used.getSocket() == null) {
        pooled.remove(used);
      } else if (idle.size() >= KEPT) {
        // More calls than usual came at the same time; their extra connections are not kept.
        pooled.remove(used);
        close(client, used);
      } else {
        pooled.put(used, Boolean.TRUE);
        idle.push(used);
      }
    }

    /** A new connection, tested by a call: Python may have no descriptor left to accept one. */
    private ClientServerConnection opened(PythonClient client) throws Exception {
      FutureTask hello = new FutureTask(new Hello(client, python));
      Thread thread = new Thread(hello, "truckee-hello");
      thread.setDaemon(true);
      thread.start();
      try {
        ClientServerConnection made =
            (ClientServerConnection) hello.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        pooled.put(made, Boolean.TRUE);
        return made;
      } catch (TimeoutException error) {
        throw new IllegalStateException("truckee-no-answer: Python took no call of the JVM");
      }
    }

    private void note(ClientServerConnection found) {
      if (found != null && found.isInitiatedFromClient() && !pooled.containsKey(found)) {
        foreign.put(found, Thread.currentThread());
      }
    }

    private void sweep(PythonClient client) {
      for (Iterator each = foreign.entrySet().iterator(); each.hasNext(); ) {
        Map.Entry entry = (Map.Entry) each.next();
        if (!((Thread) entry.getValue()).isAlive()) {
          each.remove();
          close(client, (ClientServerConnection) entry.getKey());
        }
      }
    }

    private static void close(PythonClient client, ClientServerConnection left) {
      left.shutdown(false);
      client.connectionStopped(left);
    }
  }

  /** The first call on a connection, made by the thread that owns the connection. */
  public static class Hello implements Callable {
    private final PythonClient client;
    private final Function4 python;

    public Hello(PythonClient client, Function4 python) {
      this.client = client;
      this.python = python;
    }

    public Object call() throws Exception {
      python.call(Integer.valueOf(-1), "", null, null);
      return client.getPerThreadConnection();
    }
  }

  public static class Release implements Runnable {
    private final ConcurrentLinkedQueue released;
    private final int number;

    public Release(ConcurrentLinkedQueue released, int number) {
      this.released = released;
      this.number = number;
    }

    public void run() { released.add(Integer.valueOf(number)); }
  }
}
