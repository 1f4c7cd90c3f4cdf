"""What a session knows, to take away: tables with the data, images in folders by class, and other tools' formats."""
