"""Output for people: `terminal`; `notebook`; `progress` bars of loops, in both."""
