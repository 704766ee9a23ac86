"""Parts of the screen and screens of their own, as text for a terminal."""
