import sys

from dbt.cli.main import dbtRunner

import truckee

truckee.install()
sys.exit(0 if dbtRunner().invoke(sys.argv[1:]).success else 1)
