"""Which rows come out of a read: RowPlan, and what builds one from options and the log."""
