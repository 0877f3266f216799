"""The trend: figures of the runs of one problem over what they differ in. What is drawn, and the words for it."""
