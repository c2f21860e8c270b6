"""The only package that knows all parts: it turns settings into running objects. There is one module for each process, and `shared` for
objects that several processes use.

The two libraries that are heavy to load, Spark and the web server, are imported by the function that runs them: the API never loads Spark,
the pipeline never loads a web server, and the command line loads neither.
"""
