"""What is to be run: cells, made by the checks from tables and headers, and selected by the words of a person."""
