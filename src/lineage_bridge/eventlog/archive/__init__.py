"""The archive: the records that inputs of the form `stream` have read. They are stored beside the log, under the positions at which they
were read from their streams.
"""
