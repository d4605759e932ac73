"""Element-wise operations: `loops` has their table, by ufuncs' names; the other files say how they are computed."""
