"""The form: its fields, the rules by which they follow each other, and the lines that say what cannot work."""
