"""Blocks in files: `format_1`, names in old files; `exported`, calls as text; `symbol`, blocks made of that."""
