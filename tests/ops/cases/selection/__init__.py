"""Elements and windows of arrays: chosen, put in, taken out."""
