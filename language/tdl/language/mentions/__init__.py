"""What each name in an item means: `items.mentions` for any item."""
