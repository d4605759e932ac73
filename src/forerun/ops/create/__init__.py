"""New arrays.

`arguments`, functions that the others share; `array`, of given values; `fill`, of one value; `like`, as another array
is; `eye`, with ones on a diagonal; `ranges`, of equal steps; `copies`.
"""
