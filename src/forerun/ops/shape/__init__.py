"""Arrays seen in other shapes, and put together.

`attributes`, which see no values; views: `axis_order`, `memory_order`, `reshape`, `broadcast`, `complex_parts`; `fit`,
gradients in the shape of their inputs; `join`, `split`, `flip_roll`, `repeat`, `pad`.
"""
