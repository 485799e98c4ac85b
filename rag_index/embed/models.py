"""Models through sentence-transformers; the only importer of torch."""
