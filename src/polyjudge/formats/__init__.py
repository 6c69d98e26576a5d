"""Readers and writers for the files of users and of other tools."""
