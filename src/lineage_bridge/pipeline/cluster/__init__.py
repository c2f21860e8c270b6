"""What only the executors of a Spark cluster need: checks of their machines, and the package that they are sent."""
