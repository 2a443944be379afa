-- The versions of what computed a result: the server, the worker, the browsers' runtime and its packages.
ALTER TABLE attempts ADD COLUMN software TEXT NOT NULL DEFAULT '';
