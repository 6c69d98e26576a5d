"""Can a judge be trusted? It is asked about texts spoiled on purpose, and compared with people."""
