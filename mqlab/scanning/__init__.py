"""The parts of the scan: what each line is, its shape, floods of kept lines, whether all bytes were counted."""
