"""Reports about a table: an HTML page, and parts of it for notebooks, from the log alone."""

from truckee.report.notebook import history_html, table_html
from truckee.report.page import report_html

__all__ = ["history_html", "report_html", "table_html"]
