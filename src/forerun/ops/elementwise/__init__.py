"""Element-wise operations: `arithmetic`, `exponential`, `select` (`where`, `clip`), `erf`, `special`, `rounding`."""
