-- The versions of what computed a result: the server, the worker, the browsers' runtime and its packages.
ALTER TABLE attempts ADD COLUMN software TEXT NOT NULL DEFAULT '';
-- A paused study runs, and nothing of it is leased.
ALTER TABLE study_progress ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
