"""What can exist: vocabularies, scenes, and the distributions that make them."""
