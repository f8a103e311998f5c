package truckee;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.CopyOption;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.OpenOption;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;

/** Files through Hadoop's file systems, one call for each operation of Python. */
public class TruckeeHadoop {

  public static class Maker {
    public Object open(Configuration configuration, String url, String scheme, String authority)
        throws Exception {
      URI place = new URI(scheme, authority.isEmpty() ? null : authority, "/", null, null);
      return new TruckeeHadoop(FileSystem.get(place, configuration), configuration);
    }
  }

  private static final String LOCAL = "file";
  private static final long ASKS_AT = 64L << 20;
  private final FileSystem system;
  private final Configuration configuration;

  private TruckeeHadoop(FileSystem system, Configuration configuration) {
    this.system = system;
    this.configuration = configuration;
  }

  /** The scheme of the file system that holds a path; for viewfs, that of the mounted one. */
  public String scheme(String path) throws IOException {
    return system.resolvePath(existing(path(path))).toUri().getScheme();
  }

  public long size(String path) throws IOException {
    FileStatus found = system.getFileStatus(path(path));
    if (found.isDirectory()) throw new FileNotFoundException(path);
    return found.getLen();
  }

  /**
   * Bytes from an offset on, at most `length`. If that is less than 0, they are all, of a file that has at
   * most `largest` bytes, as `setting` allows.
   */
  public byte[] read(String path, long offset, int length, long largest, String setting) throws IOException {
    // One open file is read to its end, since another file may replace it meanwhile. A positioned
    // read would open the file again if checksums are verified.
    FSDataInputStream input = system.open(path(path));
    try {
      if (offset > 0) input.seek(Math.min(offset, size(path)));
      ByteArrayOutputStream found = new ByteArrayOutputStream();
      byte[] block = new byte[1 << 16];
      boolean asked = false;
      while (length < 0 || found.size() < length) {
        int wanted = length < 0 ? block.length : Math.min(block.length, length - found.size());
        int count = input.read(block, 0, wanted);
        if (count <= 0) break;
        found.write(block, 0, count);
        // Only a large file is asked for its size, which is one more request.
        if (length >= 0 || asked || found.size() <= Math.min(ASKS_AT, largest)) continue;
        asked = true;
        long size = size(path);
        if (size > largest) {
          throw new IOException("it has " + size + " bytes, more than " + setting + " allows (" + largest + ")");
        }
      }
      return found.toByteArray();
    } finally {
      input.close();
    }
  }

  /** The files in a folder, or in all folders below it: name, size and time, separated by NUL. */
  public String list(String folder, boolean isTree) throws IOException {
    StringBuilder packed = new StringBuilder();
    ArrayDeque folders = new ArrayDeque();
    folders.add("");
    while (!folders.isEmpty()) {
      String below = (String) folders.removeLast();
      FileStatus[] found;
      try {
        found = system.listStatus(path(below.isEmpty() ? folder : folder + "/" + below));
      } catch (FileNotFoundException error) {
        continue;
      }
      for (int i = 0; i < found.length; i++) {
        String name = found[i].getPath().getName();
        String relative = below.isEmpty() ? name : below + "/" + name;
        if (found[i].isSymlink() || isLink(folder + "/" + relative)) continue;
        if (found[i].isDirectory()) {
          if (isTree) folders.add(relative);
        } else if (!folder.endsWith("/" + name) || !found[i].getPath().equals(path(folder))) {
          packed.append(relative).append('\0').append(found[i].getLen()).append('\0');
          packed.append(found[i].getModificationTime()).append('\0');
        }
      }
    }
    return packed.toString();
  }

  /**
   * Writes a complete file. Returns "done", "exists" if there is one that may not be replaced, or the
   * reason why it is unknown whether the file was written.
   */
  public String write(String path, byte[] data, boolean replaces) throws IOException {
    Path target = path(path);
    system.mkdirs(target.getParent());
    Path folder = system.resolvePath(target.getParent());
    String name = target.getName();
    Path staged = beside(folder, "." + name + "." + UUID.randomUUID() + ".tmp");
    if (LOCAL.equals(folder.toUri().getScheme())) {
      return writeLocal(beside(folder, name), staged, data, replaces);
    }
    return writeThere(beside(folder, name), staged, data, replaces);
  }

  private String writeThere(Path target, Path staged, byte[] data, boolean replaces)
      throws IOException {
    FileSystem there = target.getFileSystem(configuration);
    try {
      FSDataOutputStream output = there.create(staged, false);
      try {
        output.write(data);
        output.hsync();
      } finally {
        output.close();
      }
      Options.Rename how = replaces ? Options.Rename.OVERWRITE : Options.Rename.NONE;
      try {
        FileContext context = FileContext.getFileContext(target.toUri(), configuration);
        context.rename(staged, target, new Options.Rename[] {how});
        return "done";
      } catch (org.apache.hadoop.fs.FileAlreadyExistsException error) {
        return "exists";
      } catch (IOException error) {
        return afterwards(there, target, staged, error);
      }
    } finally {
      discard(there, staged);
    }
  }

  /** Whether a rename that reported an error happened: the staged file is gone if it did. */
  private static String afterwards(FileSystem there, Path target, Path staged, IOException error)
      throws IOException {
    try {
      if (there.exists(staged)) throw new IllegalStateException(error);
      return there.exists(target) ? "done" : String.valueOf(error);
    } catch (IOException another) {
      return String.valueOf(error);
    } catch (IllegalStateException known) {
      throw error;
    }
  }

  private static void discard(FileSystem there, Path staged) {
    try {
      there.delete(staged, false);
    } catch (IOException error) {
      // A file whose name begins with a dot disturbs no reader.
    }
  }

  /** viewfs may mount a local disk, where only a hard link creates a file if it is absent. */
  private static String writeLocal(Path target, Path staged, byte[] data, boolean replaces)
      throws IOException {
    File file = new File(target.toUri().getPath());
    File written = new File(staged.toUri().getPath());
    OpenOption[] how = new OpenOption[] {StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE,
        StandardOpenOption.SYNC};
    Files.write(written.toPath(), data, how);
    try {
      new File(file.getParent(), "." + file.getName() + ".crc").delete();
      if (replaces) {
        Files.move(written.toPath(), file.toPath(), new CopyOption[] {StandardCopyOption.ATOMIC_MOVE});
      } else {
        Files.createLink(file.toPath(), written.toPath());
      }
      return "done";
    } catch (FileAlreadyExistsException error) {
      return "exists";
    } finally {
      Files.deleteIfExists(written.toPath());
    }
  }

  /** Deletes a file; false if a symbolic link leads out of the root. */
  public boolean delete(String root, String path) throws IOException {
    Path folder = path(path).getParent();
    if (!system.exists(folder)) return true;
    if (LOCAL.equals(scheme(path))) {
      String top = new File(system.resolvePath(existing(path(root))).toUri().getPath()).getCanonicalPath();
      String place = new File(system.resolvePath(folder).toUri().getPath()).getCanonicalPath();
      if (!place.equals(top) && !place.startsWith(top + "/")) return false;
    }
    system.delete(path(path), false);
    return true;
  }

  private boolean isLink(String path) throws IOException {
    Path folder = system.resolvePath(path(path).getParent());
    if (!LOCAL.equals(folder.toUri().getScheme())) return false;
    return Files.isSymbolicLink(new File(folder.toUri().getPath(), path(path).getName()).toPath());
  }

  private Path existing(Path path) throws IOException {
    Path found = path;
    while (found.getParent() != null && !system.exists(found)) found = found.getParent();
    return found;
  }

  private Path path(String path) {
    URI place = system.getUri();
    return new Path(place.getScheme(), place.getAuthority(), path.isEmpty() ? "/" : path);
  }

  private static Path beside(Path folder, String name) {
    URI place = folder.toUri();
    return new Path(place.getScheme(), place.getAuthority(), place.getPath() + "/" + name);
  }
}
