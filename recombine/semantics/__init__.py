"""What it means: folding terms, and the tables of what holds where."""
