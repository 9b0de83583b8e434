// One document, for its viewers.

import { authorized } from '../../../lib/authorize';

export async function GET(request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  const { id } = await params;
  return authorized(request, { relation: 'viewer', object: `document:${id}` }, () => Response.json({ id }));
}
