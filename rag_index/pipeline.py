"""build(): the chain of stages; the only module that sees them all."""
