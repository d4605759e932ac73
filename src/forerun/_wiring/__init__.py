"""Register the Python functions and classes that the core, and modules below, call. No other module registers any.

`engine` has the table of those that the engine calls, given when `forerun` is imported, and `arrays` the table of those
that arrays call, given when `forerun.np` is imported: `import forerun` is short. The core knows which entries each
table must have (core/python/wiring.cpp), and refuses an incomplete one: then the import fails, and the error names the
missing entry.
"""
