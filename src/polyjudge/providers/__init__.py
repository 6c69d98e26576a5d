"""Providers: vendors' SDKs, local servers, agent programs, and the wrappers around them."""
