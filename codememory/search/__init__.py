"""Search: one analyser, one formula, and the statements that read and write search rows."""
