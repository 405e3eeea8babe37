"""Where jobs come from: synthetic streams, standard logs and tables."""
