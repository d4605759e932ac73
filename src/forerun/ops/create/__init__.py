"""New arrays: `fill`, of one value or of what they are given; `ranges`, of equal steps; `copies`."""
