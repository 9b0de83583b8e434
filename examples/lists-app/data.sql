-- The application's own tables, with no permission in them: 1,000,000 documents, or as many as `psql -v documents=…`
-- says, in 1,000 folders, ten of them in each of 100 areas. All areas are below the root, except for the last.

\if :{?documents}
\else
  \set documents 1000000
\endif

SET client_min_messages = warning;
DROP TABLE IF EXISTS documents, folders;
CREATE TABLE folders (id text PRIMARY KEY, parent text);
CREATE TABLE documents (
  id bigint PRIMARY KEY,
  folder text NOT NULL,
  title text NOT NULL,
  -- To the millisecond, as JavaScript has it: the next page begins at exactly this time.
  updated_at timestamptz(3) NOT NULL
);

INSERT INTO folders
SELECT 'root', NULL
UNION ALL SELECT 'area-' || n, CASE WHEN n < 100 THEN 'root' END FROM generate_series(1, 100) AS n
UNION ALL SELECT 'folder-' || n, 'area-' || 1 + (n - 1) / 10 FROM generate_series(1, 1000) AS n;

SELECT setseed(0.5) \g /dev/null
INSERT INTO documents
SELECT n, 'folder-' || 1 + n % 1000,
       (ARRAY['Plan', 'Budget', 'Minutes', 'Offer', 'Report', 'Review', 'Draft', 'Survey'])[1 + floor(random() * 8)] || ' ' || n,
       now() - random() * interval '3 years'
  FROM generate_series(1, :documents) AS n;

CREATE INDEX ON documents (updated_at DESC, id DESC);
VACUUM ANALYZE documents;
