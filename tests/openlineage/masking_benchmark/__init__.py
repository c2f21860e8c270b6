"""The benchmark of masking: secrets that are planted in events, innocent texts, and names of datasets that must stay apart.

`planted/` and `innocent/` are templates; what stands for a secret is made when it runs, so no file holds a string that looks like one.
"""
