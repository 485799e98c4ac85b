"""`python -m rag_index` is `rag-index`."""

import sys

from rag_index.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
