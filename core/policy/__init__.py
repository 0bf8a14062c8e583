"""Record in, heads out, act13 row out."""
