"""The one resumable, compiled event loop and what it stands on."""
