-- From which trial on the best trials of a study are looked for again, because one of them was taken back; null: they are
-- known. The search goes in pieces, so that the writer is free for others between two of them.
ALTER TABLE study_progress ADD COLUMN search_from INTEGER;
CREATE INDEX studies_to_search ON study_progress (study) WHERE search_from IS NOT NULL;
