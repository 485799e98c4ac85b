"""An index as an object: open, add, remove, query."""
