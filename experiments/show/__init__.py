"""How results are shown: numbers and tables in words, pictures, pages, notebooks."""
