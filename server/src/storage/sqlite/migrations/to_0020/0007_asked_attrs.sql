-- What an asked trial begins with: the attributes that its owner gave it.

ALTER TABLE trials ADD COLUMN asked_attrs TEXT NOT NULL DEFAULT '';
