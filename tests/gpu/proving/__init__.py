"""What runs the GPU proof: processes of tests, what they tell of themselves, and the summary of it. No test is here."""
