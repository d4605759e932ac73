"""Element-wise operations: `arithmetic`, `bitwise` and `exponential`, which `table` has by name; `select` (`where`,
`clip`), `erf`, `special`, `rounding`."""
