"""What people see: `terminal`; `notebook`; `progress` of loops, in both."""
