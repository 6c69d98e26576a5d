"""The test suites: translation, regression, vocabulary, transcript."""
