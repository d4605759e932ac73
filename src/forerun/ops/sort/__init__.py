"""Order: `on_gpu`; `argmax`, places of extremes; `sort`, with partitions; `search_count`; `unique`; `sets`."""
