"""mqlab: from whatever was gathered in a message-broker incident to a verdict that is true.

Importing the package does nothing: no session is started, nothing is read, nothing is printed.
"""

__version__ = "0.1.0"
