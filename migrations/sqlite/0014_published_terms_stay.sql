-- What was published is what people agreed to: it never changes.
-- The same rule as in the other engine's folder.

CREATE TRIGGER terms_stay BEFORE UPDATE ON terms
WHEN OLD.status <> 'draft' AND (NEW.content <> OLD.content OR NEW.type <> OLD.type
    OR NEW.version <> OLD.version OR NEW.published_at <> OLD.published_at
    OR NEW.status = 'draft' OR (OLD.status = 'archived' AND NEW.status <> 'archived'))
BEGIN
    SELECT RAISE(ABORT, 'published terms never change');
END;
CREATE TRIGGER terms_remain BEFORE DELETE ON terms WHEN OLD.status <> 'draft' BEGIN
    SELECT RAISE(ABORT, 'published terms never go');
END;
