"""Messages that matter: they stand under the headline until they are dismissed or no longer true."""
