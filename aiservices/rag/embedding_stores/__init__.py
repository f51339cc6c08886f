"""The embedding stores that come with the framework; each is imported when it is first named.

What they share: requests that are checked once, vectors at length 1, and the translation of filters.
"""
