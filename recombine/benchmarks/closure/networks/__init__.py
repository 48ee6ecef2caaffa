"""CLOSURE's networks: their data, their runs, and what comes out."""
