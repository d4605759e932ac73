"""The engine under test: its settings, tasks that tests hold, threads, waits and resources."""
