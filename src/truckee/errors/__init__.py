"""Every error of truckee, in one tree under `DeltaError`.

One module holds the errors of one part of the path, and opens with its branch of the tree:

    requests             arguments  options  conditions  sql
    storage              storage
    protocol             protocol  columns  table_sql
    log                  log  commit  transaction
    deletion vectors     deletion_vectors
    changes              changes  diff  net_changes
    spark                spark  install
    commands
      ddl                create  alter
      write              write  write_rows  replaced_rows
      dml, merge         dml  merge
      care               optimize  vacuum  restore  clone
    streaming            streaming  stream_offset  stream_schema

`base` has the root, `sql_states` the SQLSTATE of each error class, and `printable` makes any text
safe for a terminal. Import a new module below, so that its classes are exported.
"""

from truckee.errors.alter import *
from truckee.errors.arguments import *
from truckee.errors.base import DeltaError as DeltaError
from truckee.errors.changes import *
from truckee.errors.clone import *
from truckee.errors.columns import *
from truckee.errors.commit import *
from truckee.errors.conditions import *
from truckee.errors.create import *
from truckee.errors.deletion_vectors import *
from truckee.errors.diff import *
from truckee.errors.dml import *
from truckee.errors.install import *
from truckee.errors.log import *
from truckee.errors.merge import *
from truckee.errors.net_changes import *
from truckee.errors.optimize import *
from truckee.errors.options import *
from truckee.errors.protocol import *
from truckee.errors.replaced_rows import *
from truckee.errors.restore import *
from truckee.errors.spark import *
from truckee.errors.sql import *
from truckee.errors.storage import *
from truckee.errors.stream_offset import *
from truckee.errors.stream_schema import *
from truckee.errors.streaming import *
from truckee.errors.table_sql import *
from truckee.errors.transaction import *
from truckee.errors.vacuum import *
from truckee.errors.write import *
from truckee.errors.write_rows import *

__all__ = sorted(
    name
    for name, found in dict(globals()).items()
    if isinstance(found, type) and issubclass(found, DeltaError) and not name.startswith("_")
)
