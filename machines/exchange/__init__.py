"""Machines as other tools describe them."""
