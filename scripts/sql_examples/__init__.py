"""The statements of Delta's SQL, as examples: the tests run them, the documentation lists them."""
