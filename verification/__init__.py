"""Models of the hand-overs between threads, and a checker that goes through every order of their steps."""
