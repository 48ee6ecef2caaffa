"""Into other people's loops: tasks for Inspect, files for other harnesses, and learners that answer like models."""
