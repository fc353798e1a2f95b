"""Sections that Keras has in docstrings and Google's style has not."""

import re

import griffe

# Griffe knows "Examples", of which only the plural is Google's; a doctest elsewhere would be
# taken for a quotation.
EXAMPLE = re.compile(r"^( *)Example:$", re.MULTILINE)
# A list of names, as in "Args", whose lines would otherwise run together.
CALL_ARGUMENTS = re.compile(r"^( *)Call arguments:$", re.MULTILINE)


class KerasSections(griffe.Extension):
    """Renames sections before they are parsed."""

    def on_object(self, *, obj, **kwargs):
        """Change the docstring of every module, class and function."""
        if obj.docstring:
            text = EXAMPLE.sub(r"\1Examples:", obj.docstring.value)
            obj.docstring.value = CALL_ARGUMENTS.sub(r"\1Other Parameters: Call arguments:", text)
