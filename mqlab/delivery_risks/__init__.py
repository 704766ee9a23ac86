"""The settings audit of the delivery path: what each setting may lose or double at the rates that were seen."""
