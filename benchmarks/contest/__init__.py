"""A contest of speed: one process for each contender, turns in interleaved rounds, ratios with their intervals.

workloads   the rows of the table: inputs, float64 references, bars
peers/      what each contender calls for a row
worker      the process of one contender; `workers` speaks to it
passes      a first pass chooses the best peers, a second times them against ours
ratios      medians of ratios and the intervals around them
bars        what a row has to reach, and whether it does
report      the table in a terminal, in Markdown, and its JSON
"""
