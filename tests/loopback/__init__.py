"""Small servers that speak each vendor's protocol, with faults on demand."""
