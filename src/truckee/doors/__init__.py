"""What Spark asks about Delta tables, answered by the commands and readers of truckee."""
