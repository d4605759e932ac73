"""Random programs, refused requests, large sizes and long runs. Each has a target of make."""
