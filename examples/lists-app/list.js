// One page of the list: sorted, searched and cut by the database, among the documents that somebody may read.
// Invariant: without an answer of grantd and of the mirror, there is an error and no document.

export const DOCUMENTS_PER_PAGE = 50;

/**
 * @typedef {object} Document
 * @property {string} id
 * @property {string} title
 * @property {string} folder
 * @property {Date} updated_at
 */

/**
 * The newest documents that the subject may read, among those whose title has the text of the search, and which come
 * after a place in the list. `after`: the time and the id of the last document of the page before.
 *
 * @param {{ grantd: import('@grantd/client').Grantd, pool: import('pg').Pool }} services
 * @param {string} subject
 * @param {{ search: string, after: readonly string[] }} page
 */
export async function readPage({ grantd, pool }, subject, { search, after }) {
  const query = (/** @type {string} */ sql, /** @type {string[]} */ params) =>
    pool.query(sql, params).then(({ rows }) => rows);
  const may = await grantd.filter(subject, 'document.can_read', { query, idType: 'bigint', firstParameter: 4 });
  /** @type {import('pg').QueryResult<Document>} */
  const { rows } = await pool.query(
    `SELECT id, title, folder, updated_at FROM documents
      WHERE title ILIKE $1 AND (updated_at, id) < ($2, $3) AND ${may.sql}
      ORDER BY updated_at DESC, id DESC LIMIT ${DOCUMENTS_PER_PAGE}`,
    [`%${search.replaceAll(/[\\%_]/g, '\\$&')}%`, ...after, ...may.params],
  );
  return { documents: rows, form: may.form, at: may.at };
}
