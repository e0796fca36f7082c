/**
 * Rounds of PBKDF2-HMAC-SHA-256 for a passphrase: of a new key or backup, and the bounds for a file. More rounds could take
 * minutes.
 */
export const iterations = { made: 1_000_000, least: 600_000, most: 5_000_000 };
