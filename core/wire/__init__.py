"""Bytes: the records, lines and files of the programs this project drives. numpy only."""
