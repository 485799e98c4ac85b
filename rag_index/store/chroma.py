"""Chroma as the published projection; the only importer of chromadb."""
