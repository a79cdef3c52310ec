"""What each part takes, beside what a user would otherwise run, in the same run."""
