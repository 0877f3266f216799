"""The kernel that splits the keys over programs: its launcher, the parts of values, and how splits are joined."""
