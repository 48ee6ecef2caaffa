"""What is asked: splits, episodes and examples."""
