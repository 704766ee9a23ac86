"""The material as it was gathered: paths, archives, file systems, formats, single lines read again."""
