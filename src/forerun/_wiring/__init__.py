"""Register the Python functions and classes that the core, and modules below, call. No other module registers any.

`engine` has the table of those that the engine calls, given when `forerun` is imported, and `arrays` the table of those
that arrays call, given when `forerun.np` is imported: `import forerun` is short. The core knows what each table must
have (core/python/wiring.cpp), and refuses one that lacks something: then the import fails, and says what is missing.
"""
