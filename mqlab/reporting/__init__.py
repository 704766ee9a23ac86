"""Parts of the report: tiles, evidence, sections, mark-up."""
