"""What results are compared with, and how."""
