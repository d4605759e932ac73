"""The tests. Folders mirror the source; `tests.support` has their helpers, `tests.ops.cases` the table of ops."""
