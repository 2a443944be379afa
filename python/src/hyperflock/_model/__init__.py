"""Plain data of studies: search spaces, specs, data sets and results. Nothing here sends a
request.
"""
