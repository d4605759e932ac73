"""Elements by their positions, read and written.

`parser`, what an index means; `getitem`, with `take`; `setitem`; `index_builders`, as `ix_`; `diagonal`; `flatiter`;
`insert_delete`; `in_place`, as `put`; `select_by`, as `choose` and `place`; `grids`; `from_data`, arrays from iterables
and text, some of which put what they get on a diagonal.
"""
