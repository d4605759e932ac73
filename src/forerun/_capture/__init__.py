"""Calls as programs: `tape_template`, their gradients; `captured`, the calls."""
