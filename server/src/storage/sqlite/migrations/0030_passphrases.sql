-- The devices of a passphrase, which a volunteer enters on each of them (R81). Nothing else is kept of a passphrase, so it
-- ends with its last device.
CREATE TABLE device_passphrases (
  device   TEXT PRIMARY KEY,
  key_hash TEXT NOT NULL  -- SHA-256, in hex, of the key that the page makes of the words
) STRICT, WITHOUT ROWID;

CREATE INDEX devices_by_passphrase ON device_passphrases (key_hash);
