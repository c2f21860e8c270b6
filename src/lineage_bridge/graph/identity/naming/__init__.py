"""Names: which spellings of a dataset mean the same by the naming specification, as versioned data. Pure; nothing here joins by guess."""
