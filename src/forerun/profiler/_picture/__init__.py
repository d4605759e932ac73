"""Pictures of the profiler.

`lanes`, `marks` and `picture` for the timeline, `live` and `chrome` for other programs; `boxes`, then `layers`,
`places` and `graph_svg`, or `dot`, for the graph.
"""
