"""The target Amazon Kinesis: a stream with one OpenLineage event in each record, which other catalogs read."""
