"""Programs in processes of their own."""
