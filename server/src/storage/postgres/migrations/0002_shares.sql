-- How much of the devices researchers and projects get, and which projects lend their idle devices (R70).

CREATE TABLE shares (
  scope      BIGINT NOT NULL,
  name       TEXT COLLATE "C" NOT NULL,
  weight     BIGINT,
  guaranteed BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (scope, name)
);

CREATE TABLE lending (
  lender   TEXT COLLATE "C" NOT NULL,
  borrower TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (lender, borrower)
);
