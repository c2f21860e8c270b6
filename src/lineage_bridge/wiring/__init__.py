"""The only package that knows all parts: it turns settings into running objects. One module for each process, and `shared` for all.

The two libraries that are heavy to load, Spark and the web server, are imported by the function that runs them: the API never loads Spark,
the pipeline never loads a web server, and the command line loads neither.
"""
