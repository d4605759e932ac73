"""Elements by their positions, read and written.

`parser`, the meaning of an index; `getitem`, with `take`; `setitem`; `index_builders`, as `ix_`; `diagonal`;
`flatiter`; `insert_delete`; `in_place`, as `put`; `select_by`, as `choose` and `place`; `grids`; `from_data`, arrays
from iterables and text, some of which put their argument on a diagonal.
"""
