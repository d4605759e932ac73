"""Libraries from PyPI on arrays of forerun: what their functions do, and their own tests."""
