"""How well: scores, intervals and the compositionality gap."""
