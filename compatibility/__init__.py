"""Libraries from PyPI on arrays of forerun: the results of their functions, and their own tests."""
