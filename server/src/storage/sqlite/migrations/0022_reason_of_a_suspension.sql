-- Why an administrator refused or suspended a person (R67).

ALTER TABLE principals ADD COLUMN reason TEXT NOT NULL DEFAULT '';
