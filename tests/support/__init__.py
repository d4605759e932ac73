"""Helpers of the tests, a module for each job."""
