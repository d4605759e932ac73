"""Models of the hand-overs between threads, and a checker that explores every order of their steps."""
