// In the place of cqlsh, which comes with Cassandra's own distribution: runs the statements of its standard input.
// Arguments: the contact point, the data center, the user, the password.

import { text } from 'node:stream/consumers';
import { Client } from 'cassandra-driver';

const [contactPoint = '', localDataCenter = '', username = '', password = ''] = process.argv.slice(2);
const client = new Client({ contactPoints: [contactPoint], localDataCenter, credentials: { username, password } });
try {
  const statements = (await text(process.stdin)).split(';').filter((each) => each.trim() !== '');
  for (const statement of statements) await client.execute(statement);
} finally {
  await client.shutdown();
}
