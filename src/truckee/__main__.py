"""`python -m truckee` is the command line."""

from __future__ import annotations

import sys

from truckee.cli.main import main

sys.exit(main())
