"""How networks are trained: settings, the loop, runs and their files."""
