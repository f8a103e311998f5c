"""A table to look at: one page of HTML, and pieces of it for notebooks. Made from the log alone."""

from truckee.report.notebook import history_html, table_html
from truckee.report.page import report_html

__all__ = ["history_html", "report_html", "table_html"]
