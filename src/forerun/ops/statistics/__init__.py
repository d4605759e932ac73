"""Statistics: `quantile`; `covariance`; `histogram`, counts in bins."""
