package truckee;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.CRC32;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.roaringbitmap.BatchIterator;
import org.roaringbitmap.IntIterator;
import org.roaringbitmap.RoaringBitmap;

/**
 * Which rows of a file are wanted, and their values of the change feed's columns. Each file carries a text:
 * a line with the number of its rows (-1 if unknown), the number of vectors and the number of events; then
 * a line for each vector; then a line for each event. Fields are separated by tabs.
 *
 * vector: "=" and the data in hex, or the path of its file, then offset, size and cardinality.
 * event: the number of the vector that its rows are in, that of the vector that they are not in (-1 for
 * none), change type (empty if the rows have it), version, and time in microseconds (empty for none).
 *
 * A file whose vector changed several times has several events, and a row belongs to each event that has
 * it. The file is read in as many passes as the row with the most events has events, mostly one.
 */
public class TruckeeWanted {
  static final int PORTABLE = 1681511377;
  private static final int NATIVE = 1681511376;
  private static final int EVENT_BITS = 24;

  String[] types = new String[] {null};
  long[] versions = new long[1];
  Long[] times = new Long[1];

  private RoaringBitmap[] vectors = new RoaringBitmap[0];
  private RoaringBitmap dropped;
  private RoaringBitmap kept;
  private long[] events;
  private int passes = 1;
  private int from;
  // The rows of the set from `next` on are in `ahead`; more of them come from `rest`.
  private final int[] ahead = new int[4096];
  private BatchIterator rest;
  private int next;
  private int filled;
  private byte[] isGone = new byte[0];

  /** Reads the text, and the vectors that it names. */
  static TruckeeWanted of(String text, PartitionedFile file, Configuration conf) {
    TruckeeWanted rows = new TruckeeWanted();
    if (text == null) return rows;
    try {
      rows.read(text.split("\n", -1), file, conf);
    } catch (Exception error) {
      // The driver reads the vectors of this file again, and reports what is wrong with them.
      throw new IllegalStateException("truckee-vector: " + error, error);
    }
    return rows;
  }

  private void read(String[] lines, PartitionedFile file, Configuration conf) throws IOException {
    String[] counts = lines[0].split("\t");
    long rowCount = Long.parseLong(counts[0]);
    vectors = new RoaringBitmap[Integer.parseInt(counts[1])];
    for (int i = 0; i < vectors.length; i++) {
      vectors[i] = vector(lines[1 + i].split("\t", -1), conf);
      if (rowCount < 0 && !vectors[i].isEmpty()) rowCount = counted(file, conf);
      if (!vectors[i].isEmpty() && (vectors[i].last() & 0xffffffffL) >= rowCount) {
        throw new IOException("it marks row " + (vectors[i].last() & 0xffffffffL) + " of " + rowCount);
      }
    }
    int count = Integer.parseInt(counts[2]);
    types = new String[count];
    versions = new long[count];
    times = new Long[count];
    int[][] pairs = new int[count][];
    for (int i = 0; i < count; i++) {
      String[] event = lines[1 + vectors.length + i].split("\t", -1);
      pairs[i] = new int[] {Integer.parseInt(event[0]), Integer.parseInt(event[1])};
      types[i] = event[2].isEmpty() ? null : event[2];
      versions[i] = Long.parseLong(event[3]);
      times[i] = event[4].isEmpty() ? null : Long.valueOf(event[4]);
    }
    if (count == 1) selectOne(pairs[0]);
    else selectMany(pairs);
    vectors = null;
  }

  private void selectOne(int[] pair) {
    if (pair[0] >= 0) kept = selected(pair);
    else if (pair[1] >= 0 && !vectors[pair[1]].isEmpty()) dropped = vectors[pair[1]];
    restart(0);
  }

  private RoaringBitmap selected(int[] pair) {
    RoaringBitmap within = vectors[pair[0]];
    return pair[1] < 0 ? within : RoaringBitmap.andNot(within, vectors[pair[1]]);
  }

  /** Packs each pair of row and event into one number; after sorting, a row's events are adjacent. */
  private void selectMany(int[][] pairs) {
    long[] found = new long[1024];
    int size = 0;
    for (int i = 0; i < pairs.length; i++) {
      for (IntIterator each = selected(pairs[i]).getIntIterator(); each.hasNext(); ) {
        if (size == found.length) found = Arrays.copyOf(found, 2 * size);
        found[size++] = (each.next() & 0xffffffffL) << EVENT_BITS | i;
      }
    }
    events = Arrays.copyOf(found, size);
    Arrays.sort(events);
    int run = 0;
    passes = 0;
    for (int i = 0; i < size; i++) {
      run = i > 0 && row(i) == row(i - 1) ? run + 1 : 1;
      passes = Math.max(passes, run);
    }
  }

  private long row(int at) { return events[at] >>> EVENT_BITS; }

  /** Whether a pass shows the event at a place: pass n shows the n-th event of each row. */
  private boolean isOf(int pass, int at) {
    if (at < pass || pass > 0 && row(at - pass) != row(at)) return false;
    return at == pass || row(at - pass - 1) != row(at);
  }

  boolean isAll() { return dropped == null && kept == null && events == null; }

  int passes() { return passes; }

  /** Starts a pass, in which `select` is asked for rows in ascending order. */
  void restart(int pass) {
    from = 0;
    RoaringBitmap set = dropped != null ? dropped : kept;
    rest = set == null ? null : set.getBatchIterator();
    next = 0;
    filled = 0;
  }

  /** Whether any of these rows is wanted. */
  boolean wants(int pass, long first, long count) {
    if (dropped != null) return dropped.rangeCardinality(first, first + count) < count;
    if (kept != null) return kept.intersects(first, first + count);
    if (events == null) return true;
    for (int i = place(first); i < events.length && row(i) < first + count; i++) {
      if (isOf(pass, i)) return true;
    }
    return false;
  }

  /** The event of a row in a pass, -1 if the row is not wanted. */
  int eventOf(int pass, long row) {
    if (dropped != null) return dropped.contains((int) row) ? -1 : 0;
    if (kept != null) return kept.contains((int) row) ? 0 : -1;
    if (events == null) return 0;
    for (int i = place(row); i < events.length && row(i) == row; i++) {
      if (isOf(pass, i)) return event(i);
    }
    return -1;
  }

  private int event(int at) { return (int) events[at] & (1 << EVENT_BITS) - 1; }

  /** The first place whose row is this one or a later one. */
  private int place(long row) {
    int found = Arrays.binarySearch(events, row << EVENT_BITS);
    return found < 0 ? -1 - found : found;
  }

  /**
   * Which of `count` adjacent rows are wanted: their distances from the first, and their events. Returns
   * how many. Returns -1, and fills in nothing, if all are wanted and belong to event 0.
   */
  int select(int pass, long first, int count, int[] wanted, int[] eventOf) {
    if (events != null) return selectEvents(pass, first, count, wanted, eventOf);
    if (rest == null) return -1;
    int size = inSet(first, first + count, wanted);
    if (kept != null) {
      Arrays.fill(eventOf, 0, size, 0);
      return size == count ? -1 : size;
    }
    if (size == 0) return -1;
    if (isGone.length < count) isGone = new byte[count];
    for (int i = 0; i < size; i++) isGone[wanted[i]] = 1;
    size = 0;
    // Without a branch that depends on the row: where many rows are gone, it would be predicted badly.
    for (int i = 0; i < count; i++) {
      wanted[size] = i;
      size += 1 - isGone[i];
      isGone[i] = 0;
    }
    return size;
  }

  /** Puts the distances from `first` of the rows before `end` that are in the set into `found`. */
  private int inSet(long first, long end, int[] found) {
    int size = 0;
    while (true) {
      while (next < filled && (ahead[next] & 0xffffffffL) < first) next++;
      for (; next < filled && (ahead[next] & 0xffffffffL) < end; next++) {
        found[size++] = (int) ((ahead[next] & 0xffffffffL) - first);
      }
      if (next < filled) return size;
      // Roaring seeks, also backwards, so it must not be asked for a row that was there already.
      if (filled == 0 || (ahead[filled - 1] & 0xffffffffL) < first) rest.advanceIfNeeded((int) first);
      if (!rest.hasNext()) return size;
      filled = rest.nextBatch(ahead);
      next = 0;
    }
  }

  private int selectEvents(int pass, long first, int count, int[] wanted, int[] eventOf) {
    int size = 0;
    while (from < events.length && row(from) < first) from++;
    for (; from < events.length && row(from) < first + count; from++) {
      if (isOf(pass, from)) {
        eventOf[size] = event(from);
        wanted[size++] = (int) (row(from) - first);
      }
    }
    return size;
  }

  /** The same for rows that are not adjacent. */
  int select(int pass, long[] rows, int count, int[] wanted, int[] eventOf) {
    int size = 0;
    for (int i = 0; i < count; i++) {
      int event = eventOf(pass, rows[i]);
      if (event >= 0) {
        eventOf[size] = event;
        wanted[size++] = i;
      }
    }
    return size == count && events == null ? -1 : size;
  }

  private static long counted(PartitionedFile file, Configuration conf) throws IOException {
    ParquetFileReader reader = ParquetFileReader.open(HadoopInputFile.fromPath(file.toPath(), conf));
    try {
      return reader.getRecordCount();
    } finally {
      reader.close();
    }
  }

  static RoaringBitmap vector(String[] fields, Configuration conf) throws IOException {
    long cardinality = Long.parseLong(fields[3]);
    if (cardinality == 0) return new RoaringBitmap();
    byte[] data = fields[0].startsWith("=")
        ? HexFormat.of().parseHex(fields[0].substring(1))
        : stored(new Path(plain(fields[0])), Integer.parseInt(fields[1]), Integer.parseInt(fields[2]), conf);
    RoaringBitmap rows = decoded(ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN));
    if (rows.getLongCardinality() != cardinality) {
      throw new IOException("it has " + rows.getLongCardinality() + " rows, not " + cardinality);
    }
    return rows;
  }

  private static String plain(String path) {
    return path.replace("%0A", "\n").replace("%09", "\t").replace("%25", "%");
  }

  /** The data of a vector in a file: a version byte; at the offset: size, data, checksum, big-endian. */
  private static byte[] stored(Path path, int offset, int size, Configuration conf) throws IOException {
    FSDataInputStream in = path.getFileSystem(conf).open(path);
    try {
      int version = in.read();
      if (version != 1) throw new IOException("format version " + version);
      in.seek(offset);
      int found = in.readInt();
      if (found != size) throw new IOException("it has " + found + " bytes, not " + size);
      byte[] data = new byte[size];
      in.readFully(data);
      CRC32 sum = new CRC32();
      sum.update(data, 0, size);
      if ((int) sum.getValue() != in.readInt()) throw new IOException("wrong checksum");
      return data;
    } finally {
      in.close();
    }
  }

  /** The bitmap after its magic number; row indexes of a file that Spark can read have 32 bits. */
  private static RoaringBitmap decoded(ByteBuffer in) throws IOException {
    int magic = in.getInt();
    if (magic != PORTABLE && magic != NATIVE) throw new IOException("magic number " + magic);
    long count = magic == PORTABLE ? in.getLong() : in.getInt();
    RoaringBitmap found = new RoaringBitmap();
    for (long i = 0; i < count; i++) {
      long key = magic == PORTABLE ? in.getInt() & 0xffffffffL : i;
      if (magic == NATIVE) in.getInt();
      RoaringBitmap rows = new RoaringBitmap();
      rows.deserialize(in);
      in.position(in.position() + rows.serializedSizeInBytes());
      if (key == 0) found = rows;
      else if (!rows.isEmpty()) throw new IOException("it marks rows from " + (key << 32) + " on");
    }
    return found;
  }
}
