"""Other libraries' arrays: `dlpack`, `lending`."""
