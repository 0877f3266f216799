"""What runs are listed, sorted and filtered by, and the words in which a person asks for some of them."""
