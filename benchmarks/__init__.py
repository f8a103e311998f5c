"""What is measured, how, and the last numbers: see README.md beside this file."""
