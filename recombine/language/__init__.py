"""What can be said: typed terms, grammars, and questions about terms."""
