"""A reader that recombines: it learns which words denote which functions, and how spans of words compose."""
