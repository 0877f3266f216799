"""Roofline: runs under the ceilings of their device."""
