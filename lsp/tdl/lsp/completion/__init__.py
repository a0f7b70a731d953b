"""What can be typed at a place: `offers.offers_at` for any place of any text."""
