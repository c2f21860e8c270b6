"""The only place where parts meet: settings in, running objects out. One module for each process, and `shared` for all.

The two parts that are heavy to load, Spark and the web server, are imported by the function that runs them: the API never loads Spark,
the pipeline never loads a web server, and the command line loads neither.
"""
