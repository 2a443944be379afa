-- How much of the devices researchers and projects get, and which projects lend their idle devices (R70).

CREATE TABLE shares (
  scope      INTEGER NOT NULL,  -- as in ceilings; never 0
  name       TEXT NOT NULL,
  weight     INTEGER,           -- null: the usual one
  guaranteed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE lending (
  lender   TEXT NOT NULL,
  borrower TEXT NOT NULL,  -- *: every project
  PRIMARY KEY (lender, borrower)
) STRICT, WITHOUT ROWID;
