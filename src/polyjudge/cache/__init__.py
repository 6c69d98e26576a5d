"""The cache of replies: SQLite, or PostgreSQL shared by machines."""
