-- What was published is what people agreed to: it never changes.
-- The same rule as in the other engine's folder.

CREATE FUNCTION terms_stay() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'published terms never change';
END $$;

CREATE TRIGGER terms_stay BEFORE UPDATE ON terms
    FOR EACH ROW WHEN (OLD.status <> 'draft' AND (NEW.content <> OLD.content
        OR NEW.type <> OLD.type OR NEW.version <> OLD.version
        OR NEW.published_at <> OLD.published_at
        OR NEW.status = 'draft' OR (OLD.status = 'archived' AND NEW.status <> 'archived')))
    EXECUTE FUNCTION terms_stay();
CREATE TRIGGER terms_remain BEFORE DELETE ON terms
    FOR EACH ROW WHEN (OLD.status <> 'draft') EXECUTE FUNCTION terms_stay();
