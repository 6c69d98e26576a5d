"""Rubrics and the prompts made from them."""
