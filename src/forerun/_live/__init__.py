"""The activity of a running process, for `forerun top`: `snapshot` describes it, `server` answers, `client` asks."""
