"""The one door to language models, and the prompts."""
