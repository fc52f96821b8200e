"""Faults, by real processes on a real database: what is killed, stopped, cut or filled up."""
