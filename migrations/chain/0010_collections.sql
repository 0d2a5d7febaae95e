-- How many children an inscription has, which is its newest, and every thousandth of them: counting along an index took a third
-- of a second for 500,000 children, and the list of collections a pass over all of chain.parents.
-- Triggers keep both, as nothing else about them hangs on the block that is written: whatever writes or takes back rows of
-- chain.parents, in one statement or many, leaves them right.

CREATE TABLE chain.collections (
  parent_key integer PRIMARY KEY,
  newest_child integer NOT NULL,
  children integer NOT NULL CHECK (children > 0)
);

-- the child with nth others before it, where nth is a multiple of 1,000 and not 0
CREATE TABLE chain.child_marks (
  parent_key integer NOT NULL,
  nth integer NOT NULL,
  child_key integer NOT NULL,
  PRIMARY KEY (parent_key, nth)
);

-- a step in an index for each row that is written, whatever a plan that is kept was made for: never a pass over a table
CREATE FUNCTION chain.count_new_children() RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
BEGIN
  -- children come in the order of their keys: a mark in their midst would be wrong from then on
  IF EXISTS (SELECT FROM new_rows n JOIN chain.collections c USING (parent_key) WHERE n.child_key < c.newest_child) THEN
    RAISE EXCEPTION 'a child was written behind a newer one';
  END IF;
  INSERT INTO chain.child_marks (parent_key, nth, child_key)
  SELECT parent_key, nth, child_key FROM (
    SELECT n.parent_key, n.child_key,
      coalesce(c.children, 0) - 1 + row_number() OVER (PARTITION BY n.parent_key ORDER BY n.child_key) AS nth
    FROM new_rows n LEFT JOIN chain.collections c USING (parent_key)
  ) AS numbered
  WHERE nth > 0 AND nth % 1000 = 0;
  INSERT INTO chain.collections AS c (parent_key, newest_child, children)
  SELECT parent_key, max(child_key), count(*) FROM new_rows GROUP BY parent_key ORDER BY parent_key
  ON CONFLICT (parent_key) DO UPDATE
    SET newest_child = excluded.newest_child, children = c.children + excluded.children;
  RETURN NULL;
END $$;

CREATE FUNCTION chain.discount_old_children() RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
BEGIN
  DELETE FROM chain.child_marks m
  USING (SELECT parent_key, min(child_key) AS first FROM old_rows GROUP BY parent_key) AS gone
  WHERE m.parent_key = gone.parent_key AND m.child_key >= gone.first;
  DELETE FROM chain.collections c
  USING (SELECT parent_key, count(*) AS children FROM old_rows GROUP BY parent_key) AS gone
  WHERE c.parent_key = gone.parent_key AND c.children = gone.children;
  UPDATE chain.collections c
  SET children = c.children - gone.children,
    newest_child = (
      SELECT p.child_key FROM chain.parents p WHERE p.parent_key = c.parent_key ORDER BY p.child_key DESC LIMIT 1
    )
  FROM (SELECT parent_key, count(*) AS children FROM old_rows GROUP BY parent_key) AS gone
  WHERE c.parent_key = gone.parent_key;
  RETURN NULL;
END $$;

CREATE TRIGGER count_new_children AFTER INSERT ON chain.parents
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION chain.count_new_children();
CREATE TRIGGER discount_old_children AFTER DELETE ON chain.parents
  REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION chain.discount_old_children();

INSERT INTO chain.collections (parent_key, newest_child, children)
SELECT parent_key, max(child_key), count(*) FROM chain.parents GROUP BY parent_key;
INSERT INTO chain.child_marks (parent_key, nth, child_key)
SELECT parent_key, nth, child_key FROM (
  SELECT parent_key, child_key, row_number() OVER (PARTITION BY parent_key ORDER BY child_key) - 1 AS nth
  FROM chain.parents
) AS numbered
WHERE nth > 0 AND nth % 1000 = 0;
