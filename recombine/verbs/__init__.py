"""What one can do with each benchmark; the command line and the API only call these."""
