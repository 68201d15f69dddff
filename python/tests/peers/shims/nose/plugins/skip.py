"""Skips a test."""

from unittest import SkipTest as SkipTest
