package truckee;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.Statistics;
import org.apache.parquet.format.Util;
import org.apache.parquet.format.converter.ParquetMetadataConverter;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.ParquetOutputFormat;
import org.apache.parquet.hadoop.metadata.ParquetMetadata;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.internal.io.FileNameSpec;
import org.apache.spark.mapred.SparkHadoopMapRedUtil;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.datasources.OutputWriter;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;

/**
 * Where a write job puts its files, and what its tasks report about them.
 *
 * A file is written to its final place in the table, since nobody sees it before the log names it.
 * The task that wrote it sends back the path, the size, the time and the statistics of the wanted
 * columns, which it knows from the writer (see `Format`). One attempt of a task may commit; all others delete their files.
 *
 * Change rows go to a change file beside each data file, without Spark knowing of it: as a partition
 * column of Spark's, the kind of a row would cost a copy of every row.
 *
 * Spark is told to write to `root/token`, a folder that is never made. The token is in the name of
 * every file, so the files of dead tasks can be found.
 *
 * A message has one line for each file, with fields separated by tabs and bytes in base 64:
 *
 *     path, size, time, rows of the row groups (12,7), the chunks of each wanted column
 *
 * A chunk is `nulls,values,least,greatest`, with `-` for what the footer does not say, or a single `-`
 * if there are no statistics. Chunks of one column are separated by `|`.
 */
public class TruckeeCommit extends FileCommitProtocol implements Serializable {
  /** The number of folders of a file below the root, if rows with a change type go to change files. */
  public static final String CHANGES = "truckee.write.changes";
  /** The numbers of the wanted columns of a file, separated by commas. */
  public static final String COLUMNS = "truckee.write.columns";

  private static final String TRUNCATE = ParquetOutputFormat.STATISTICS_TRUNCATE_LENGTH;
  /** The tokens of jobs that Python has started and not yet ended. */
  private static final ConcurrentHashMap STARTED = new ConcurrentHashMap();
  private static final ConcurrentHashMap DONE = new ConcurrentHashMap();
  /** The footers of files whose writers were closed, by path, until their task commits or aborts. */
  private static final ConcurrentHashMap FOOTERS = new ConcurrentHashMap();
  /** The paths of change files that tasks have begun, until they commit or abort. */
  private static final ConcurrentHashMap BEGUN = new ConcurrentHashMap();

  private final String root;
  private final String token;
  private transient List written;

  /** Spark calls this before it deletes or writes anything. */
  public TruckeeCommit(String jobId, String path) {
    this.root = new Path(path).getParent().toString();
    this.token = new Path(path).getName();
    if (!STARTED.containsKey(token)) throw new IllegalStateException("truckee-foreign-job: " + path);
  }

  public void setupJob(JobContext job) {}

  public void commitJob(JobContext job, Seq messages) {
    StringBuilder all = new StringBuilder();
    for (Iterator each = messages.iterator(); each.hasNext(); ) {
      all.append((String) ((FileCommitProtocol.TaskCommitMessage) each.next()).obj());
    }
    DONE.put(token, all.toString());
  }

  public void abortJob(JobContext job) {}

  public void setupTask(TaskAttemptContext task) {
    written = new ArrayList();
  }

  public String newTaskTempFile(TaskAttemptContext task, Option folder, FileNameSpec name) {
    String below = folder.isEmpty() ? "" : folder.get() + "/";
    int number = task.getTaskAttemptID().getTaskID().getId();
    String unique = token + "-" + task.getTaskAttemptID().getId();
    String file = String.format("%spart-%05d-%s%s",
        new Object[] {below, Integer.valueOf(number), unique, name.suffix()});
    written.add(file);
    return path(file).toString();
  }

  /** The change file that belongs to a data file. */
  private static String changes(String file) {
    int name = file.lastIndexOf('/') + 1;
    return "_change_data/" + file.substring(0, name) + "cdc-" + file.substring(name + "part-".length());
  }

  public String newTaskTempFile(TaskAttemptContext task, Option folder, String ext) {
    return newTaskTempFile(task, folder, new FileNameSpec("", ext));
  }

  public String newTaskTempFileAbsPath(TaskAttemptContext task, String folder, String ext) {
    throw new UnsupportedOperationException("files of a table lie below its root");
  }

  public FileCommitProtocol.TaskCommitMessage commitTask(TaskAttemptContext task) {
    // Asks the driver, and raises what Spark knows as a denied commit if another attempt was first.
    SparkHadoopMapRedUtil.commitTask(
        new OnlyOnce(),
        task,
        task.getJobID().getId(),
        task.getTaskAttemptID().getTaskID().getId());
    String[] wanted = task.getConfiguration().get(COLUMNS, "").split(",");
    StringBuilder message = new StringBuilder();
    try {
      for (int i = 0; i < written.size(); i++) {
        String file = (String) written.get(i);
        describe(file, wanted, task.getConfiguration(), message);
        if (BEGUN.remove(path(changes(file)).toString()) != null) {
          describe(changes(file), wanted, task.getConfiguration(), message);
        }
      }
    } catch (IOException error) {
      throw new RuntimeException(error);
    }
    return new FileCommitProtocol.TaskCommitMessage(message.toString());
  }

  public void abortTask(TaskAttemptContext task) {
    for (int i = 0; written != null && i < written.size(); i++) {
      try {
        delete(path((String) written.get(i)), task.getConfiguration());
        Path changes = path(changes((String) written.get(i)));
        if (BEGUN.remove(changes.toString()) != null) delete(changes, task.getConfiguration());
      } catch (IOException error) {
        // The driver deletes what is left when the job has failed.
      }
    }
  }

  private static void delete(Path path, Configuration settings) throws IOException {
    FOOTERS.remove(path.toString());
    path.getFileSystem(settings).delete(path, false);
  }

  private Path path(String file) { return new Path(root, new Path(null, null, file)); }

  private void describe(String file, String[] wanted, Configuration settings, StringBuilder into)
      throws IOException {
    Path path = path(file);
    FileSystem files = path.getFileSystem(settings);
    FileStatus status = files.getFileStatus(path);
    ParquetMetadata known = (ParquetMetadata) FOOTERS.remove(path.toString());
    FileMetaData footer = known == null
        ? footer(files, path, status.getLen())
        : new ParquetMetadataConverter(settings.getInt(TRUNCATE, Integer.MAX_VALUE)).toParquetMetadata(1, known);
    if (footer.getNum_rows() == 0) {
      files.delete(path, false);
      return;
    }
    into.append(base64(file.getBytes(StandardCharsets.UTF_8))).append('\t').append(status.getLen());
    into.append('\t').append(status.getModificationTime()).append('\t');
    List groups = footer.getRow_groups();
    for (int i = 0; i < groups.size(); i++) {
      into.append(i == 0 ? "" : ",").append(((RowGroup) groups.get(i)).getNum_rows());
    }
    for (int i = 0; i < wanted.length; i++) {
      into.append('\t');
      for (int g = 0; g < groups.size() && !wanted[i].isEmpty(); g++) {
        List columns = ((RowGroup) groups.get(g)).getColumns();
        into.append(g == 0 ? "" : "|");
        chunk(((ColumnChunk) columns.get(Integer.parseInt(wanted[i]))).getMeta_data(), into);
      }
    }
    into.append('\n');
  }

  private static FileMetaData footer(FileSystem files, Path path, long size) throws IOException {
    FSDataInputStream in = files.open(path);
    try {
      byte[] end = new byte[8];
      in.readFully(size - 8, end);
      if (!new String(end, 4, 4, StandardCharsets.ISO_8859_1).equals("PAR1")) {
        throw new IOException("the footer of " + path + " cannot be read: is it encrypted?");
      }
      int length = (end[0] & 255) | (end[1] & 255) << 8 | (end[2] & 255) << 16 | (end[3] & 255) << 24;
      byte[] bytes = new byte[length];
      in.readFully(size - 8 - length, bytes);
      return Util.readFileMetaData(new ByteArrayInputStream(bytes));
    } finally {
      in.close();
    }
  }

  private static void chunk(ColumnMetaData column, StringBuilder into) {
    Statistics known = column.getStatistics();
    if (known == null) {
      into.append('-');
      return;
    }
    boolean isCounted = known.isSetNull_count();
    long values = column.getNum_values() - (isCounted ? known.getNull_count() : 0);
    into.append(isCounted ? Long.toString(known.getNull_count()) : "-").append(',').append(values);
    boolean hasBounds = known.isSetMin_value() && known.isSetMax_value();
    into.append(',').append(hasBounds ? base64(known.getMin_value()) : "-");
    into.append(',').append(hasBounds ? base64(known.getMax_value()) : "-");
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  /** A committer that moves nothing; it only decides which attempt of a task may commit. */
  private static class OnlyOnce extends OutputCommitter {
    public void setupJob(JobContext job) {}

    public void setupTask(TaskAttemptContext task) {}

    public boolean needsTaskCommit(TaskAttemptContext task) {
      return true;
    }

    public void commitTask(TaskAttemptContext task) {}

    public void abortTask(TaskAttemptContext task) {}
  }

  /** Spark's Parquet, whose writers leave the footers of their files to the commit. */
  public static class Format extends ParquetFileFormat {
    public OutputWriterFactory prepareWrite(SparkSession session, Job job, Map options, StructType schema) {
      return new Writers(super.prepareWrite(session, job, options, schema));
    }
  }

  private static class Writers extends OutputWriterFactory {
    private final OutputWriterFactory inner;

    private Writers(OutputWriterFactory inner) { this.inner = inner; }

    public String getFileExtension(TaskAttemptContext task) { return inner.getFileExtension(task); }

    public OutputWriter newInstance(String path, StructType schema, TaskAttemptContext task) {
      OutputWriter data = new Writer(inner.newInstance(path, schema, task));
      int folders = task.getConfiguration().getInt(CHANGES, -1);
      return folders < 0 ? data : new Apart(inner, data, schema, task, folders);
    }
  }

  /**
   * Writes change rows to a file of their own, which is begun with the first of them.
   *
   * A Parquet writer keeps a dictionary for each column. If rows went to two files in turns, the dictionaries
   * of one file would push those of the other out of the processor's cache. So data rows wait in memory while
   * change rows are written, up to a number of bytes.
   */
  private static class Apart extends OutputWriter {
    private static final long MOST_HELD = 16 * 1024 * 1024;

    private final OutputWriterFactory inner;
    private final OutputWriter data;
    private final StructType schema;
    private final TaskAttemptContext task;
    private final int folders;
    private final int type;
    private final List held = new ArrayList();
    private long heldBytes;
    private OutputWriter changes;

    private Apart(
        OutputWriterFactory inner, OutputWriter data, StructType schema, TaskAttemptContext task, int folders) {
      this.inner = inner;
      this.data = data;
      this.schema = schema;
      this.task = task;
      this.folders = folders;
      this.type = schema.length() - 1;
    }

    public String path() { return data.path(); }

    public void write(InternalRow row) {
      if (row.isNullAt(type)) hold(row);
      else changes().write(row);
    }

    private void hold(InternalRow row) {
      if (!(row instanceof UnsafeRow)) {
        writeHeld();
        data.write(row);
        return;
      }
      held.add(row.copy());
      heldBytes += ((UnsafeRow) row).getSizeInBytes();
      if (heldBytes >= MOST_HELD) writeHeld();
    }

    private void writeHeld() {
      for (int i = 0; i < held.size(); i++) data.write((InternalRow) held.get(i));
      held.clear();
      heldBytes = 0;
    }

    private OutputWriter changes() {
      if (changes == null) {
        int root = path().length();
        for (int i = 0; i <= folders; i++) root = path().lastIndexOf('/', root - 1);
        String path = path().substring(0, root + 1) + TruckeeCommit.changes(path().substring(root + 1));
        BEGUN.put(path, Boolean.TRUE);
        changes = new Writer(inner.newInstance(path, schema, task));
      }
      return changes;
    }

    public void close() {
      try {
        writeHeld();
      } finally {
        closeBoth();
      }
    }

    private void closeBoth() {
      try {
        data.close();
      } finally {
        if (changes != null) changes.close();
      }
    }
  }

  private static class Writer extends OutputWriter {
    private final OutputWriter inner;

    private Writer(OutputWriter inner) { this.inner = inner; }

    public String path() { return inner.path(); }

    public void write(InternalRow row) { inner.write(row); }

    public void close() {
      inner.close();
      try {
        Object records = TruckeeBatches.valueOf(inner, "recordWriter");
        Object groups = TruckeeBatches.valueOf(records, "internalWriter");
        ParquetFileWriter file = (ParquetFileWriter) TruckeeBatches.valueOf(groups, "parquetFileWriter");
        // What is encrypted in the file must not be in the log; its footer says what may be.
        if (file.getEncryptor() == null) FOOTERS.put(path(), file.getFooter());
      } catch (Exception error) {
        throw new IllegalStateException("the footer of " + path() + " is not known", error);
      }
    }
  }

  public static class Maker {
    /** Let a job with this token write; no other may use this commit protocol. */
    public void start(String token) { STARTED.put(token, Boolean.TRUE); }

    public void end(String token) { STARTED.remove(token); }

    /** Return what the job with this token has sent back, once; null if it has not committed. */
    public String take(String token) {
      return (String) DONE.remove(token);
    }

    /** Delete files below a root, given as paths separated by newlines; some may be gone already. */
    public void delete(Configuration settings, String root, String packed) throws IOException {
      FileSystem files = new Path(root).getFileSystem(settings);
      String[] paths = packed.split("\n");
      for (int i = 0; i < paths.length; i++) {
        files.delete(new Path(root, new Path(null, null, paths[i])), false);
      }
    }
  }
}
