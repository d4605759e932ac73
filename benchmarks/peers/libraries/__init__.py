"""Each row with each library: `with_*` have the programs, the other modules the networks and a step of training."""
