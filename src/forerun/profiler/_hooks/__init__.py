"""The profiler in other tools: `spans` for OpenTelemetry, `summaries` for TensorBoard, `magic` for notebooks."""
