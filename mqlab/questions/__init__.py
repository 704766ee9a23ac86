"""What several detectors ask of Facts: who is who, what was in force, what rose, how it is written down."""
