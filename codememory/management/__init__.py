"""Commands of manage.py that are ours; each module is one command."""
