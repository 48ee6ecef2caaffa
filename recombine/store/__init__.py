"""Keys, recipes, artefacts and engines: what lies under everything else."""
