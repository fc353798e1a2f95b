"""Measures every claim about speed as a ratio within one run; see README.md beside this file."""
