"""Sentences found by NLTK Punkt; the only importer of nltk."""
