"""The profiler in other tools: OpenTelemetry (`spans`, `metrics`), TensorBoard (`summaries`), notebooks (`magic`)."""
