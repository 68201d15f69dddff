"""Plugins of nose: one."""
