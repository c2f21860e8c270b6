"""The input for streams of Amazon Kinesis."""
