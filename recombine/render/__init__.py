"""What is seen: scenes as pictures."""
