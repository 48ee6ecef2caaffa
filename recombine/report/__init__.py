"""What we say: tables, figures and pages."""
