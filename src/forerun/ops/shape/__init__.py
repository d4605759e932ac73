"""Arrays seen in other shapes, and put together.

`attributes`, which see no values; `views`; `join`, which also splits, repeats and pads; `fit`, gradients in the shape
of their inputs.
"""
