"""Compare: two to six runs beside each other, what differs in them, and which one is the fastest."""
