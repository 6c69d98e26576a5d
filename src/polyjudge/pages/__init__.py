"""Local pages for labelling and viewing."""
