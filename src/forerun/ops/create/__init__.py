"""New arrays: `fill`, of one value or of given values; `ranges`, of equal steps; `copies`."""
