"""Sets of row indexes: in memory, as bytes, and in the files that descriptors point at."""
