"""Exchange models with other packages, each imported only when it is asked for."""
