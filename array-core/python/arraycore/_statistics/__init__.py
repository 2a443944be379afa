"""Sorting, quantiles, histograms and correlations."""
