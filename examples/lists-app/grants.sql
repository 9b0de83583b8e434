-- The grants of these documents, as lines for `grantd import`: where each one is, and who sees what. Ada sees ten
-- documents, Bob those in the ten folders of an area, and Eve all below the root, which are 99 of 100.

COPY (
  SELECT 'folder:' || parent, 'parent', 'folder:' || id FROM folders WHERE parent IS NOT NULL
  UNION ALL SELECT 'folder:' || folder, 'parent', 'document:' || id FROM documents
  UNION ALL SELECT 'user:ada', 'viewer', 'document:' || id FROM documents WHERE id <= 10
  UNION ALL VALUES ('user:bob', 'viewer', 'folder:area-7'), ('user:eve', 'viewer', 'folder:root')
) TO STDOUT;
